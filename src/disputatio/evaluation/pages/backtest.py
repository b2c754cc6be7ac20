"""The page of a backtest. It has no equity curve: direction was predicted, and nothing was traded."""

from __future__ import annotations

from collections.abc import Sequence

from disputatio.evaluation.backtest.confidence import ConfidenceCheck
from disputatio.evaluation.backtest.controls import LeakReport, MirroredResult
from disputatio.evaluation.backtest.judge_weights import CRITERIA, PARTS, JudgeCalibration
from disputatio.evaluation.backtest.report import FORECASTER_NAMES, BacktestReport, Outcome, list_seats
from disputatio.evaluation.backtest.report_text import TEST_NAMES, format_interval
from disputatio.evaluation.backtest.scoring import DEBATE, OPENINGS
from disputatio.evaluation.pages.sheet import (
    Bar,
    Figure,
    Section,
    Sheet,
    Table,
    interval_plot,
    reliability_plot,
    render_sheet,
    share_bars,
)
from disputatio.evaluation.statistics.intervals import Rate
from disputatio.evaluation.statistics.paired import Comparison, format_p
from disputatio.formats.market_verdict import DISCLAIMERS

_TONES = {
    Outcome.RIGHT: "right",
    Outcome.WRONG: "wrong",
    Outcome.NO_CALL: "none",
    Outcome.FAILED: "failed",
    Outcome.NOT_RUN: "missing",
}
_LENSES = {"tech": "technical", "fund": "fundamental", "macro": "macro", "senti": "sentiment"}


def render_backtest_page(report: BacktestReport) -> str:
    """Render the report as one HTML page that needs no network."""
    result = report.result
    first, last = result.labels[0].decided, result.labels[-1].decided
    byline = [
        f"{len(result.labels)} decision dates, {first} to {last}: {report.counted.text}",
        f"Plan SHA-256 {result.plan.sha256[:16]}…",
        f"Data {report.source}, SHA-256 {report.digest[:16]}…",
        *list_seats(report.who),
    ]
    if report.stopped:
        byline.append(report.stop_text)
    sections = [
        _accuracy(report),
        _comparisons(report),
        _calibration(report),
        _weights(report),
        *([_judge(report.judge)] if report.judge else []),
        *([_confidence(report.confidence)] if report.confidence else []),
        *([_mirrored(report.mirrored)] if report.mirrored else []),
        *([_leaks(report, report.leaks)] if report.leaks else []),
        *_models(report),
        _plan(report),
        _dates(report),
    ]
    return render_sheet(Sheet("backtest", result.plan.name, report.finding, sections, report.notice, byline))


def _models(report: BacktestReport) -> Sequence[Section]:
    if report.models is None:
        return ()
    from disputatio.evaluation.pages.model_evidence import make_model_sections

    return make_model_sections(report.models)


def _name(name: str) -> str:
    return FORECASTER_NAMES.get(name, FORECASTER_NAMES.get(f"{name} alone", name))


def _tone(name: str) -> str:
    if name == DEBATE:
        return "c1"
    return "c2" if name == OPENINGS or name.endswith(" alone") else "c3"


def _bar(label: str, row: Rate, tone: str = "c1") -> Bar:
    return Bar(label, row.value, row.low, row.high, row.percent_text(), tone)


def _accuracy(report: BacktestReport) -> Section:
    result = report.result
    called = [row for row in result.scores if row.calls]
    bars = [_bar(_name(row.name), row.accuracy, _tone(row.name)) for row in called]
    balanced = [_bar(_name(row.name), row.balanced_label, _tone(row.name)) for row in called]
    low = min((bar.low for bar in (*bars, *balanced) if bar.low is not None), default=0.0)
    high = max((bar.high for bar in (*bars, *balanced) if bar.high is not None), default=1.0)
    low, high = max(0.0, low - 0.02), min(1.0, high + 0.02)
    against = next(row for row in result.scores if row.name == result.plan.primary_against)
    rows = []
    for row in result.scores:
        brier = row.brier
        rows.append(
            [
                _name(row.name),
                row.accuracy.percent_text() if row.calls else "no call",
                "-" if row.balanced is None or not row.calls else f"{row.balanced:.3f}",
                row.balanced_label.percent_text() if row.calls else "no call",
                "-" if brier is None else f"{brier.score:.4f}",
                "-" if brier is None or brier.skill is None else f"{brier.skill:+.4f}",
            ]
        )
    shown = [(DEBATE, report.outcomes(DEBATE)), (OPENINGS, report.outcomes(OPENINGS))]
    shares = [
        (_name(name), [(_TONES[row], counts[row]) for row in Outcome]) for name, counts in shown if any(counts.values())
    ]
    words = [(_TONES[row], row.value) for row in Outcome]
    left_out = [f"{_name(name)} is not scored: {why}." for name, why in result.left_out.items()]
    heads = ["", "accuracy", "balanced accuracy", "accuracy on the balanced label", "Brier", "skill"]
    return Section(
        "accuracy",
        "Accuracy",
        "All on the same dates. A date without a call is not right. The market rises most of the time, so always "
        "saying up is hard to beat. On the balanced label (above the median of all returns known that evening) that "
        "has no advantage.",
        [
            Figure(
                interval_plot(bars, low, high, "direction called right", against.accuracy.value),
                f"Up or down. The broken line is {_name(against.name)}.",
            ),
            Figure(
                interval_plot(balanced, low, high, "right on the balanced label", 0.5),
                "Above or below the median. The broken line is one half.",
            ),
            Figure(share_bars(shares, words), "The outcome of each date."),
        ],
        [Table("Shares with 95 % intervals (Wilson); skill is the Brier score against climatology", heads, rows)],
        left_out,
    )


