"""The verdict of a market debate: every argument with its figures, scores and standings, by analyst.

Code computes everything here from the turns. What the judge did not give stays missing.

The computed standing follows from the exchange (see `judging.standing`) and the check of the figures:
- A response with an unsupported figure attacks nothing.
- An argument with a wrong figure and no verified one is REFUTED.
- An argument with a wrong figure, or with inferred ones alone, is at best WEAKENED.

A withdrawn argument has no confidence: it is null in the trace, and left out of the analyst's mean.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property

from disputatio.formats.turns.cross_examination import ArgumentStatus
from disputatio.formats.turns.market_arguments import (
    Challenge,
    ChallengeType,
    MarketArgument,
    MarketExamination,
    MarketOpening,
)
from disputatio.formats.turns.market_closing import MarketClosing, RefinedClaim
from disputatio.formats.turns.market_figures import INFERRED, VERIFIED, Figure, FigureChecker
from disputatio.formats.turns.market_judging import (
    MarketAdjudication,
    MarketExhibit,
    MarketJudgement,
    MarketStanding,
)
from disputatio.judging.judge_scores import ScoreSpread, measure_spread
from disputatio.judging.scoring import Rubric, mean, round_half_up, weigh_scores
from disputatio.judging.standing import (
    AgreedPoint,
    Exchange,
    Reply,
    Standing,
    compute_exchange_strength,
    compute_standing,
    find_agreed_points,
)
from disputatio.kernel import Abstention, JsonObject, Seat
from disputatio.market.knowledge import KnowledgeBase

DISCLAIMERS = (
    "The scores measure the arguing: this is not a forecast of who is right.",
    "This is not financial advice.",
)
"""Printed on every surface (requirement M7)."""
SIDES = ("bull", "bear")
_REPLIES = {
    ChallengeType.REFUTE: "refute",
    ChallengeType.QUESTION_EVIDENCE: "challenge",
    ChallengeType.PARTIAL: "partial",
    ChallengeType.CONCEDE: "concede",
}
_STANDINGS = {
    Standing.UPHELD: MarketStanding.UPHELD,
    Standing.PARTIALLY_UPHELD: MarketStanding.WEAKENED,
    Standing.REFUTED: MarketStanding.REFUTED,
    Standing.UNCERTAIN: MarketStanding.UNCERTAIN,
}


@dataclass(frozen=True, slots=True)
class Analyst:
    """The turns of one analyst so far."""

    seat: Seat
    checker: FigureChecker
    opening: MarketOpening | None = None
    examination: MarketExamination | None = None
    closing: MarketClosing | None = None
    silences: tuple[Abstention, ...] = ()

    @property
    def arguments(self) -> tuple[MarketArgument, ...]:
        """Its arguments; none without an opening."""
        return self.opening.arguments if self.opening else ()

    @property
    def challenges(self) -> tuple[Challenge, ...]:
        """Its responses; none without a cross-examination."""
        return self.examination.challenges if self.examination else ()

    @property
    def side(self) -> str:
        """``bull`` or ``bear``."""
        return self.seat.partition("_")[2]

    def refined(self, argument: str) -> RefinedClaim | None:
        """Return its final version of one of its arguments."""
        claims = self.closing.claims if self.closing else ()
        return next((row for row in claims if row.argument == argument), None)

    def after(self, *, examination: MarketExamination | None = None, closing: MarketClosing | None = None) -> Analyst:
        """Return the analyst after another turn."""
        return Analyst(
            self.seat,
            self.checker,
            self.opening,
            examination or self.examination,
            closing or self.closing,
            self.silences,
        )

    def without(self, silence: object) -> Analyst:
        """Return the analyst after an abstention."""
        return replace(self, silences=(*self.silences, silence)) if isinstance(silence, Abstention) else self


@dataclass(frozen=True)
class MarketRow:
    """One argument from its claim to its standing. ``judgement`` is None without a judge's finding."""

    exhibit: MarketExhibit
    judgement: MarketJudgement | None
    rubric: Rubric
    strength: Fraction

    @property
    def argument(self) -> str:
        """Its id."""
        return self.exhibit.argument.id

    @property
    def seat(self) -> str:
        """Whose it is."""
        return self.exhibit.argument.seat

    @cached_property
    def score(self) -> Fraction | None:
        """The exact weighted score, 1 to 10; None without a judge's finding."""
        return weigh_scores(self.judgement.scores, self.rubric) if self.judgement else None

    @property
    def confidence(self) -> float | None:
        """The analyst's final confidence, or that of the opening without a closing; None where withdrawn."""
        refined = self.exhibit.refined
        if refined is None:
            return self.exhibit.argument.confidence
        return None if refined.hold is ArgumentStatus.WITHDRAWN else refined.confidence

    @property
    def standing(self) -> MarketStanding:
        """The judge's standing, or the computed one without a judge's finding."""
        return self.judgement.standing if self.judgement else self.exhibit.computed

    @property
    def differs(self) -> bool:
        """Whether the judged and the computed standing differ."""
        return self.judgement is not None and self.judgement.standing is not self.exhibit.computed

    def score_json(self) -> JsonObject:
        """Return what the score fact of this row records."""
        judged, refined = self.judgement, self.exhibit.refined
        return {
            "side": self.seat,
            "criteria": judged.scores if judged else None,
            "weighted": None if self.score is None else round_half_up(self.score, 4),
            "judged": judged.standing.value if judged else None,
            "computed": self.exhibit.computed.value,
            "strength": round_half_up(self.strength, 4),
            "differs": self.differs,
            "confidence": self.exhibit.argument.confidence,
            # The fact keeps the stated number: older records have it and must resume.
            "confidence_adjusted": refined.confidence if refined else self.exhibit.argument.confidence,
        }

    def as_json(self) -> JsonObject:
        """Return the whole row."""
        argument, refined = self.exhibit.argument, self.exhibit.refined
        return {
            "id": argument.id,
            "claim": argument.claim,
            **self.score_json(),
            "confidence_adjusted": self.confidence,
            "citations": [row.as_json() for row in argument.figures],
            "not_borne_out": [row.text for row in argument.words],
            "counterpoints": list(argument.counterpoints),
            "assumptions": list(argument.assumptions),
            "drew": [
                {
                    "response": row.kind.value,
                    "reasoning": row.reasoning,
                    "citations": [figure.as_json() for figure in row.figures],
                    "not_borne_out": [each.text for each in row.words],
                }
                for row in self.exhibit.drew
            ],
            "refined": None
            if refined is None
            else {"status": refined.hold.value, "refinement": refined.refinement, "confidence": self.confidence},
            "judged_reason": self.judgement.reason if self.judgement else "",
            "computed_reason": self.exhibit.because,
        }


