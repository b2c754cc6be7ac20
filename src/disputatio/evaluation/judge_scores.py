"""Score what a judge made of the variants of cases: catches, false alarms, biases, spread and consistency.

When an injected flaw counts as caught
    a fallacy           a finding names it, with words from the injected sentence or containing it
    fabricated_figure,  the argument's evidence score is at least one point below that of the clean variant, or the
    misquoted_source    reason repeats the figure, or the changed word with its neighbours
    dropped_response    the argument's responsiveness score is at least one point below that of the clean variant

A score may fall by chance. The report therefore shows how often the same criterion falls by a point in arguments
without a flaw: a catch rate no higher than that means nothing. Where the rubric lacks the criterion, only the reason
can show a catch. A debate without a finding, or with a void one, catches nothing and stays in the count.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from disputatio.evaluation.cases import SIDES, CaseDebate
from disputatio.evaluation.injected_flaws import (
    DROPPED,
    FABRICATED,
    FLAWS,
    MISQUOTED,
    CaseVariant,
    InjectedFlaw,
    Variant,
)
from disputatio.evaluation.statistics.intervals import Estimate, Rate, mean_estimate, rate
from disputatio.judging.consistency import SwapPair, SwapReport, compare_retest, report_swaps
from disputatio.judging.fallacies import Fallacy, words_are_in
from disputatio.judging.judge_scores import TIE, JudgeScores, ScoreSpread, measure_spread
from disputatio.judging.scoring import Rubric, mean, weigh_scores
from disputatio.participants.providers import family
from disputatio.record.events import Abstained, TurnTaken
from disputatio.record.history import History

_FALLACIES = frozenset(fallacy.value for fallacy in Fallacy)
_CRITERIA = {FABRICATED: "evidence", MISQUOTED: "evidence", DROPPED: "responsiveness"}


@dataclass(frozen=True, slots=True)
class ArgumentFinding:
    """The judge's finding on one argument: scores by criterion, the reason, and fallacies with their words."""

    scores: Mapping[str, int] = field(hash=False)
    reason: str
    fallacies: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class VariantReading:
    """What the judge made of one variant. ``void`` are arguments whose finding does not count."""

    twin: CaseVariant
    found: Mapping[str, ArgumentFinding] = field(hash=False)
    void: tuple[str, ...] = ()
    failure: str = ""

    def points(self, rubric: Rubric) -> dict[str, dict[str, Fraction]]:
        """The weighted score of each argument, by side."""
        return {
            side: {
                name: weigh_scores(row.scores, rubric)
                for name, row in self.found.items()
                if name.startswith(side.upper())
            }
            for side in SIDES
        }

    def totals(self, rubric: Rubric) -> dict[str, Fraction] | None:
        """The mean of each side; None if a side has no score."""
        means = {side: mean(list(rows.values())) for side, rows in self.points(rubric).items()}
        return {side: row for side, row in means.items() if row is not None} if None not in means.values() else None

    def judged(self, rubric: Rubric) -> JudgeScores:
        """The scores in the form the retest takes."""
        points, totals = self.points(rubric), self.totals(rubric)
        if totals is None:
            return JudgeScores.failed("judge", SIDES, self.failure or "a side has no score")
        return JudgeScores("judge", SIDES, totals, points)


def read_variant(twin: CaseVariant, history: History | None, rubric: Rubric) -> VariantReading:
    """Read the judge's findings from the record of a variant."""
    if history is None:
        return VariantReading(twin, {}, failure="not asked")
    rows = [row for row in history.answered.values() if row.seat == "judge"]
    taken = next((row for row in rows if isinstance(row, TurnTaken) and row.form == "adjudication"), None)
    if taken is None:
        reason = next((row.reason for row in rows if isinstance(row, Abstained)), "unfinished")
        return VariantReading(twin, {}, failure=reason)
    content: Any = taken.content
    void = _void(history)
    found = {
        name: ArgumentFinding(
            {row.key: int(finding[row.key]) for row in rubric.criteria},
            str(finding["reason"]),
            tuple((str(row["fallacy"]), str(row["words"])) for row in finding["fallacies"]),
        )
        for name, finding in content["arguments"].items()
        if name not in void
    }
    return VariantReading(twin, found, void)


def _void(history: History) -> tuple[str, ...]:
    """The arguments whose finding the rules of the debate declared void."""
    outcome: Any = history.closed.outcome if history.closed else {}
    return tuple(row["id"] for row in outcome.get("trace", ()) if row.get("criteria") is None)


