"""Render the report of a backtest as text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from disputatio.evaluation.backtest.archive import Archive
from disputatio.evaluation.backtest.judge_weights import render_calibration_lines
from disputatio.evaluation.backtest.model_evidence import render_comparison_lines
from disputatio.evaluation.backtest.plan import BacktestPlan
from disputatio.evaluation.backtest.report import FORECASTER_NAMES, BacktestReport, Outcome, list_seats
from disputatio.evaluation.backtest.scoring import BenchmarkScores, DecisionDates
from disputatio.evaluation.statistics.intervals import BootstrapInterval
from disputatio.evaluation.statistics.paired import format_p
from disputatio.formats.market_verdict import DISCLAIMERS

_WIDTH = 32


TEST_NAMES: Mapping[str, str] = {"mcnemar_mid_p": "McNemar's mid-p value", "mcnemar_exact": "McNemar's exact test"}
"""The display names of a plan's tests."""


def render_backtest_lines(report: BacktestReport) -> list[str]:
    """Render the report."""
    result = report.result
    lines = [report.notice, ""] if report.notice else []
    lines += [
        *render_plan_lines(result.plan, report.source, report.digest),
        *(f"  {row}" for row in list_seats(report.who)),
    ]
    first, last = result.labels[0].decided, result.labels[-1].decided
    lines += [f"  {len(result.labels)} decision dates, {first} to {last}: {report.counted.text}"]
    lines += ["", report.finding, ""]
    lines += [*render_score_lines(result.scores, result.left_out), ""]
    lines += [*_tests(report), "", *_calibration(report)]
    judged = [] if report.judge is None else ["", *render_calibration_lines(report.judge)]
    lines += [*_weights(report), *judged, *_confidence(report), *_controls(report), *_leaks(report)]
    if report.models is not None:
        lines += ["", *report.models.lines()]
    lines += ["", report.stop_text] if report.stopped else []
    return [*lines, "", *DISCLAIMERS]


def render_plan_lines(plan: BacktestPlan, source: str, digest: str) -> list[str]:
    """What was fixed beforehand, and on which data."""
    return [
        plan.name,
        f"  plan SHA-256 {plan.sha256[:16]}, data {source} SHA-256 {digest[:16]}",
        f"  {_words(plan.dates)}, entry at the {_words(plan.entry)}, a return of zero is {plan.tie}, {plan.formula}",
        f"  primary: {TEST_NAMES[plan.primary_test]} against {FORECASTER_NAMES[plan.primary_against]}",
    ]


def _words(name: str) -> str:
    return name.replace("_", " ")


def render_benchmark_lines(
    plan: BacktestPlan,
    archive: Archive,
    dates: DecisionDates,
    scores: Sequence[BenchmarkScores],
    left_out: Mapping[str, str],
) -> list[str]:
    """The benchmarks of a plan alone."""
    first, last = dates.decided[0], dates.decided[-1]
    return [
        *render_plan_lines(plan, archive.name, archive.digest),
        f"  {len(dates.labels)} decision dates, {first} to {last}",
        "",
        *render_score_lines(scores, left_out),
    ]


def render_score_lines(scores: Sequence[BenchmarkScores], left_out: Mapping[str, str]) -> list[str]:
    """A table of forecasters on identical dates."""
    lines = [f"  {'':{_WIDTH}}{'accuracy':22}{'balanced':>9}  {'balanced label':22}{'Brier':>7}{'skill':>9}"]
    for row in scores:
        balanced = "-" if row.balanced is None else f"{row.balanced:.3f}"
        brier = "-" if row.brier is None else f"{row.brier.score:.4f}"
        skill = "-" if row.brier is None or row.brier.skill is None else f"{row.brier.skill:+.4f}"
        name = FORECASTER_NAMES.get(row.name, row.name)
        one, other = (share.percent_text() if row.calls else "no call" for share in (row.accuracy, row.balanced_label))
        balanced = balanced if row.calls else "-"
        lines.append(f"  {name:{_WIDTH}}{one:22}{balanced:>9}  {other:22}{brier:>7}{skill:>9}")
    return [*lines, *(f"  {FORECASTER_NAMES.get(name, name)} is not scored: {why}." for name, why in left_out.items())]


def format_interval(row: BootstrapInterval, scale: float = 100.0, digits: int = 1) -> str:
    """Format a resampled number with its interval."""
    return f"{scale * row.value:+.{digits}f} [{scale * row.low:+.{digits}f}, {scale * row.high:+.{digits}f}]"