_METHODS = (
    "Intervals: Newcombe 1998, method 10. Power: for a true gain of ten points, if 30 % of the dates were discordant, "
    "and at the observed share."
)
_TESTS = ("", "points", "right alone", "other right alone", "exact p", "mid-p", "after Holm", "power", "power seen")


def _comparisons(report: BacktestReport) -> Section:
    result = report.result
    pairs: list[tuple[str, Comparison]] = [(f"{_name(result.primary.second)}: primary", result.primary)]
    if result.co_primary is not None:
        pairs.append((f"{_name(result.co_primary.second)}: balanced label", result.co_primary))
    pairs += [(_name(row.second), row) for row in result.others]
    seen = [row.difference for _, row in pairs]
    edge = 1.05 * max(0.05, *(max(abs(row.low or 0), abs(row.high or 0)) for row in seen))
    bars = [
        Bar(name, row.value, row.low, row.high, row.points_text(), "c1" if number < 2 else "c0")
        for number, ((name, compared), row) in enumerate(zip(pairs, seen, strict=True))
    ]
    boot, own = result.difference, result.accuracy
    test = TEST_NAMES[result.plan.primary_test]
    decided = f"The primary comparison is decided by {test}: p = {format_p(result.primary_p)}."
    resampled = (
        f"Resampled in blocks of {boot.block:.1f} dates on average (stationary bootstrap, {boot.resamples:,} times) "
        f"the difference is {format_interval(boot)} points, and the debate is right in {100 * own.value:.1f} % "
        f"[{100 * own.low:.1f}, {100 * own.high:.1f}]."
    )
    return Section(
        "comparisons",
        "Comparisons",
        "The debate less each benchmark, paired. Two were fixed beforehand: the primary one, and the same on the "
        "balanced label. An edge requires both to be beyond chance by the plan's test.",
        [
            Figure(
                interval_plot(bars, -edge, edge, "difference in accuracy", 0.0),
                "Right of the line the debate is better.",
            )
        ],
        [Table("McNemar's tests; the others are tested together (Holm)", _TESTS, [_test(*row) for row in pairs])],
        [decided, resampled, _METHODS],
    )


def _test(name: str, row: Comparison) -> list[str]:
    return [
        name,
        row.difference.points_text(),
        str(row.counts.first),
        str(row.counts.second),
        format_p(row.exact_p),
        format_p(row.mid_p),
        format_p(row.adjusted),
        f"{row.power:.2f}",
        "-" if row.power_seen is None else f"{row.power_seen:.2f}",
    ]


def _calibration(report: BacktestReport) -> Section:
    result = report.result
    rows = []
    for row in result.scores:
        if (brier := row.brier) is not None:
            numbers = (brier.score, brier.reliability, brier.resolution, brier.uncertainty, brier.within_bins)
            skill = "-" if brier.skill is None else f"{brier.skill:+.4f}"
            rows.append([_name(row.name), str(brier.items), *(f"{value:.4f}" for value in numbers), skill])
    figures, notes = [], []
    if (found := result.reliability) is not None:
        caption = (
            f"ECE {found.ece:.3f}. A perfectly calibrated forecaster with these very forecasts shows "
            f"{found.null_mean:.3f} on average and less than {found.null_95:.3f} in 95 of 100: the band."
        )
        figures.append(Figure(reliability_plot(found, "the debate"), caption))
        bins = [
            [
                f"{row.low:.1f} to {row.high:.1f}",
                str(row.count),
                f"{row.forecast:.3f}",
                f"{row.observed:.3f}",
                "-" if row.null is None else f"{row.null[0]:.3f} to {row.null[1]:.3f}",
            ]
            for row in found.bins
            if row.forecast is not None and row.observed is not None
        ]
    else:
        bins = []
    if result.brier_gain is not None:
        notes.append(
            f"Brier score of climatology less that of the debate: {format_interval(result.brier_gain, 1, 4)} "
            "(stationary bootstrap). Climatology is the share of ups among the months whose outcome was known that "
            "evening."
        )
    heads = ["", "dates", "Brier", "reliability", "resolution", "uncertainty", "within bins", "skill"]
    tables = [Table("Brier scores and their parts; lower is better, skill above zero beats climatology", heads, rows)]
    if bins:
        tables.append(Table("Bins of the diagram", ["forecast", "dates", "mean", "rose", "band if calibrated"], bins))
    return Section("calibration", "Calibration", "Is 60 % up in 60 of 100 months?", figures, tables, notes)


