"""The result of each format as typed values. Tell them apart with ``isinstance`` or ``match``.

    match result.verdict:
        case PanelVerdict(decision=decision): ...
        case StructuredVerdict(leader=leader): ...

All of them are read from the readings that every surface shows. What a record does not have is None or empty.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from disputatio.kernel import JsonObject
from disputatio.report.custom_format import is_own_outcome
from disputatio.report.doubts import contradiction, leader
from disputatio.report.judges import Opinion
from disputatio.report.market import AnalystLine, MarketReading, is_market, market_reading
from disputatio.report.match import MatchReading, PenaltyReading, Scored, SpeechReading, match_reading
from disputatio.report.panel import CountReading, DebaterReading, PanelReading, panel_reading
from disputatio.report.reading import DebateReport
from disputatio.report.review import CriticismReading, ReviewReading, review_reading
from disputatio.report.verdict import AgreedLine, StructuredReading, five_headings, structured_reading


@dataclass(frozen=True, slots=True, kw_only=True)
class StructuredVerdict:
    """The verdict of a debate with arguments, responses and one or several judges.

    Attributes:
        judged: whether the debate was judged.
        reading: the totals in words. They rate how the sides argued, not who is right.
        totals: the total of each side, on the scale of the rubric; None where a side has none.
        leader: the side with the higher total; None where the reading calls the sides evenly matched, or has no totals.
        contradicted_by: what the course of the debate says against the totals; empty where it says nothing.
        recommendation: what the judge recommends; None where it does not.
        key_insight: what the judge calls the core of the debate; empty if it was not judged.
        agreed: the points that one side conceded and the other holds.
        unresolved: the questions that the judge leaves open.
        judges: every registered judge.
        opinions: what each judge that was heard says of the whole debate.
        differing: the arguments on which the judges' standing and the computed one part, by their ids.
    """

    judged: bool
    reading: str
    totals: Mapping[str, float | None]
    leader: str | None
    contradicted_by: str
    recommendation: str | None
    key_insight: str
    agreed: tuple[AgreedLine, ...]
    unresolved: tuple[str, ...]
    judges: tuple[str, ...]
    opinions: tuple[Opinion, ...]
    differing: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class MarketVerdict(StructuredVerdict):
    """The verdict of a market debate. It is no forecast and no advice, see ``disclaimers``.

    Attributes:
        analysts: what came of each analyst.
        subject: what the debate was about.
        as_of: the day up to which the knowledge base knows anything.
        lacks: what the knowledge base lacks.
        disclaimers: what every such result must be shown with.
    """

    analysts: tuple[AnalystLine, ...]
    subject: str
    as_of: str
    lacks: tuple[str, ...]
    disclaimers: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewVerdict(StructuredVerdict):
    """The verdict of a review: a proposition, its criticisms and what became of them.

    Attributes:
        synthesis: the moderator's result; empty where no round was moderated.
        confidence: the moderator's own word for its confidence; empty where no round was moderated.
        criticisms: every criticism that was not withdrawn, with its outcome.
        conceded: the criticisms that the rebutter conceded, by their ids.
        challenge_strength: how strong the challenge was, 0 to 10; None if it was not measured.
        weak_challenge: whether it was hardly challenged: then it is no evidence that the decision holds.
        uncertainties: what the moderator calls uncertain.
        rounds: the number of rounds.
        stopped_by: the record's word for why there was no further round.
    """

    synthesis: str
    confidence: str
    criticisms: tuple[CriticismReading, ...]
    conceded: tuple[str, ...]
    challenge_strength: int | None
    weak_challenge: bool
    uncertainties: tuple[str, ...]
    rounds: int
    stopped_by: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PanelVerdict:
    """The decision of a panel.

    Attributes:
        decision: the option that was decided, ``escalate`` included; None where the vote decided nothing.
        reading: the decision in a sentence.
        rule: the decision rule in words.
        options: what could be voted for.
        tally: the last count, by option; 0 for an option without votes.
        counts: the count after every phase, with every ballot.
        debaters: what each debater did.
        findings: what goes back to the author: debater, stance and reason.
        escalates: whether the panel hands the decision over.
    """

    decision: str | None
    reading: str
    rule: str
    options: tuple[str, ...]
    tally: Mapping[str, int]
    counts: tuple[CountReading, ...]
    debaters: tuple[DebaterReading, ...]
    findings: tuple[tuple[str, str, str], ...]
    escalates: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class CompetitionVerdict:
    """The result of a competition.

    Attributes:
        winner: ``pro``, ``con`` or ``draw``; None if it is not known.
        reading: the result in a sentence.
        best: the best debater in a few words.
        judged: whether the judge scored anything.
        teams: the totals of the two teams.
        debaters: those of the debaters.
        speeches: every speech with its clock, score, fouls and penalties.
        penalties: every penalty.
        notes: what is missing or uneven, in sentences.
    """

    winner: str | None
    reading: str
    best: str
    judged: bool
    teams: tuple[Scored, ...]
    debaters: tuple[Scored, ...]
    speeches: tuple[SpeechReading, ...]
    penalties: tuple[PenaltyReading, ...]
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class FreeformVerdict:
    """What the judge of a free-form debate wrote, under its five headings; ``headings`` has titles and texts."""

    recommendation: str | None
    headings: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class SingleVerdict:
    """A baseline without a debate: the answer that most samples gave, and how many gave each."""

    answer: str | None
    tally: Mapping[str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class CustomVerdict:
    """What rules of the user's own returned. ``values`` is all of it, as plain JSON."""

    winner: str | None
    reading: str
    values: JsonObject


