"""The page of an evaluation."""

from __future__ import annotations

from disputatio.evaluation.pages.sheet import (
    Bar,
    Curve,
    Figure,
    Section,
    Sheet,
    Table,
    curve_plot,
    interval_plot,
    reliability_plot,
    render_sheet,
    share_bars,
)
from disputatio.evaluation.questions.arms import Outcome
from disputatio.evaluation.questions.report import HARNESS, ArmScores, EvaluationReport, list_seats
from disputatio.evaluation.statistics.paired import Comparison, format_p

TONES = ("c1", "c2", "c3", "c4", "c5")
_OUTCOMES = (
    ("right", Outcome.RIGHT),
    ("wrong", Outcome.WRONG),
    ("none", Outcome.NO_ANSWER),
    ("failed", Outcome.FAILED),
    ("missing", Outcome.NOT_RUN),
)
_MOST_QUESTION = 200


def render_evaluation_page(report: EvaluationReport) -> str:
    """Render the report as one HTML page that needs no network."""
    questions = report.questions
    drawn = "" if report.drawn_from == len(questions.items) else f" of {report.drawn_from}"
    byline = [f"{len(questions.items)}{drawn} questions, SHA-256 {questions.digest[:16]}…"]
    byline += [
        f"{way}: " + ", ".join(f"{seat} {model}".strip() for seat, model in who.items())
        for way, who in list_seats(report)
    ]
    if report.stopped:
        byline.append(f"Not finished: {report.stopped}")
    sections = [_accuracy(report), _comparisons(report), _cost(report), _confidence(report), _items(report)]
    return render_sheet(
        Sheet(
            "evaluation",
            f"{questions.name}: does debate help?",
            describe_finding(report),
            [row for row in sections if row is not None],
            HARNESS if report.harness else "",
            byline,
        )
    )


def describe_finding(report: EvaluationReport) -> str:
    """The result in a sentence or two."""
    shown = [row for row in report.comparisons if row.significant]
    if not report.comparisons:
        return "No comparisons were declared."
    if not shown:
        power = min(row.power for row in report.comparisons)
        return (
            f"No demonstrable difference in {len(report.comparisons)} declared comparisons. Each would have detected "
            f"ten points with a probability of {power:.2f}."
        )
    return "; ".join(row.verdict for row in shown).capitalize() + "."


def _tone(number: int) -> str:
    return TONES[number % len(TONES)]


def _accuracy(report: EvaluationReport) -> Section:
    bars = [
        Bar(row.arm.name, row.scores.accuracy.value, row.scores.accuracy.low, row.scores.accuracy.high, text, _tone(n))
        for n, row in enumerate(report.arms)
        for text in [row.scores.accuracy.percent_text()]
    ]
    rows = [
        [
            row.arm.name,
            row.scores.accuracy.percent_text(),
            row.scores.balanced.text(),
            row.scores.coverage.percent_text(),
            row.scores.precision.percent_text(),
            *(str(row.outcomes[outcome]) for _, outcome in _OUTCOMES),
        ]
        for row in report.arms
    ]
    shares = [(row.arm.name, [(tone, row.outcomes[outcome]) for tone, outcome in _OUTCOMES]) for row in report.arms]
    chance = "" if report.chance is None else f" The broken line is guessing, {100 * report.chance:.1f} %."
    words = [(tone, outcome.value) for tone, outcome in _OUTCOMES]
    heads = ["", "accuracy", "balanced", "coverage", "precision", *(outcome.value for _, outcome in _OUTCOMES)]
    return Section(
        "accuracy",
        "Accuracy",
        "An unanswered question is not right: abstentions, failures and questions that did not run stay in the count.",
        [
            Figure(
                interval_plot(bars, 0.0, 1.0, "answered right, with 95 % intervals (Wilson)", report.chance),
                f"The share of questions answered right.{chance}",
            ),
            Figure(share_bars(shares, words), "The outcome of each question."),
        ],
        [Table("Shares with 95 % intervals, and counts", heads, rows)],
    )


def _comparisons(report: EvaluationReport) -> Section | None:
    if not report.comparisons:
        return None
    found = [row.difference for row in report.comparisons]
    edge = min(1.0, 1.05 * max(0.1, *(max(abs(row.low or 0), abs(row.high or 0)) for row in found)))
    bars = [
        Bar(row.name, seen.value, seen.low, seen.high, row.difference.points_text(), "c1" if row.significant else "c0")
        for row, seen in zip(report.comparisons, found, strict=True)
    ]
    figure = Figure(
        interval_plot(bars, -edge, edge, "difference in accuracy, paired", 0.0),
        "Right of the line the first is better. Grey: chance is not ruled out.",
    )
    return Section(
        "comparisons",
        "Comparisons",
        "Declared before the run: each debate against each baseline, on identical questions.",
        [figure],
        [Table("Paired comparisons", _TESTS, [_test_row(row) for row in report.comparisons])],
        [*(f"{row.name}: {row.verdict}." for row in report.comparisons), _METHODS],
    )


