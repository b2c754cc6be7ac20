"""CTI-Bench: answers of five models to 2,500 choices, 1,000 CVE-to-CWE and 1,000 CVSS questions."""

from __future__ import annotations

from fractions import Fraction

import pytest
from published.cvss import base_score
from published.recorded import folder, rows

from disputatio.judging.calibration import KnownItem, measure_deviation
from disputatio.judging.consistency import report_answers
from disputatio.judging.votes import Ballot, Silence, count_votes, threshold

pytestmark = pytest.mark.slow

FIVE = ("ChatGPT-3.5", "ChatGPT-4", "Gemini-1.5", "LLAMA3-70B", "LLAMA3-8B")


def answers(name: str) -> list[dict[str, str]]:
    return rows(folder("cti_bench") / "responses" / f"cti-{name}-responses.tsv", "\t")


@pytest.mark.parametrize(("name", "number", "accuracy"), [("mcq", 2500, "0.71"), ("rcm", 1000, "0.72")])
def test_gpt4_alone_answers_as_published(name, number, accuracy) -> None:
    report = report_answers((row["ChatGPT-4"].upper(), row["GT"].upper()) for row in answers(name))
    assert report.items == number
    assert report.accuracy == Fraction(accuracy)


def test_gpt4_alone_is_1_31_points_off_the_known_severity() -> None:
    """Base scores of CVSS 3.0 for the answers, which come without a version, and of the version given for the known."""
    items = [
        KnownItem(str(number), base_score(f"CVSS:3.0/{row['ChatGPT-4'].upper()}"), base_score(row["GT"].upper()))
        for number, row in enumerate(answers("vsp"))
    ]
    found = measure_deviation(items)
    assert found.items == 1000
    assert found.absolute == Fraction("1.31")


@pytest.mark.parametrize(
    ("votes", "answered", "coverage", "precision"),
    [(3, 2192, 87.7, 0.750), (4, 1557, 62.3, 0.835), (5, 990, 39.6, 0.891)],
)
def test_more_agreement_covers_less_and_is_more_often_right(votes, answered, coverage, precision) -> None:
    """X is a model that refused: an abstention, and still one of the five."""
    rule = threshold(votes)
    found = []
    for row in answers("mcq"):
        ballots = [
            Ballot.cast(model, row[model].upper())
            if row[model].upper() != "X"
            else Ballot.silent(model, Silence.ABSTAINED, "refused")
            for model in FIVE
        ]
        found.append((count_votes(rule, FIVE, ballots, ("A", "B", "C", "D")).winner, row["GT"].upper()))
    report = report_answers(found)
    assert (report.items, report.answered) == (2500, answered)
    assert report.coverage is not None
    assert report.precision is not None
    assert round(float(100 * report.coverage), 1) == coverage
    assert round(float(report.precision), 3) == precision