@dataclass(frozen=True)
class MarketVerdict:
    """The outcome of a market debate. Totals are exact means, None where nothing was scored."""

    analysts: tuple[Analyst, ...]
    trace: tuple[MarketRow, ...]
    finding: MarketAdjudication | None
    judge_silent: Abstention | None
    rubric: Rubric
    base: KnowledgeBase

    @property
    def judged(self) -> bool:
        """Whether the judge found on the arguments."""
        return self.finding is not None

    @property
    def spread(self) -> ScoreSpread:
        """The spread of the judge's integers, and whether they are inflated."""
        rows = self.finding.judgements if self.finding else ()
        return measure_spread([score for row in rows for score in row.scores.values()])

    @property
    def synthesis(self) -> Mapping[str, str]:
        """The judge's synthesis; empty without a finding."""
        return self.finding.synthesis if self.finding else {}

    def of(self, seat: str) -> tuple[MarketRow, ...]:
        """Return the arguments of one analyst or one side (``bull``, ``bear``)."""
        end = f"_{seat}"
        return tuple(
            [row for name, rows in self._by_seat.items() if name == seat or name.endswith(end) for row in rows]
        )

    @cached_property
    def _by_seat(self) -> Mapping[str, Sequence[MarketRow]]:
        """The arguments of each analyst."""
        found: dict[str, list[MarketRow]] = {}
        for row in self.trace:
            found.setdefault(row.seat, []).append(row)
        return found

    def total(self, seat: str) -> Fraction | None:
        """Return the mean score of an analyst or a side; None where nothing was scored."""
        return mean([row.score for row in self.of(seat) if row.score is not None])

    @property
    def figures(self) -> tuple[Figure, ...]:
        """Every figure of every argument and response."""
        argued = (figure for row in self.trace for figure in row.exhibit.argument.figures)
        drawn = (figure for row in self.trace for each in row.exhibit.drew for figure in each.figures)
        return (*argued, *drawn)

    @property
    def agreed(self) -> tuple[AgreedPoint, ...]:
        """The arguments that the opponent conceded and their analyst still holds."""
        seats = {row.argument: row.seat for row in self.trace}
        claims = [(row.argument, row.exhibit.argument.claim, _opponent(seats[row.argument])) for row in self.trace]
        conceded = [
            row.argument for row in self.trace if any(each.kind is ChallengeType.CONCEDE for each in row.exhibit.drew)
        ]
        gone = [
            row.argument
            for row in self.trace
            if row.exhibit.refined and row.exhibit.refined.hold is ArgumentStatus.WITHDRAWN
        ]
        return find_agreed_points(claims, conceded, gone)

    @property
    def reading(self) -> str:
        """The outcome in a sentence about the arguing."""
        if not self.trace:
            return "no analyst argued"
        if not self.judged:
            return f"{len(self.trace)} arguments, which nobody judged"
        return " and ".join(self._counted(side) for side in SIDES)

    def _counted(self, side: str) -> str:
        rows = self.of(side)
        upheld = sum(row.standing is MarketStanding.UPHELD for row in rows)
        return f"{upheld} of {len(rows)} {side} arguments upheld"

    def summary_json(self) -> JsonObject:
        """The means by analyst and by side."""
        return {
            "totals": {side: _rounded(self.total(side)) for side in SIDES},
            "reading": self.reading,
            "rubric": self.rubric.name,
        }

    def as_json(self) -> JsonObject:
        """The whole verdict, as the record and the exports keep it."""
        return {
            **self.summary_json(),
            "format": "market",
            "judged": self.judged,
            "trace": [row.as_json() for row in self.trace],
            "agreed": [{"id": row.argument, "claim": row.claim, "conceded_by": row.conceded_by} for row in self.agreed],
            "analysts": [self._analyst_json(row) for row in self.analysts],
            "synthesis": dict(self.synthesis),
            "inflation": self.spread.as_json() if self.judged else None,
            "knowledge": knowledge_json(self.base),
            "disclaimers": list(DISCLAIMERS),
            "measures": "the quality of the argument, not who is right",
        }

    def _analyst_json(self, analyst: Analyst) -> JsonObject:
        rows = self.of(analyst.seat)
        closing = analyst.closing
        before = [row.exhibit.argument.confidence for row in rows]
        return {
            "seat": analyst.seat,
            "side": analyst.side,
            "arguments": [row.argument for row in rows],
            "score": _rounded(self.total(analyst.seat)),
            "confidence": _mean(before),
            "confidence_adjusted": _mean([row.confidence for row in rows if row.confidence is not None]),
            "standings": {row.argument: row.standing.value for row in rows},
            "figures": _statuses([figure for row in rows for figure in row.exhibit.argument.figures]),
            "conviction": closing.conviction.value if closing else None,
            "stance": closing.final_stance if closing else "",
            "concessions": [{"target": row.target, "accepted": row.accepted} for row in closing.concessions]
            if closing
            else [],
            "silent": [{"reason": row.reason, "detail": row.detail} for row in analyst.silences],
        }


