"""The page of a replay of recorded votes."""

from __future__ import annotations

from disputatio.evaluation.pages.sheet import (
    Bar,
    Curve,
    Drawing,
    Figure,
    Section,
    Sheet,
    Table,
    curve_plot,
    interval_plot,
    render_sheet,
)
from disputatio.evaluation.statistics.paired import format_p
from disputatio.evaluation.vote_replay import JudgeSwaps, PanelCount, ReplayReport, RuleCount


def render_replay_page(report: ReplayReport) -> str:
    """Render the report as one HTML page that needs no network."""
    sections = [_panel(panel, number) for number, panel in enumerate(report.panels)]
    if report.swaps:
        sections.append(_swaps(report.swaps))
    items = sum(row.items for row in report.panels)
    return render_sheet(
        Sheet(
            "replay",
            f"{report.source}: recorded votes, counted again",
            f"{items:,} items in {len(report.panels)} sets under every decision rule and panel. No model was called.",
            sections,
        )
    )


def _panel(panel: PanelCount, number: int) -> Section:
    tables = [
        _table("Rules over all voters", [(row.rule, row) for row in panel.rules]),
        _table("Each voter alone", [(row.panel[0], row) for row in panel.alone]),
        _against(panel),
    ]
    if panel.groups:
        ranked = sorted(panel.groups, key=lambda row: (-row.accuracy.count, row.panel))
        caption = "Every smaller panel by majority; the best are chosen after the fact, so too good"
        tables.append(_table(caption, [(" + ".join(row.panel), row) for row in ranked]))
    intro = f"{panel.items:,} items, {len(panel.alone)} voters. Failures and abstentions stay in every denominator."
    bars = [_bar(row.rule, row, "c1") for row in panel.rules if row.votes_needed is None]
    bars += [_bar(row.panel[0], row, "c2") for row in panel.alone]
    figures = [
        Figure(_curves(panel), "The more votes a rule needs, the less it decides, and the more often rightly."),
        Figure(
            interval_plot(bars, 0.0, 1.0, "accuracy over all items"), "Rules over all voters, and each voter alone."
        ),
    ]
    return Section(f"set-{number + 1}", panel.set, intro, figures, tables)


def _bar(name: str, row: RuleCount, tone: str) -> Bar:
    found = row.accuracy
    return Bar(name, found.value, found.low, found.high, found.percent_text(), tone)


def _curves(panel: PanelCount) -> Drawing:
    rules = [row for row in panel.rules if row.votes_needed is not None and row.precision.value is not None]
    alone = [row for row in panel.alone if row.precision.value is not None]
    curves = [
        Curve("threshold, by the votes it needs", _points(rules), "c1", [str(row.votes_needed) for row in rules]),
        Curve("each voter alone", _points(alone), "c2", joined=False),
    ]
    return curve_plot([row for row in curves if row.points], "coverage", "precision")


def _points(rows: list[RuleCount]) -> list[tuple[float, float]]:
    return [(row.coverage.value or 0.0, row.precision.value or 0.0) for row in rows]


def _table(caption: str, rows: list[tuple[str, RuleCount]]) -> Table:
    cells = [
        [name, row.coverage.percent_text(), row.precision.percent_text(), row.accuracy.percent_text()]
        for name, row in rows
    ]
    return Table(caption, ["", "coverage", "precision", "accuracy"], cells)


def _against(panel: PanelCount) -> Table:
    rows = []
    for row in panel.against:
        points = row.difference.points_text()
        rows.append(
            [row.second, points, format_p(row.exact_p), format_p(row.mid_p), format_p(row.adjusted), row.verdict]
        )
    heads = ["against", "points", "exact p", "mid-p", "after Holm", ""]
    return Table("The majority of all against each voter alone", heads, rows)


def _swaps(swaps: tuple[JudgeSwaps, ...]) -> Section:
    ranked = sorted(swaps, key=lambda row: (-(row.report.accuracy or 0), row.set, row.judge))
    rows = []
    for row in ranked:
        accuracy, bias = row.report.accuracy, row.report.order_bias
        rows.append(
            [
                f"{row.judge}, {row.set}",
                "-" if accuracy is None else f"{float(100 * accuracy):.1f} %",
                row.survived.percent_text(),
                "-" if bias is None else f"{float(bias):+.3f}",
                {True: "yes", False: "no", None: ""}[row.as_published],
            ]
        )
    checked = [row for row in swaps if row.as_published is not None]
    intro = ""
    if checked:
        intro = (
            f"{sum(bool(row.as_published) for row in checked)} of {len(checked)} configurations come out as published."
        )
    heads = ["judge", "accuracy", "same verdict in both orders", "order bias", "as published"]
    return Section("swaps", "Either order", intro, tables=[Table("By accuracy over both orders", heads, rows)])
