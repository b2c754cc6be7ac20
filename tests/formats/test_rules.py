"""The rules of a format survive the record, and the protocol's numbers are the defaults."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from disputatio.errors import InvalidInputError
from disputatio.formats.freeform import FreeformRules
from disputatio.formats.registry import FORMATS, find_format
from disputatio.formats.ruleset import rules_from_json, rules_json
from disputatio.formats.structured import StructuredRules
from disputatio.judging.scoring import RUBRICS, STANDARD, Criterion, Rubric
from disputatio.kernel import Limits
from disputatio.record.text import canonical, read_json

limits = st.builds(Limits, st.integers(1, 100_000), st.floats(0, 2), st.integers(0, 5), st.integers(0, 5))


def own_rubric(parts: list[int]) -> Rubric:
    rows = (Criterion(f"criterion_{n}", Fraction(part, sum(parts)), f"How {n}?") for n, part in enumerate(parts))
    return Rubric("own", tuple(rows))


rubrics = st.sampled_from(list(RUBRICS.values())) | st.lists(st.integers(1, 97), min_size=1, max_size=6).map(own_rubric)
rules = st.one_of(
    st.builds(
        StructuredRules,
        st.integers(1, 5),
        st.integers(5, 9),
        st.integers(1, 900),
        rubrics,
        limits,
        limits,
        limits,
        limits,
    ),
    st.builds(FreeformRules, st.integers(1, 10), st.integers(1, 900), limits, limits),
)


@given(rules)
def test_rules_come_back_from_the_record_as_they_were(these: Any) -> None:
    form = FORMATS["structured" if isinstance(these, StructuredRules) else "freeform"]
    assert rules_from_json(form, read_json(canonical(rules_json(these)))) == these


@pytest.mark.parametrize("name", sorted(FORMATS))
def test_rules_of_another_version_are_a_type_error(name: str) -> None:
    form = FORMATS[name]
    with pytest.raises(TypeError):
        rules_from_json(form, {**rules_json(form.rules()), "minutes": 3})
    with pytest.raises(TypeError):
        rules_from_json(form, {**rules_json(form.rules()), "judging": {"max_tokens": 3, "patience": 1}})


def test_structured_defaults_are_those_of_the_protocol() -> None:
    rules = StructuredRules()
    assert (rules.minimum_arguments, rules.maximum_arguments, rules.closing_words) == (3, 5, 200)
    assert rules.rubric is STANDARD
    assert (rules.cross_examination.max_tokens, rules.closing.max_tokens, rules.judging.max_tokens) == (1500, 600, 3000)
    assert 0.4 <= rules.cross_examination.temperature <= 0.5
    assert rules.judging.temperature == 0.2
    assert rules.opening.temperature > rules.cross_examination.temperature


def test_a_broken_rule_is_asked_again_once_by_default() -> None:
    assert Limits().rule_asks == 1


@pytest.mark.parametrize("name", ["", "Structured", "debate", "market\n"])
def test_an_unknown_format_is_refused_with_the_ones_there_are(name: str) -> None:
    with pytest.raises(InvalidInputError, match="structured, freeform"):
        find_format(name)


@pytest.mark.parametrize("name", sorted(FORMATS))
def test_a_format_says_what_it_is(name: str) -> None:
    form = find_format(name)
    assert form.name == name
    assert form.about
    assert form.judges <= set(form.seats)