def _tests(report: BacktestReport) -> list[str]:
    result = report.result
    lines = ["Primary comparison", *render_comparison_lines(result.primary)]
    lines.append(
        f"    stationary bootstrap of the difference: {format_interval(result.difference)} points, mean block "
        f"{result.difference.block:.1f} dates"
    )
    if result.co_primary is not None:
        lines += ["The same on the balanced label", *render_comparison_lines(result.co_primary)]
    if result.others:
        lines.append("Other comparisons, tested together (Holm)")
        lines += [
            f"  {FORECASTER_NAMES.get(row.second, row.second):{_WIDTH}}"
            f"{100 * (row.difference.value or 0):+.1f} points, "
            f"{f'mid-p {format_p(row.mid_p)}' if row.mid else f'exact p {format_p(row.exact_p)}'}, after Holm "
            f"{format_p(row.adjusted)}"
            for row in result.others
        ]
    counts = report.outcomes("debate")
    return [*lines, "", "Of the debates: " + ", ".join(f"{counts[row]} {row.value}" for row in Outcome if counts[row])]


def _calibration(report: BacktestReport) -> list[str]:
    result = report.result
    brier = next(row.brier for row in result.scores if row.name == "debate")
    if brier is None or result.reliability is None:
        return ["No forecast to calibrate."]
    found = result.reliability
    parts = f"reliability {brier.reliability:.4f} - resolution {brier.resolution:.4f}"
    rest = f"uncertainty {brier.uncertainty:.4f} + within bins {brier.within_bins:.4f}"
    beyond = ": miscalibrated" if found.miscalibrated else ""
    lines = [
        f"Brier {brier.score:.4f} = {parts} + {rest}",
        f"  ECE {found.ece:.3f}; of calibrated forecasts {found.null_mean:.3f}, 95 % < {found.null_95:.3f}{beyond}",
    ]
    if result.brier_gain is not None:
        lines.append(f"  better than climatology by {format_interval(result.brier_gain, 1, 4)}")
    return lines


def _weights(report: BacktestReport) -> list[str]:
    found = report.result.weights
    if found is None:
        return ["", "Weights of lenses: too few dates with a forecast of each of two lenses or more."]
    inside, outside = f"{found.in_sample_equal - found.in_sample:+.4f}", format_interval(found.gain, 1, 4)
    return [
        "",
        f"Weights of lenses: {found.tried} weightings tried, {found.dates} test dates",
        f"  Brier score gained on equal weights: in sample {inside}, out of sample {outside}",
        f"  {found.verdict}",
    ]


def _confidence(report: BacktestReport) -> list[str]:
    found = report.confidence
    if found is None:
        return []
    lines = ["", f"Are stated confidences informative? {found.arguments} arguments; .5 is no information"]
    for row in found.measures:
        share = "-"
        if row.concordance is not None:
            share = f"{row.concordance.value:.3f} [{row.concordance.low:.3f}, {row.concordance.high:.3f}]"
        lines.append(f"  {row.name:{_WIDTH}}{share:24}{row.verdict}")
    return [*lines, *render_stated_lines(report)]


def render_stated_lines(report: BacktestReport) -> list[str]:
    """The confidences that rules state most often, by side, and why they repeat."""
    said = []
    rows = [row for record in report.plain.values() if record.by_rules for row in record.arguments]
    for side in ("bull", "bear"):
        counts = Counter(row.stated for row in rows if row.side == side)
        if counts:
            usual, often = counts.most_common(1)[0]
            said.append(f"{100 * often / counts.total():.0f} % of the {side} arguments state {usual:.2f}")
    why = "rules state published rates; a signal without one gets the share of months in which shares rose or fell"
    return [f"  {', '.join(said)}:", f"  {why}."] if said else []


def _controls(report: BacktestReport) -> list[str]:
    lines: list[str] = []
    if report.mirrored:
        lines += ["", f"  {'mirrored: up is down':{_WIDTH}}{'says up':>9}{'mirrored':>10}{'changed':>9}"]
        for row in report.mirrored:
            shares = (row.says_up.value, row.says_up_mirrored.value, row.changed.value)
            one, other, changed = (f"{100 * (share or 0):.0f} %" for share in shares)
            note = "  says the same whatever prices do" if row.one_sided else ""
            name = FORECASTER_NAMES.get(row.name, FORECASTER_NAMES.get(f"{row.name} alone", row.name))
            lines.append(f"  {name:{_WIDTH}}{one:>9}{other:>10}{changed:>9}{note}")
    if report.blind is not None:
        same = report.blind.same
        lines.append(f"Blind: the same forecast without names and dates on {same.count} of {same.of} dates.")
    return lines


def _leaks(report: BacktestReport) -> list[str]:
    found = report.leaks
    if found is None:
        return []
    lines = ["", "Leak controls"]
    lines += [f"  {row.as_it_must:>3} of {row.dates:<4}{row.name:14}{row.about}" for row in found.checks]
    peek, up = found.peek.value or 0, found.always_up.value or 0
    harmless = ": accuracy would not have shown it" if peek <= up else ""
    lines.append(
        f"  A rule that peeks a day ahead is right in {100 * peek:.1f} %, always up in {100 * up:.1f} %{harmless}."
    )
    return lines if found.holds else [*lines, "  A LEAK CONTROL FAILED."]