@dataclass(frozen=True, slots=True)
class Catch:
    """Whether one injected flaw was caught. ``otherwise`` is another fallacy that was named in its place."""

    key: str
    kind: str
    caught: bool
    failure: str = ""
    otherwise: str = ""


def check_catch(reading: VariantReading, clean: VariantReading | None) -> Catch:
    """Check whether the flaw of ``reading`` was caught; ``clean`` is the same case without the flaw."""
    flaw = reading.twin.flaw
    assert flaw is not None  # noqa: S101  (only variants with a flaw come here)
    if reading.failure or flaw.argument in reading.void:
        return Catch(reading.twin.key, flaw.kind, caught=False, failure=reading.failure or "void")
    if flaw.kind in _FALLACIES:
        named = [kind for row in reading.found.values() for kind, words in row.fallacies if _same(words, flaw.words)]
        others = [kind for kind in named if kind != flaw.kind]
        caught = flaw.kind in named
        return Catch(reading.twin.key, flaw.kind, caught, otherwise="" if caught or not others else others[0])
    return Catch(reading.twin.key, flaw.kind, _shown(reading, flaw) or _fallen(reading, clean, flaw))


def _same(words: str, sentence: str) -> bool:
    return words_are_in(words, sentence) or words_are_in(sentence, words)


def _shown(reading: VariantReading, flaw: InjectedFlaw) -> bool:
    return bool(flaw.mark) and words_are_in(flaw.mark, reading.found[flaw.argument].reason)


def _fallen(reading: VariantReading, clean: VariantReading | None, flaw: InjectedFlaw) -> bool:
    if clean is None or flaw.argument not in clean.found:
        return False
    criterion = _CRITERIA[flaw.kind]
    before, after = (row.found[flaw.argument].scores.get(criterion) for row in (clean, reading))
    return before is not None and after is not None and after <= before - 1


@dataclass(frozen=True, slots=True)
class SelfPreference:
    """How much more the judge gives the side of its own model family than another judge; or why that is unknown."""

    points: Estimate | None
    unmeasured: str = ""


@dataclass(frozen=True, slots=True)
class JudgeMeasures:
    """All measures of a judge."""

    catches: tuple[Catch, ...]
    rates: Mapping[str, Rate]
    caught: Rate
    unplanted: Mapping[str, int]
    alarms: Mapping[str, bool]
    false_alarms: Rate
    falls_by_chance: Mapping[str, Rate]
    order: SwapReport
    first_place: Estimate
    length: Estimate
    longer_scored_higher: Rate
    longer_scored_lower: Rate
    spread: ScoreSpread
    same_verdict: Rate
    retest_change: Estimate
    own_family: SelfPreference
    judged: int
    debates: int
    failures: Mapping[str, int]
    void: int


def measure_judge(readings: Sequence[VariantReading], rubric: Rubric, own: str) -> JudgeMeasures:
    """Compute all measures from the readings. ``own`` is the model family of the judge."""
    by_kind: dict[str, dict[str, VariantReading]] = {}
    for row in readings:
        by_kind.setdefault(row.twin.kind, {})[row.twin.case.id] = row
    clean, again = by_kind.get(Variant.CLEAN, {}), by_kind.get(Variant.AGAIN, {})
    catches = tuple(check_catch(row, clean.get(row.twin.case.id)) for row in readings if row.twin.flaw is not None)
    alarms = {f"{case}/{name}": _alarm(found, row) for case, row in clean.items() for name, found in row.found.items()}
    scores = [score for row in clean.values() for found in row.found.values() for score in found.scores.values()]
    kinds = [kind for kind in FLAWS if kind in by_kind]
    order, first_place = _order(clean, by_kind.get(Variant.SWAPPED, {}), rubric)
    longer = _longer(clean, by_kind.get(Variant.PADDED, {}), rubric)
    failures: dict[str, int] = {}
    for row in readings:
        if row.failure:
            failures[row.failure] = failures.get(row.failure, 0) + 1
    retests = [
        compare_retest(clean[case].judged(rubric), row.judged(rubric)) for case, row in again.items() if case in clean
    ]
    return JudgeMeasures(
        catches=catches,
        rates={kind: _rate_of([row for row in catches if row.kind == kind]) for kind in kinds},
        caught=_rate_of(catches),
        unplanted={kind: len(clean) - len(by_kind[kind]) for kind in kinds if len(by_kind[kind]) < len(clean)},
        alarms=alarms,
        false_alarms=rate(sum(alarms.values()), len(alarms)),
        falls_by_chance={name: _falls(readings, clean, name) for name in dict.fromkeys(_CRITERIA.values())},
        order=order,
        first_place=first_place,
        length=mean_estimate(longer),
        longer_scored_higher=rate(sum(row > 0 for row in longer), len(longer)),
        longer_scored_lower=rate(sum(row < 0 for row in longer), len(longer)),
        spread=measure_spread(scores),
        same_verdict=rate(sum(row.same_verdict is True for row in retests), len(retests)),
        retest_change=mean_estimate([float(row.mean_change) for row in retests if row.mean_change is not None]),
        own_family=_own_family(clean, rubric, own),
        judged=len(readings) - sum(failures.values()),
        debates=len(readings),
        failures=failures,
        void=sum(len(row.void) for row in readings if not row.failure),
    )


