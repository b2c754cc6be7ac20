"""The sections of a backtest's page about its language models: accuracy, cut-off split and recognition probe."""

from __future__ import annotations

from disputatio.evaluation.backtest.model_evidence import ModelEvidence
from disputatio.evaluation.backtest.recognition import BLIND, NEAR, Hits, RecognitionReport
from disputatio.evaluation.pages.sheet import Bar, Figure, Section, Table, interval_plot
from disputatio.evaluation.statistics.intervals import Rate
from disputatio.evaluation.statistics.paired import Comparison, format_p


def make_model_sections(evidence: ModelEvidence) -> list[Section]:
    """Make the sections about the models; the probe only if it ran."""
    found = [_forecasters(evidence), _cutoff(evidence)]
    return [*found, _recognition(evidence.recognition)] if evidence.recognition is not None else found


def _bar(label: str, row: Rate, tone: str = "c1") -> Bar:
    return Bar(label, row.value, row.low, row.high, f"{row.percent_text()} ({row.count} of {row.of})", tone)


def _forecasters(evidence: ModelEvidence) -> Section:
    called = [row for row in evidence.scores if row.calls]
    bars = [_bar(row.name, row.accuracy, "c2" if row.name.endswith("blind") else "c1") for row in called]
    rows = [
        (
            row.name,
            f"{evidence.given[row.name]} of {evidence.dates}",
            row.accuracy.percent_text() if row.calls else "no call",
            row.balanced_label.percent_text() if row.calls else "no call",
            "-" if row.brier is None else f"{row.brier.score:.4f}",
            f"{evidence.spent[row.name].tokens:,}",
            "unknown" if (usd := evidence.spent[row.name].usd) is None else f"{usd:.4f}",
        )
        for row in evidence.scores
    ]
    tables = [
        Table(
            "Every forecaster on the same dates; a date without a forecast counts as not right",
            ("forecaster", "forecasts", "accuracy", "balanced label", "Brier", "tokens", "USD"),
            rows,
        )
    ]
    if evidence.comparisons:
        tables.append(_compared("Declared comparisons, tested together (Holm)", evidence.comparisons))
    figures = (
        [Figure(interval_plot(bars, 0, 1, "share right", 0.5), "Shares right with Wilson's 95 % intervals.")]
        if bars
        else []
    )
    return Section(
        "models",
        "Language models",
        f"{', '.join(evidence.models)}. The single agent gives one answer; the vote has as many as the debate cost on "
        "that date. Blind is without names and dates, every series rebased.",
        figures,
        tables,
        [evidence.verdict],
    )


def _compared(caption: str, comparisons: tuple[Comparison, ...]) -> Table:
    rows = []
    for row in comparisons:
        shown = row.difference.points_text(" points")
        rows.append(
            (row.name, shown, format_p(row.exact_p), format_p(row.mid_p), format_p(row.adjusted), f"{row.power:.2f}")
        )
    return Table(caption, ("comparison", "difference", "exact p", "mid-p", "after Holm", "power, 10 points"), rows)


def _cutoff(evidence: ModelEvidence) -> Section:
    bars = []
    for row in evidence.splits:
        bars += [_bar(f"{row.name}, before", row.before, "c2"), _bar(f"{row.name}, after", row.after)]
    rows = []
    for row in evidence.splits:
        shown = row.difference.points_text(" points")
        p = "-" if row.p is None else format_p(row.p)
        power = "-" if row.power is None else f"{row.power:.2f}"
        rows.append((row.name, row.before.percent_text(), row.after.percent_text(), shown, p, power))
    heads = ("forecaster", "before", "after", "after less before", "Fisher's exact p", "power, 10 points")
    when = "is unknown" if evidence.cutoff is None else f"is {evidence.cutoff}"
    figures = [Figure(interval_plot(bars, 0, 1, "share right", 0.5), "Before and after the cut-off.")] if bars else []
    return Section(
        "cutoff",
        "Before and after the training cut-off",
        f"The training cut-off {when}. Earlier outcomes may have been remembered; only dates after it count.",
        figures,
        [Table("Each forecaster, split at the cut-off", heads, rows)],
        [f"{row.name[:1].upper()}{row.name[1:]}: {row.verdict}" for row in evidence.splits],
    )


def _recognition(report: RecognitionReport) -> Section:
    bars, rows = [], []
    several = len({score.model for score in report.scores}) > 1
    for score in report.scores:
        shown = "blind" if score.arm == BLIND else "as it is"
        shown = f"{score.model.partition(' at ')[0]}, {shown}" if several else shown
        for word, row in (
            ("month exactly", score.exact),
            (f"within {NEAR} months", score.near),
            ("index", score.index),
        ):
            bars.append(_bar(f"{shown}: {word}", row.share, "c2" if score.arm == BLIND else "c1"))
            rows.append((shown, word, row.share.percent_text(), *_chance(row), str(score.silent)))
    heads = ("shown", "recognised", "share", "by chance", "p", "no guess")
    return Section(
        "recognition",
        "Recognition probe",
        "Which index and which month is this? Asked on each date with the knowledge base that names both, and with the "
        "blinded one. Chance is the score of the same guesses on other dates.",
        [Figure(interval_plot(bars, 0, 1, "share recognised"), "Recognised, with Wilson's 95 % intervals.")],
        [Table("Recognised", heads, rows)],
        report.verdicts(),
    )


def _chance(row: Hits) -> tuple[str, str]:
    if row.chance is None or row.p is None:
        return "-", "-"
    return f"{100 * row.chance:.1f} %", format_p(row.p)
