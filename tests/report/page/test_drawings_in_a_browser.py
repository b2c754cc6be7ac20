"""Words of charts and plots stay in their drawing and clear of each other, whatever font the reader has."""

from __future__ import annotations

import pytest
from staged_pages import page_of
from test_page_in_a_browser import Seen, pytestmark, screen, seeing  # noqa: F401  (a fixture, and what it needs)

from browser_fonts import FAMILIES
from disputatio.evaluation.pages.sheet import (
    Bar,
    Curve,
    Figure,
    Section,
    Sheet,
    curve_plot,
    interval_plot,
    reliability_plot,
    render_sheet,
    share_bars,
)
from disputatio.evaluation.statistics.scores import Reliability, ReliabilityBin

# What leaves its drawing, and what lies over what. A line of text is a pixel or two taller than its letters.
MISPLACED = """() => [...document.querySelectorAll('svg[role=img]')].flatMap(svg => {
  if (!svg.checkVisibility()) return [];
  const edge = svg.getBoundingClientRect(), words = [...svg.querySelectorAll('text')];
  const placed = words.map(row => [row.textContent, row.getBoundingClientRect()]);
  const out = placed.filter(([, at]) => at.left < edge.left - 1 || at.right > edge.right + 1
    || at.top < edge.top - 1 || at.bottom > edge.bottom + 1).map(([text]) => text);
  const over = placed.flatMap(([one, a], at) => placed.slice(at + 1).filter(([, b]) =>
    a.left < b.right - 1 && b.left < a.right - 1 && a.top < b.bottom - 2 && b.top < a.bottom - 2)
    .map(([other]) => `${one} / ${other}`));
  return [...out, ...over];
})"""


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.name)
def test_words_of_the_charts_stay_in_their_drawings(seeing, tmp_path, family):  # noqa: F811
    with Seen(seeing(family), tmp_path, page_of("market history"), **screen(360)) as seen:
        for width in (360, 759, 761, 1440):
            seen.page.set_viewport_size({"width": width, "height": 900})
            assert seen.page.locator("svg.chart:visible").count() == 4
            assert seen.run(MISPLACED) == []


def sheet() -> str:
    """A page with every kind of plot, with names as long as they may be."""
    names = ("panel_of_seven_with_moderator_and_reading_room", "single answer", "第一个模型与第二个模型的辩论结果比较")
    shown = "100.0 % [99.1, 100.0]"
    bars = [Bar(name, 0.5, 0.25, 1.0, shown) for name in names]
    curves = [Curve(name, ((800_000 * at, 0.4 + at / 10),), "c1", (name,)) for at, name in enumerate(names)]
    words = [
        ("right", "right"),
        ("wrong", "wrong"),
        ("none", "abstained"),
        ("failed", "failed"),
        ("missing", "not held"),
    ]
    shares = [(name, [(tone, 120) for tone, _ in words]) for name in names]
    bins = tuple(
        ReliabilityBin(place / 10, (place + 1) / 10, 10_000, place / 10 + 0.05, place / 10 + 0.04, (0.0, 1.0))
        for place in range(10)
    )
    drawings = (
        interval_plot(bars, 0.0, 1.0, "answered right, with 95 % intervals (Wilson)", 0.25),
        interval_plot(bars, -0.1234, 0.1234, "difference in accuracy, paired", 0.0),
        share_bars(shares, words),
        curve_plot(curves, "tokens a question", "answered right", x_percent=False),
        curve_plot([Curve(names[0], ((0.1, 0.2), (1.0, 1.0)), "c1")], "coverage", "precision"),
        reliability_plot(Reliability(bins, 0.01, 0.02, 0.03, 100_000), names[0]),
    )
    figures = [Figure(drawing, "What to see in it.") for drawing in drawings]
    return render_sheet(Sheet("a test", "Plots", "A finding.", [Section("all", "All", figures=figures)]))


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.name)
def test_words_of_the_plots_stay_in_their_drawings(seeing, tmp_path, family):  # noqa: F811
    with Seen(seeing(family), tmp_path, sheet(), **screen(360)) as seen:
        for width in (360, 1440):
            seen.page.set_viewport_size({"width": width, "height": 900})
            assert seen.page.locator("svg[role=img]:visible").count() == 6
            assert "0…" not in seen.page.locator("main").text_content()
            assert seen.run(MISPLACED) == []