def knowledge_json(base: KnowledgeBase) -> JsonObject:
    """Return what the verdict says of its knowledge base: date, sources, gaps."""
    meta = base.meta
    return {
        "subject": meta.subject,
        "subject_name": meta.subject_name,
        "as_of": meta.as_of,
        "day": meta.day,
        "data_sources": list(meta.data_sources),
        "synthetic": meta.synthetic,
        "lacks": list(meta.warnings),
    }


def build_exhibits(analysts: Sequence[Analyst]) -> tuple[MarketExhibit, ...]:
    """Return every argument with its responses, its final version, and its computed standing."""
    found = []
    for own in analysts:
        lens = own.seat.partition("_")[0]
        others = [row for row in analysts if row.seat != own.seat and row.seat.partition("_")[0] == lens]
        for argument in own.arguments:
            drew = tuple([row for other in others for row in other.challenges if row.target == argument.id])
            refined = own.refined(argument.id)
            computed, because = _computed(argument, drew, refined)
            found.append(MarketExhibit(argument, drew, refined, computed, because))
    return tuple(found)


def build_market_verdict(
    analysts: Sequence[Analyst],
    exhibits: Sequence[MarketExhibit],
    finding: MarketAdjudication | Abstention | None,
    rubric: Rubric,
    base: KnowledgeBase,
) -> MarketVerdict:
    """Build the verdict from the turns, their exhibits and the judge's finding."""
    found = finding if isinstance(finding, MarketAdjudication) else None
    judgements = {row.argument: row for row in found.judgements} if found else {}
    trace = tuple([MarketRow(row, judgements.get(row.argument.id), rubric, _strength(row)) for row in exhibits])
    silent = finding if isinstance(finding, Abstention) else None
    return MarketVerdict(tuple(analysts), trace, found, silent, rubric, base)