def _weights(report: BacktestReport) -> Section:
    found = report.result.weights
    intro = (
        "Weights of the lenses, searched on nested expanding windows, shrunk towards equal weights, then used once on "
        "later dates. They are worth using only if they beat equal weights there beyond chance."
    )
    if found is None:
        return Section(
            "weights", "Weights", intro, notes=["Too few dates have a forecast of each of two lenses or more."]
        )
    inside = found.in_sample_equal - found.in_sample
    edge = 1.1 * max(abs(inside), abs(found.gain.low), abs(found.gain.high), 0.001)
    bars = [
        Bar("in sample, best of all tried", inside, None, None, f"{inside:+.4f}", "c2"),
        Bar("out of sample", found.gain.value, found.gain.low, found.gain.high, format_interval(found.gain, 1, 4)),
    ]
    rows = [[judge, f"{weight:.3f}"] for judge, weight in zip(found.judges, found.chosen[-1], strict=True)]
    return Section(
        "weights",
        "Weights",
        intro,
        [
            Figure(
                interval_plot(bars, -edge, edge, "Brier score less than with equal weights", 0.0, percent=False),
                "What tuning seems to gain, and what remains of it on unseen dates.",
            )
        ],
        [
            Table(
                "Weights chosen on the last window",
                ["lens", "weight"],
                [[_LENSES.get(row[0], row[0]), row[1]] for row in rows],
            )
        ],
        [f"{found.verdict} {found.tried:,} weightings were tried; {found.dates} test dates."],
    )


def _judge(found: JudgeCalibration) -> Section:
    rows = [
        [
            name,
            f"{row.brier_in:.4f}",
            f"{row.brier_out:.4f}",
            f"{100 * row.right_in:.1f} %",
            f"{100 * row.right_out:.1f} %",
        ]
        for name, row in found.scores.items()
    ]
    last = ", ".join(f"{key} {part / PARTS:.2f}" for key, part in zip(CRITERIA, found.chosen[-1], strict=True))
    return Section(
        "judge",
        "Judge",
        "Weights of the judge's criteria, searched on the recorded scores before each window and used once on it.",
        tables=[
            Table(
                "In sample beside out of sample",
                ["weights", "Brier in sample", "out of sample", "right in sample", "out of sample"],
                rows,
            )
        ],
        notes=[
            f"{found.verdict} {found.tried:,} weightings were tried on {found.dates} test dates.",
            f"The last choice: {last}. Gain on equal weights: {format_interval(found.gain, 1, 4)}.",
        ],
    )


def _confidence(found: ConfidenceCheck) -> Section:
    bins = [
        _bar(f"stated {row.stated:.2f} on average, {row.right.of:,} arguments", row.right, "c1") for row in found.bins
    ]
    shares = [
        Bar(
            row.name,
            row.concordance.value,
            row.concordance.low,
            row.concordance.high,
            f"{row.concordance.value:.3f} [{row.concordance.low:.3f}, {row.concordance.high:.3f}]",
            "c1" if row.informative else "c0",
        )
        for row in found.measures
        if row.concordance is not None
    ]
    figures = [
        Figure(interval_plot(bins, 0.0, 1.0, "arguments whose direction came"), "By the confidence stated first.")
    ]
    if shares:
        low = min(0.45, *(bar.low or 0.5 for bar in shares)) - 0.01
        high = max(0.55, *(bar.high or 0.5 for bar in shares)) + 0.01
        caption = (
            "Of two arguments of one side, how often was the more confident one right? Left of the line is misleading."
        )
        figures.append(Figure(interval_plot(shares, low, high, "concordance", 0.5, percent=False), caption))
    rows = [
        [row.name, f"{row.arguments:,}", str(row.values), "-" if row.concordance is None else
         f"{row.concordance.value:.3f}", row.verdict]
        for row in found.measures
    ]  # fmt: skip
    return Section(
        "confidence",
        "Confidence",
        "Are the confidences of analysts informative? Sides are kept apart, since markets rise most of the time. Whole "
        "dates are resampled, since arguments of one date share its outcome.",
        figures,
        [Table("Concordance within sides", ["", "arguments", "different values", "concordance", ""], rows)],
        ["The intervals by confidence are too narrow: they treat arguments of one date as independent."],
    )