def _rate_of(catches: Sequence[Catch]) -> Rate:
    return rate(sum(row.caught for row in catches), len(catches))


def _alarm(found: ArgumentFinding, reading: VariantReading) -> bool:
    """Whether a fallacy is named in a clean argument, with words that were said."""
    said = str(reading.twin.debate.body).replace("\\n", " ")
    return any(words_are_in(words, said) for _, words in found.fallacies)


def _falls(readings: Sequence[VariantReading], clean: Mapping[str, VariantReading], criterion: str) -> Rate:
    """How often a criterion falls by a point in an argument without a flaw."""
    pairs = [
        (before.found[name].scores.get(criterion), found.scores.get(criterion))
        for row in readings
        if row.twin.flaw is not None and (before := clean.get(row.twin.case.id)) is not None
        for name, found in row.found.items()
        if name != row.twin.flaw.argument and name in before.found
    ]
    falls = [after <= before - 1 for before, after in pairs if before is not None and after is not None]
    return rate(sum(falls), len(falls))


def _order(
    clean: Mapping[str, VariantReading], changed: Mapping[str, VariantReading], rubric: Rubric
) -> tuple[SwapReport, Estimate]:
    """Compare verdicts by speaker in both orders, and compute the points that being shown first is worth."""
    pairs, points = [], []
    for case, row in changed.items():
        shown = clean[case].totals(rubric) if case in clean else None
        other = row.totals(rubric)
        gap = None if shown is None else shown["pro"] - shown["con"]
        contrary = None if other is None else other["con"] - other["pro"]
        pairs.append(SwapPair(SIDES, _winner(gap), _winner(contrary)))
        if gap is not None and contrary is not None:
            points.append(float(gap - contrary) / 2)
    return report_swaps(pairs), mean_estimate(points)


def _winner(gap: Fraction | None) -> str | None:
    if gap is None:
        return None
    return TIE if gap == 0 else "pro" if gap > 0 else "con"


def _longer(clean: Mapping[str, VariantReading], longer: Mapping[str, VariantReading], rubric: Rubric) -> list[float]:
    """How many points the padded side gained, case by case."""
    gained = []
    for case, row in longer.items():
        before = clean[case].totals(rubric) if case in clean else None
        after = row.totals(rubric)
        if before is not None and after is not None:
            gained.append(float(after[row.twin.padded_side] - before[row.twin.padded_side]))
    return gained


def _own_family(clean: Mapping[str, VariantReading], rubric: Rubric, own: str) -> SelfPreference:
    points = []
    for row in clean.values():
        side = find_own_side(row.twin.case, own)
        totals, reference = row.totals(rubric), row.twin.case.body.get("reference")
        if side is None or totals is None or reference is None or _family(reference["judge"]) == own:
            continue
        other = "con" if side == "pro" else "pro"
        points.append(float(totals[side] - totals[other]) - (reference[side] - reference[other]))
    if points:
        return SelfPreference(mean_estimate(points))
    return SelfPreference(
        None,
        f"no case has one side by a model of the judge's family ({own}), the other by another family, and totals by "
        "a judge of another",
    )


def find_own_side(case: CaseDebate, own: str) -> str | None:
    """Return the side written by a model of the family ``own`` if another family wrote the other side."""
    written = case.body.get("written_by")
    if not written:
        return None
    sides = [side for side in SIDES if _family(written[side]) == own]
    return sides[0] if len(sides) == 1 else None


def _family(address: str) -> str:
    provider, _, model = address.partition(":")
    return family(model or provider, provider)