def _exchange(argument: MarketArgument, drew: Sequence[Challenge], refined: RefinedClaim | None) -> Exchange:
    """Return the exchange about an argument. Its closing answers all responses, unless it was withdrawn."""
    answered = refined is not None and refined.hold is not ArgumentStatus.WITHDRAWN
    replies = tuple([Reply(_REPLIES[row.kind], answered) for row in drew if row.is_sound])
    return Exchange(argument.id, replies, refined.hold.value if refined else None)


def _computed(
    argument: MarketArgument, drew: Sequence[Challenge], refined: RefinedClaim | None
) -> tuple[MarketStanding, str]:
    standing, because = compute_standing(_exchange(argument, drew, refined))
    return hold_against_figures(
        standing,
        because,
        sound=[row.is_sound for row in drew],
        statuses=[row.status for row in argument.figures],
        has_false_words=bool(argument.words),
    )


def hold_against_figures(
    standing: Standing, because: str, *, sound: Sequence[bool], statuses: Sequence[str], has_false_words: bool
) -> tuple[MarketStanding, str]:
    """The computed standing of an argument, and why, after its figures are compared with the knowledge base.

    Args:
        standing: what follows from the sound responses.
        because: why.
        sound: for each response whether the base bears out every figure that it brings.
        statuses: what the check of each figure of the argument came to.
        has_false_words: whether the base contradicts figures in the argument's own words.
    """
    found = _STANDINGS[standing]
    if sound and not any(sound) and found is MarketStanding.UNCERTAIN:
        found, because = MarketStanding.UPHELD, "all that was said against it rests on what the base does not say"
    verified = statuses.count(VERIFIED)
    wrong = len(statuses) - verified - statuses.count(INFERRED)
    if wrong and not verified:
        return MarketStanding.REFUTED, "the knowledge base bears out none of its figures"
    if found is MarketStanding.UPHELD and (wrong or has_false_words):
        return MarketStanding.WEAKENED, "the knowledge base does not bear out all that it says"
    if found is MarketStanding.UPHELD and not verified:
        return MarketStanding.WEAKENED, "it rests on inferences alone"
    return found, because


def _opponent(seat: str) -> str:
    lens, _, side = seat.partition("_")
    return f"{lens}_{'bear' if side == 'bull' else 'bull'}"


def _strength(row: MarketExhibit) -> Fraction:
    return compute_exchange_strength(_exchange(row.argument, row.drew, row.refined))


def _statuses(figures: Sequence[Figure]) -> dict[str, int]:
    found: dict[str, int] = {}
    for row in figures:
        found[row.status] = found.get(row.status, 0) + 1
    return found


def _mean(values: Sequence[float]) -> float | None:
    return round(sum(values) / len(values), 4) if values else None


def _rounded(value: Fraction | None) -> float | None:
    return None if value is None else round_half_up(value, 4)