@dataclass(frozen=True, slots=True, kw_only=True)
class StatedVerdict:
    """The result that the transcript of an imported debate states, as plain JSON. It was not judged here."""

    values: JsonObject


Verdict: TypeAlias = (
    StructuredVerdict
    | MarketVerdict
    | ReviewVerdict
    | PanelVerdict
    | CompetitionVerdict
    | FreeformVerdict
    | SingleVerdict
    | CustomVerdict
    | StatedVerdict
)


def verdict_of(report: DebateReport) -> Verdict | None:
    """The verdict of a debate; None where its record has none, or none of a kind that is known here."""
    outcome = report.outcome
    if report.imported is not None:
        return StatedVerdict(values=outcome) if outcome else None
    if is_own_outcome(outcome):
        winner, values = outcome.get("winner"), outcome.get("result")
        return CustomVerdict(
            winner=None if winner is None else str(winner),
            reading=str(outcome.get("reading") or ""),
            values=values if isinstance(values, Mapping) else {},
        )
    if (structured := structured_reading(report)) is not None:
        return _structured(report, structured)
    if (panel := panel_reading(report)) is not None:
        return _panel(panel)
    if (match := match_reading(report)) is not None:
        return _competition(match)
    if (headings := five_headings(report)) is not None:
        return FreeformVerdict(recommendation=str(outcome.get("recommendation") or "") or None, headings=headings)
    return _single(outcome) if outcome.get("format") == "single" else None


def _structured(report: DebateReport, verdict: StructuredReading) -> StructuredVerdict:
    shared: dict[str, Any] = {
        "judged": verdict.judged,
        "reading": verdict.reading,
        "totals": verdict.totals,
        "leader": leader(verdict),
        "contradicted_by": contradiction(report),
        "recommendation": verdict.recommendation or None,
        "key_insight": verdict.key_insight,
        "agreed": verdict.agreed,
        "unresolved": verdict.unresolved,
        "judges": verdict.jury.judges,
        "opinions": verdict.jury.opinions,
        "differing": verdict.differing,
    }
    market, review = market_reading(report), review_reading(report)
    if market is not None and is_market(report.outcome):
        return _market(market, shared)
    return StructuredVerdict(**shared) if review is None else _review(review, shared)


def _market(market: MarketReading, shared: Mapping[str, Any]) -> MarketVerdict:
    return MarketVerdict(
        **shared,
        analysts=market.analysts,
        subject=market.subject,
        as_of=market.day,
        lacks=market.lacks,
        disclaimers=market.disclaimers,
    )


def _review(review: ReviewReading, shared: Mapping[str, Any]) -> ReviewVerdict:
    return ReviewVerdict(
        **shared,
        synthesis=review.synthesis,
        confidence=review.confidence,
        criticisms=review.criticisms,
        conceded=review.conceded,
        challenge_strength=review.challenge_strength,
        weak_challenge=review.weak_challenge,
        uncertainties=review.uncertainties,
        rounds=review.rounds,
        stopped_by=review.stopped_by,
    )


def _panel(panel: PanelReading) -> PanelVerdict:
    last = panel.counts[-1].tally if panel.counts else {}
    return PanelVerdict(
        decision=panel.decision or None,
        reading=panel.sentence,
        rule=panel.rule_text,
        options=panel.options,
        tally={option: last.get(option, 0) for option in dict.fromkeys((*panel.options, *last))},
        counts=panel.counts,
        debaters=panel.debaters,
        findings=panel.findings,
        escalates=panel.escalates,
    )


def _competition(match: MatchReading) -> CompetitionVerdict:
    return CompetitionVerdict(
        winner=match.winner or None,
        reading=match.sentence,
        best=match.best,
        judged=match.judged,
        teams=match.teams,
        debaters=match.debaters,
        speeches=match.speeches,
        penalties=match.penalties,
        notes=match.notes,
    )


def _single(outcome: Mapping[str, Any]) -> SingleVerdict:
    winner, tally = outcome.get("winner"), outcome.get("tally")
    return SingleVerdict(
        answer=None if winner is None else str(winner),
        tally={str(key): value for key, value in tally.items() if isinstance(value, int)}
        if isinstance(tally, Mapping)
        else {},
    )
