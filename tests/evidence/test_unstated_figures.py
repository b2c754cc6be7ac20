"""Figures that stand in no source are named; those that do are not, however they are spelled."""

from __future__ import annotations

import pytest

from disputatio.evidence.sources import Source, SourceSet

REPORT = Source(
    "report",
    "Report",
    "In 2019 twelve teams took part. Releases took 3.8 h before the split, and 36 per cent failed. "
    "It cost 1,200,000 USD. Between 10 and 20 days were lost.",
)
SOURCES = SourceSet((REPORT,))


@pytest.mark.parametrize(
    ("text", "unstated"),
    [
        ("A 2018 study shows it: 36 % failed.", ("2018",)),
        ("In 2019, 36 per cent failed, which is 36%.", ()),
        ("It cost 1.2 million USD.", ()),
        ("It cost $1.3 million, or 1,200,000 USD.", ("$1.3 million",)),
        ("Releases took 3.8 hours, not 0.7 hours.", ("0.7 hours",)),
        ("Our 3 reasons and two questions; the 2nd is best, see study#12.", ()),
        ("It took 30-40 days.", ("30-40 days",)),
        ("12 teams lost 20 days.", ()),
        ("12 teams lost 25 days, and 25 days again.", ("25 days",)),
        ("There is no number here.", ()),
        ("", ()),
    ],
)
def test_figures_in_no_source_are_named_once(text: str, unstated: tuple[str, ...]) -> None:
    assert SOURCES.find_unstated_figures(text) == unstated


def test_every_figure_of_a_source_stands_in_it() -> None:
    assert SOURCES.find_unstated_figures(REPORT.text) == ()
