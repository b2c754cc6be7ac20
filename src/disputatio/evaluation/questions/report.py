"""The report of an evaluation: what each arm got right, at what cost, and whether differences exceed chance."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from disputatio.evaluation.experiment import Spending
from disputatio.evaluation.questions.arms import Arm, ArmAnswer, Outcome, declare_pairs
from disputatio.evaluation.questions.items import Item, Kind, QuestionSet, item_json
from disputatio.evaluation.questions.runner import EvaluationResult
from disputatio.evaluation.statistics.intervals import ALPHA, Estimate, mean_estimate
from disputatio.evaluation.statistics.paired import Comparison, compare_all
from disputatio.evaluation.statistics.scores import (
    AnswerScores,
    BrierReport,
    Reliability,
    SelectivePoint,
    answer_scores,
    brier_report,
    measure_reliability,
    selective_points,
)
from disputatio.kernel import JsonObject

JSON_VERSION = 1
HARNESS = (
    "A HARNESS TEST: scripts, recordings or servers that answer any schema took seats. It shows that the evaluation "
    "works and is no evidence about debate."
)
THRESHOLDS = tuple(step / 20 for step in range(8, 21))
FEWEST_FOR_CALIBRATION = 20


@dataclass(frozen=True, slots=True)
class ArmScores:
    """The scores of one arm over all questions."""

    arm: Arm
    given: Mapping[str, ArmAnswer]
    scores: AnswerScores
    outcomes: Mapping[Outcome, int]
    spent: Spending
    seconds: float
    tokens: Estimate
    spend_ratio: float | None
    calibration: Reliability | None
    brier: BrierReport | None
    selective: tuple[SelectivePoint, ...]

    @property
    def right(self) -> int:
        """Questions answered right."""
        return self.outcomes[Outcome.RIGHT]

    @property
    def usd_per_right(self) -> Decimal | None:
        """Dollars for each right answer; None if a price is unknown or nothing was right."""
        return self.spent.usd / self.right if self.spent.usd is not None and self.right else None

    @property
    def tokens_per_right(self) -> float | None:
        """Tokens for each right answer; None if nothing was right."""
        return self.spent.tokens / self.right if self.right else None

    @property
    def seconds_per_right(self) -> float | None:
        """Seconds of calls, one after the other, for each right answer; None if nothing was right."""
        return self.seconds / self.right if self.right else None

    def as_json(self) -> JsonObject:
        """All of it, without the single questions."""
        usd = self.usd_per_right
        per_right = {
            "usd": None if usd is None else str(round(usd, 8)),
            "tokens": None if self.tokens_per_right is None else round(self.tokens_per_right, 2),
            "seconds": None if self.seconds_per_right is None else round(self.seconds_per_right, 3),
        }
        return {
            "name": self.arm.name,
            "way": self.arm.way,
            "at_the_cost_of": self.arm.of,
            "baseline": self.arm.is_baseline,
            **self.scores.as_json(),
            "outcomes": {row.value: self.outcomes[row] for row in Outcome},
            "spent": self.spent.as_json(),
            "seconds_of_calls": round(self.seconds, 3),
            "tokens_per_question": self.tokens.as_json(),
            "per_right_answer": per_right,
            "spend_against_debate": None if self.spend_ratio is None else round(self.spend_ratio, 4),
            "calibration": None if self.calibration is None else self.calibration.as_json(),
            "brier_of_confidence": None if self.brier is None else self.brier.as_json(),
            "coverage_against_precision": [row.as_json() for row in self.selective],
        }


@dataclass(frozen=True, slots=True)
class EvaluationReport:
    """The report of an evaluation. ``who`` maps ways of answering to seats and their models."""

    questions: QuestionSet
    arms: tuple[ArmScores, ...]
    comparisons: tuple[Comparison, ...]
    who: Mapping[str, Mapping[str, str]]
    seed: int | None
    spent: Spending
    stopped: str
    harness: bool
    chance: float | None
    drawn_from: int
    warnings: tuple[str, ...] = field(default=())

    def as_json(self) -> JsonObject:
        """The stable JSON form, version ``JSON_VERSION``."""
        return {
            "schema": "disputatio/evaluation",
            "version": JSON_VERSION,
            "harness_test": self.harness,
            "notice": HARNESS if self.harness else "",
            "questions": {
                "name": self.questions.name,
                "about": self.questions.about,
                "licence": self.questions.licence,
                "items": len(self.questions.items),
                "drawn_from": self.drawn_from,
                "sha256": self.questions.digest,
                "kinds": [row.value for row in self.questions.kinds],
                "right_by_chance": self.chance,
            },
            "who": {way: dict(seats) for way, seats in self.who.items()},
            "seed": self.seed,
            "arms": [row.as_json() for row in self.arms],
            "comparisons": [row.as_json() for row in self.comparisons],
            "spent": self.spent.as_json(),
            "stopped": self.stopped,
            "warnings": list(self.warnings),
            "items": [self._item(item) for item in self.questions.items],
        }

    def _item(self, item: Item) -> JsonObject:
        body: dict[str, Any] = dict(item_json(item))
        body["given"] = {row.arm.name: _given_json(row.given[item.id]) for row in self.arms}
        return body


def _given_json(given: ArmAnswer) -> JsonObject:
    return {
        "answer": given.answer,
        "outcome": given.outcome.value,
        "why": given.why,
        "confidence": given.confidence,
        "samples": given.samples,
        "debates": list(given.debates),
        "spent": given.spent.as_json(),
        "seconds": round(given.seconds, 3),
    }


def make_evaluation_report(
    questions: QuestionSet,
    arms: Sequence[Arm],
    held: EvaluationResult,
    who: Mapping[str, Mapping[str, str]],
    *,
    seed: int | None = None,
    drawn_from: int | None = None,
) -> EvaluationReport:
    """Score everything that ran; what did not run stays in the counts."""
    rows = tuple(_scores(arm, questions, held) for arm in arms)
    right = {row.arm.name: [row.given[item.id].right for item in questions.items] for row in rows}
    compared = compare_all(right, declare_pairs(arms))
    harness = any(given.harness for row in rows for given in row.given.values())
    chances = [1 / len(item.options) for item in questions.items if item.options]
    chance = round(sum(chances) / len(questions.items), 4) if len(chances) == len(questions.items) else None
    return EvaluationReport(
        questions,
        rows,
        compared,
        who,
        seed,
        held.spent,
        held.stopped,
        harness,
        chance,
        drawn_from or len(questions.items),
        tuple(_warnings(rows)),
    )


def _scores(arm: Arm, questions: QuestionSet, held: EvaluationResult) -> ArmScores:
    given = held.given[arm.name]
    rows = [given[item.id] for item in questions.items]
    # A number within the tolerance counts as the right one.
    answers = [item.known if row.right else row.answer for item, row in zip(questions.items, rows, strict=True)]
    known = [item.known for item in questions.items]
    counted = {outcome: sum(row.outcome is outcome for row in rows) for outcome in Outcome}
    spent = Spending()
    for row in rows:
        spent = spent.plus(row.spent)
    asked = [row for row in rows if row.outcome is not Outcome.NOT_RUN]
    sure = [(row.confidence, row.right) for row in asked if row.answer is not None and row.confidence is not None]
    enough = len(sure) >= FEWEST_FOR_CALIBRATION
    forecast, observed = [float(one) for one, _ in sure], [other for _, other in sure]
    return ArmScores(
        arm,
        given,
        answer_scores(known, answers, balanced=Kind.NUMBER not in questions.kinds),
        counted,
        spent,
        sum(row.seconds for row in rows),
        mean_estimate([float(row.spent.tokens) for row in asked]),
        _spend_ratio(arm, questions, held),
        measure_reliability(forecast, observed) if enough else None,
        brier_report(forecast, observed) if enough else None,
        selective_points([row.confidence for row in rows], [row.right for row in rows], THRESHOLDS) if enough else (),
    )


def _spend_ratio(arm: Arm, questions: QuestionSet, held: EvaluationResult) -> float | None:
    """Tokens of a vote over those of its debate, on questions where both ran."""
    if not arm.of:
        return None
    pairs = [
        (held.given[arm.name][item.id], held.given[arm.of][item.id])
        for item in questions.items
        if held.given[arm.name][item.id].outcome is not Outcome.NOT_RUN
    ]
    debate = sum(row.spent.tokens for _, row in pairs)
    return sum(row.spent.tokens for row, _ in pairs) / debate if debate else None


def _warnings(rows: Sequence[ArmScores]) -> list[str]:
    found = []
    for row in rows:
        failed, missing = row.outcomes[Outcome.FAILED], row.outcomes[Outcome.NOT_RUN]
        if failed:
            found.append(f"{row.arm.name}: {failed} failed at the provider and count as not right.")
        if missing:
            found.append(f"{row.arm.name}: {missing} did not run and count as not right.")
        if row.spend_ratio is not None and abs(row.spend_ratio - 1) > 0.1:
            found.append(f"{row.arm.name} cost {row.spend_ratio:.2f} times what its debate cost.")
    return found


def render_evaluation_lines(report: EvaluationReport) -> list[str]:
    """Render the report as text."""
    questions = report.questions
    drawn = "" if report.drawn_from == len(questions.items) else f" of {report.drawn_from}"
    lines = [HARNESS, ""] if report.harness else []
    lines += [f"{questions.name}: {len(questions.items)}{drawn} questions ({', '.join(questions.kinds)})"]
    lines += [
        f"  {way}: {', '.join(f'{seat} {model}'.strip() for seat, model in who.items())}"
        for way, who in list_seats(report)
    ]
    if report.chance is not None:
        lines.append(f"  Guessing is right in {100 * report.chance:.1f} %.")
    width = max(len(row.arm.name) for row in report.arms) + 1
    lines += [
        "",
        f"{'':{width}}{'accuracy':22}{'balanced':18}{'right':>5}{'wrong':>6}{'none':>5}{'failed':>7}{'unheld':>7}",
    ]
    lines += [_arm_line(row, width) for row in report.arms]
    lines += ["", f"{'':{width}}{'tokens':>12}{'USD':>12}{'seconds':>10}  a right answer: tokens, USD, s"]
    lines += [_cost_line(row, width) for row in report.arms]
    lines += ["", "Declared comparisons, tested together (Holm); difference with Newcombe's 95 % interval"]
    for row in report.comparisons:
        lines += _comparison_lines(row)
    if any(row.calibration for row in report.arms):
        lines += ["", *_calibration_lines(report.arms)]
    if report.warnings:
        lines += ["", *report.warnings]
    if report.stopped:
        higher = " with a higher ceiling" if "ceiling" in report.stopped else ""
        lines += ["", f"Not finished: {report.stopped}. Run the same command again{higher} to continue."]
    return lines


def list_seats(report: EvaluationReport) -> list[tuple[str, Mapping[str, str]]]:
    """List seats and models by way of answering; one row if one model sits everywhere."""
    models = {model for seats in report.who.values() for model in seats.values()}
    return [("all seats", {"": models.pop()})] if len(models) == 1 else list(report.who.items())


def _arm_line(row: ArmScores, width: int) -> str:
    counts = row.outcomes
    cells = [counts[Outcome.RIGHT], counts[Outcome.WRONG], counts[Outcome.NO_ANSWER]]
    return (
        f"{row.arm.name:{width}}{row.scores.accuracy.percent_text():22}{row.scores.balanced.text():18}"
        f"{cells[0]:5d}{cells[1]:6d}{cells[2]:5d}{counts[Outcome.FAILED]:7d}{counts[Outcome.NOT_RUN]:7d}"
    )


def _cost_line(row: ArmScores, width: int) -> str:
    usd = "unknown" if row.spent.usd is None else f"{row.spent.usd:.4f}"
    each = "unknown" if row.usd_per_right is None else f"{row.usd_per_right:.6f}"
    ratio = "" if row.spend_ratio is None else f" ({row.spend_ratio:.2f} of {row.arm.of}'s tokens)"
    tokens, seconds = row.tokens_per_right, row.seconds_per_right
    per = f"{'-' if tokens is None else f'{tokens:,.0f}'}, {each}, {'-' if seconds is None else f'{seconds:.1f}'}"
    return f"{row.arm.name:{width}}{row.spent.tokens:12,}{usd:>12}{row.seconds:10.1f}  {per}{ratio}"


def _comparison_lines(row: Comparison) -> list[str]:
    from disputatio.evaluation.statistics.paired import format_p

    counts = row.counts
    seen = "-" if row.power_seen is None else f"{row.power_seen:.2f}"
    return [
        f"  {row.name}: {row.difference.points_text(' points')}; right alone: {counts.first} against {counts.second}",
        (
            f"    McNemar exact p {format_p(row.exact_p)}, mid-p {format_p(row.mid_p)}, after Holm "
            f"{format_p(row.adjusted)}"
        ),
        (
            f"    power for {100 * row.gain:g} points at level {ALPHA:g}: {row.power:.2f} if 30 % of the questions are "
            f"discordant, {seen} at what was seen"
        ),
        f"    {row.verdict}",
    ]


def _calibration_lines(arms: Sequence[ArmScores]) -> list[str]:
    lines = ["Is the confidence informative? (ECE beside that of perfectly calibrated answers with these confidences)"]
    for row in arms:
        if row.calibration is None or row.brier is None:
            continue
        word = "beyond chance" if row.calibration.miscalibrated else "within chance"
        lines.append(
            f"  {row.arm.name}: ECE {row.calibration.ece:.3f} (perfect: {row.calibration.null_mean:.3f} on average, "
            f"95 % below {row.calibration.null_95:.3f}; {word}), Brier {row.brier.score:.3f}"
        )
    return lines
