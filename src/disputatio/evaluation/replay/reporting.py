"""The report of a replay, for people and as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from disputatio.evaluation.intervals import Rate
from disputatio.evaluation.replay.counting import PanelCount, RuleCount, replayed_sets
from disputatio.evaluation.replay.recorded import read_recorded
from disputatio.evaluation.replay.swaps import JudgeSwaps, swaps_of
from disputatio.evaluation.statistics.paired import p_text
from disputatio.kernel import JsonObject

JSON_VERSION = 1
_BEST = 3
_MOST_SWAPS = 12


@dataclass(frozen=True, slots=True)
class ReplayReport:
    """What came of replaying one folder or file."""

    source: str
    panels: tuple[PanelCount, ...]
    swaps: tuple[JudgeSwaps, ...]

    def as_json(self) -> JsonObject:
        """The stable JSON form, version ``JSON_VERSION``."""
        return {
            "schema": "disputatio/replay",
            "version": JSON_VERSION,
            "source": self.source,
            "sets": [row.as_json() for row in self.panels],
            "swaps": [row.as_json() for row in self.swaps],
        }


def replay_report(path: Path) -> ReplayReport:
    """Read and count what is in ``path``.

    Raises:
        InvalidInputError: there are no recorded votes, or they cannot be read.
    """
    sets = read_recorded(path)
    return ReplayReport(path.name, replayed_sets(sets), swaps_of(sets, path))


def replay_lines(report: ReplayReport) -> list[str]:
    """The report for people."""
    lines = [f"Recorded votes of {report.source}, counted again; no model was asked"]
    for panel in report.panels:
        lines += ["", *_panel_lines(panel)]
    if report.swaps:
        lines += ["", *_swap_lines(report.swaps)]
    lines += [
        "",
        "Coverage: items with a winner; precision: winners that are right; accuracy: items that are right.",
        "Intervals in brackets are 95 % (Wilson). Failures and abstentions stay in every denominator.",
    ]
    return lines


def _panel_lines(panel: PanelCount) -> list[str]:
    head = f"{panel.set}: {panel.items:,} items, {len(panel.alone)} voters"
    columns = f"  {'rule':48} {'coverage':>23}  {'precision':>20}  {'accuracy':>20}"
    left_out = f"  {panel.without_gold:,} rows without a right answer are left out"
    lines = [head, *([left_out] if panel.without_gold else []), columns]
    lines += [_rule_line(row.rule, row) for row in panel.rules]
    lines += [_rule_line(f"{row.panel[0]} alone", row) for row in panel.alone]
    if panel.groups:
        best = sorted(panel.groups, key=lambda row: (-row.accuracy.count, row.panel))[:_BEST]
        lines.append(f"  best of {len(panel.groups)} smaller panels by majority (chosen after the fact, so too good):")
        lines += [_rule_line(" + ".join(row.panel), row) for row in best]
    lines.append("  the majority of all against each voter alone (McNemar, Holm over all of them):")
    lines += [
        (
            f"    {row.second[:28]:28} {_points(row.difference.value):>7} points "
            f"[{_points(row.difference.low)}, {_points(row.difference.high)}]  exact p {p_text(row.exact_p)}, mid-p "
            f"{p_text(row.mid_p)}, adjusted {p_text(row.adjusted)}: {row.verdict}"
        )
        for row in panel.against
    ]
    return lines


def _points(value: float | None) -> str:
    return "-" if value is None else f"{100 * value:+.1f}"


def _rule_line(name: str, row: RuleCount) -> str:
    shown = name if len(name) <= 48 else name[:47] + "…"
    return f"  {shown:48} {_share(row.coverage):>23}  {_decimal(row.precision):>20}  {_decimal(row.accuracy):>20}"


def _share(row: Rate) -> str:
    if row.value is None or row.low is None or row.high is None:
        return "-"
    return f"{100 * row.value:5.1f} % [{100 * row.low:.1f}, {100 * row.high:.1f}]"


def _decimal(row: Rate) -> str:
    if row.value is None or row.low is None or row.high is None:
        return "-"
    return f"{row.value:.3f} [{row.low:.3f}, {row.high:.3f}]"


def _swap_lines(swaps: Sequence[JudgeSwaps]) -> list[str]:
    lines = ["With the sides in either order"]
    checked = [row for row in swaps if row.as_published is not None]
    if checked:
        lines.append(
            f"  {sum(bool(row.as_published) for row in checked)} of {len(checked)} configurations are as published"
        )
    lines.append(f"  {'set':28} {'judge':40} {'accuracy':>8}  {'same verdict':>24}  order bias")
    ranked = sorted(swaps, key=lambda row: (-(row.report.accuracy or 0), row.set, row.judge))
    for row in ranked[:_MOST_SWAPS]:
        accuracy, bias = row.report.accuracy, row.report.order_bias
        lines.append(
            f"  {row.set[:28]:28} {row.judge[:40]:40} {_percent(accuracy):>8}  {_share(row.survived):>24}  "
            f"{'-' if bias is None else f'{float(bias):+.2f}'}"
        )
    if len(ranked) > _MOST_SWAPS:
        lines.append(f"  and {len(ranked) - _MOST_SWAPS} more, by accuracy; --json and the page have all")
    return lines


def _percent(value: Fraction | None) -> str:
    return "-" if value is None else f"{float(100 * value):.1f} %"
