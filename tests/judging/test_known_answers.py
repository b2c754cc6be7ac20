"""Known answers: an item left open is neither right nor wrong, and counts in the whole."""

from __future__ import annotations

import json
from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from disputatio.judging.consistency import report_answers


@given(st.lists(st.tuples(st.sampled_from(["a", "b", None]), st.sampled_from("ab"))))
def test_coverage_times_precision_is_accuracy(rows) -> None:
    report = report_answers(rows)
    assert report.items == len(rows)
    assert report.answered == sum(given is not None for given, _ in rows)
    if report.answered:
        assert report.coverage * report.precision == report.accuracy == Fraction(report.right, report.items)
    else:
        assert report.precision is None
        assert report.accuracy == (Fraction(0) if rows else None)
    assert json.loads(json.dumps(report.as_json()))["items"] == len(rows)