_TESTS = (
    *("", "points", "both", "only first", "only second", "neither", "exact p", "mid-p", "after Holm", "power"),
    "power seen",
)
_METHODS = (
    "Intervals: Newcombe 1998, method 10, 95 %. Tests: McNemar, two-sided; the mid-p value decides, after Holm over "
    "all declared comparisons. Power: for a true gain of ten points, if 30 % of the questions were discordant, and at "
    "the observed share of discordant questions."
)


def _test_row(row: Comparison) -> list[str]:
    return [
        row.name,
        row.difference.points_text(),
        *(str(count) for count in (row.counts.both, row.counts.first, row.counts.second, row.counts.neither)),
        format_p(row.exact_p),
        format_p(row.mid_p),
        format_p(row.adjusted),
        f"{row.power:.2f}",
        "-" if row.power_seen is None else f"{row.power_seen:.2f}",
    ]


def _cost(report: EvaluationReport) -> Section:
    total = len(report.questions.items) or 1
    curves = [
        Curve(
            row.arm.name,
            [(row.spent.tokens / total, row.scores.accuracy.value or 0.0)],
            _tone(n),
            # More names would overlap.
            [row.arm.name] if len(report.arms) <= 4 else [],
            joined=False,
        )
        for n, row in enumerate(report.arms)
    ]
    heads = [
        "",
        "calls",
        "tokens",
        "USD",
        "seconds of calls",
        "tokens a right answer",
        "USD a right answer",
        "seconds a right answer",
        "of its debate's tokens",
    ]
    rows = [_cost_row(row) for row in report.arms]
    return Section(
        "cost",
        "Cost",
        "Seconds are those of all calls one after the other. A vote has as many samples as come nearest to the tokens "
        "of its debate on each question.",
        [
            Figure(
                curve_plot(curves, "tokens a question", "answered right", x_percent=False),
                "Up is better, left is cheaper.",
            )
        ],
        [Table("What it took", heads, rows)],
    )


def _cost_row(row: ArmScores) -> list[str]:
    usd = row.usd_per_right
    return [
        row.arm.name,
        f"{row.spent.calls:,}",
        f"{row.spent.tokens:,}",
        "unknown" if row.spent.usd is None else f"{row.spent.usd:.4f}",
        f"{row.seconds:,.1f}",
        "-" if row.tokens_per_right is None else f"{row.tokens_per_right:,.0f}",
        "-" if usd is None else f"{usd:.6f}",
        "-" if row.seconds_per_right is None else f"{row.seconds_per_right:.2f}",
        "" if row.spend_ratio is None else f"{row.spend_ratio:.2f}",
    ]


def _confidence(report: EvaluationReport) -> Section | None:
    rows = [(n, row) for n, row in enumerate(report.arms) if row.calibration is not None]
    if not rows:
        return None
    figures = [
        Figure(
            reliability_plot(row.calibration, row.arm.name),
            f"{row.arm.name}: ECE {row.calibration.ece:.3f}; perfectly calibrated answers show "
            f"{row.calibration.null_mean:.3f} on average and less than {row.calibration.null_95:.3f} in 95 of 100.",
        )
        for _, row in rows
        if row.calibration is not None
    ]
    curves = [
        Curve(
            row.arm.name,
            [
                (p.coverage.value, p.precision.value)
                for p in row.selective
                if p.coverage.value and p.precision.value is not None
            ],
            _tone(n),
        )
        for n, row in rows
    ]
    if any(curve.points for curve in curves):
        shown = [curve for curve in curves if curve.points]
        caption = "Answering only with high confidence: the share answered, and how often the answer is right."
        figures.append(Figure(curve_plot(shown, "coverage", "precision"), caption))
    return Section(
        "confidence",
        "Confidence",
        "The confidence of the answering seat, or the share of the votes. The band shows perfectly calibrated answers "
        "with the same confidences, drawn 2,000 times.",
        figures,
    )


def _items(report: EvaluationReport) -> Section:
    heads = ["question", "right answer", *(row.arm.name for row in report.arms), "reason and source of the label"]
    rows = []
    for item in report.questions.items:
        text = item.question if len(item.question) <= _MOST_QUESTION else item.question[: _MOST_QUESTION - 1] + "…"
        cells = []
        for row in report.arms:
            given = row.given[item.id]
            mark = {Outcome.RIGHT: "✓", Outcome.WRONG: "✗"}.get(given.outcome, "")
            cells.append(f"{given.answer or given.outcome.value} {mark}".strip())
        rows.append([text, item.known, *cells, " ".join(filter(None, (item.reason, item.citation)))])
    return Section(
        "questions", "Questions", tables=[Table("Every question and every answer", heads, rows)], folded=True
    )