def _mirrored(rows: Sequence[MirroredResult]) -> Section:
    table = [
        [
            _name(row.name),
            str(row.says_up.of),
            row.says_up.percent_text(),
            row.says_up_mirrored.percent_text(),
            row.changed.percent_text(),
            row.right.percent_text(),
            row.right_mirrored.percent_text(),
        ]
        for row in rows
    ]
    bars = [_bar(_name(row.name), row.changed, "c2" if row.one_sided else "c1") for row in rows]
    notes = [f"{_name(row.name).capitalize()} says the same whatever prices do." for row in rows if row.one_sided]
    heads = ["", "dates", "says up", "says up, mirrored", "changed its mind", "right", "right, mirrored"]
    return Section(
        "mirrored",
        "MirroredResult",
        "The same dates on prices reflected in their log returns: every month that rose has fallen. Other series stay, "
        "so a lens that reads no prices has no reason to change its mind.",
        [
            Figure(
                interval_plot(bars, 0.0, 1.0, "said the opposite on mirrored prices"),
                "A forecaster near the left does not read prices, or not only prices.",
            )
        ],
        [Table("On data as they are, and mirrored", heads, table)],
        notes,
    )


def _leaks(report: BacktestReport, found: LeakReport) -> Section:
    rows = [[f"{row.name}: {row.about}", f"{row.as_it_must} of {row.dates}"] for row in found.checks]
    if (blind := report.blind) is not None:
        rows.append(["blind: the same forecast without names and dates", f"{blind.same.count} of {blind.same.of}"])
    peek = (
        f"An injected rule that peeks at the next day's close calls {found.peek.percent_text()} right, always up "
        f"{found.always_up.percent_text()}: a small leak does not show in accuracy, so bytes are compared."
    )
    intro = (
        "On some dates the knowledge base is rebuilt from data that end on the day, and from data that are garbage "
        "after it. Both must give the debated one, byte for byte, and injected leaks must be detected."
    )
    bad = [] if found.holds else ["A LEAK CONTROL FAILED: nothing on this page can be trusted."]
    return Section("leaks", "Leaks", intro, tables=[Table("Tests", ["", "passed"], rows)], notes=[*bad, peek])


def _plan(report: BacktestReport) -> Section:
    rows = [[name.replace("_", " "), str(value)] for name, value in report.result.plan.as_json().items()]
    formula = (
        "The probability of up: an argument weighs score x confidence x standing, scores counted from 0 to 1, a "
        "standing as 1, 1/2, 1/4 or 0; within a lens the log odds of up are the difference of both sides' mean weights "
        "over their sum; the forecast is the mean over lenses. One half is no call. No seat is shown this formula."
    )
    return Section(
        "plan",
        "Plan",
        "Everything that could be chosen to look better, fixed beforehand in one file.",
        tables=[Table("The plan", ["", ""], rows)],
        notes=[formula, *DISCLAIMERS],
    )


def _dates(report: BacktestReport) -> Section:
    result, plain = report.result, report.plain
    rows = []
    for place, label in enumerate(result.labels):
        record, outcome = plain.get(label.decided), report.outcome(DEBATE, place)
        lenses = [_p(record.forecasts.get(lens)) if record else "-" for lens in _LENSES]
        rows.append(
            [
                label.decided.isoformat(),
                _p(result.forecast[place]),
                *lenses,
                f"{100 * label.value:+.2f} %",
                {True: "up", False: "down", None: "tie"}[label.up],
                "" if outcome is None else outcome.value,
                "" if record is None else str(len(record.arguments)),
                "" if record is None else record.debate,
            ]
        )
    heads = [
        "decided",
        "P(up)",
        "tech",
        "fund",
        "macro",
        "senti",
        "return",
        "came",
        "the debate",
        "arguments",
        "record",
    ]
    return Section(
        "dates",
        "Dates",
        "Every debate has its own record: `disputatio show RECORD --store STORE` shows it.",
        tables=[Table("Every decision date", heads, rows)],
        folded=True,
    )


def _p(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"
