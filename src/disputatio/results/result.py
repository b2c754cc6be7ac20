"""A result as typed values, read from the report that every surface is made from. Nothing is worked out a second time.

``Result.of(report)`` works for whatever ending the record has, and for a record that was opened from a store later.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from typing import Any, NamedTuple

from disputatio.report.doubts import Doubt
from disputatio.report.judges import JuryReading
from disputatio.report.market import market_reading
from disputatio.report.match import Scored, match_reading
from disputatio.report.movement import side_of
from disputatio.report.panel import CountReading, panel_reading
from disputatio.report.reading import DebateReport, Entry, EntryState
from disputatio.report.review import superseded
from disputatio.report.spending import CallReading
from disputatio.report.summary import FirstScreen, first_screen
from disputatio.report.turns.statement import Statement
from disputatio.report.verdict import FallacyLine, StructuredReading, TraceLine, structured_reading
from disputatio.results.values import (
    Argument,
    Call,
    CallState,
    Citation,
    Cost,
    Decision,
    DecisionKind,
    Fallacy,
    Response,
    Score,
    ScoreOf,
    ScoreState,
    Turn,
    TurnState,
    Vote,
    VoteState,
)
from disputatio.results.verdicts import Verdict, verdict_of

_Stated = dict[str, tuple[Statement, ...]]


@dataclass(frozen=True)
class Result:
    """Everything that came of a debate. Each part is read once, when it is first asked for."""

    report: DebateReport

    @cached_property
    def screen(self) -> FirstScreen:
        """The first screen, as every surface shows it."""
        return first_screen(self.report)

    @cached_property
    def decision(self) -> Decision:
        """What the debate came to; false where it came to nothing."""
        screen = self.screen
        return Decision(
            kind=DecisionKind(screen.label),
            text=screen.decision if screen.decided else None,
            missing="" if screen.decided else screen.decision,
            rests_on=screen.rests_on,
            open=screen.open,
            notes=screen.notes,
        )

    @property
    def recommendation(self) -> str | None:
        """The recommendation; None where the debate has none, or where its decision is of another kind."""
        return self.decision.text if self.decision.kind is DecisionKind.RECOMMENDATION else None

    @property
    def doubts(self) -> tuple[Doubt, ...]:
        """Everything that speaks against the result, the worst first; there is always one."""
        return self.screen.doubts

    @cached_property
    def verdict(self) -> Verdict | None:
        """The verdict, of a type for each format; None where the record has none."""
        return verdict_of(self.report)

    @cached_property
    def arguments(self) -> tuple[Argument, ...]:
        """Every argument in the order in which they were made, and every claim of an imported transcript."""
        return _arguments(self.report, self._stated, self._trace)

    @cached_property
    def scores(self) -> tuple[Score, ...]:
        """Every score: of sides, arguments and their criteria, of speeches and debaters; missing ones are there too."""
        return (*_side_scores(self.report, self._trace), *_argument_scores(self.arguments), *_match_scores(self.report))

    @cached_property
    def citations(self) -> tuple[Citation, ...]:
        """Every citation of every turn, with how code found it in the sources."""
        return tuple(
            Citation(
                entry.path,
                entry.seat,
                row.about,
                row.source,
                row.pointer,
                row.said,
                row.words,
                row.status,
                row.why,
            )
            for entry in self.report.turns
            for row in entry.citations
        )

    @cached_property
    def votes(self) -> tuple[Vote, ...]:
        """Every vote of a panel after every phase, and of every one of several judges."""
        return (*_panel_votes(self.report), *_jury_votes(self.report))

    @cached_property
    def cost(self) -> Cost:
        """Calls, tokens, money and time."""
        totals = self.report.totals
        known = not totals.elsewhere
        return Cost(
            calls=totals.calls if known else None,
            answered=totals.answered if known else None,
            failed=totals.failed if known else None,
            lost=totals.lost if known else None,
            input_tokens=totals.input_tokens if totals.calls or not known else 0,
            output_tokens=totals.output_tokens if totals.calls or not known else 0,
            cached_tokens=totals.cached_tokens,
            reasoning_tokens=totals.reasoning_tokens,
            tokens_complete=known and not totals.uncounted,
            usd=totals.usd if totals.calls or not known else Decimal(0),
            usd_complete=known and not totals.unpriced,
            seconds=totals.seconds,
            text=totals.line,
        )

    @cached_property
    def turns(self) -> tuple[Turn, ...]:
        """Every turn that was asked for, in the order of the asks, those that did not come included."""
        return tuple(_turn(number, row, self._stated) for number, row in enumerate(self.report.entries, start=1))

    @cached_property
    def calls(self) -> tuple[Call, ...]:
        """Every call to a model in the order in which they left."""
        return tuple(map(_call, self.report.calls))

    @cached_property
    def _trace(self) -> StructuredReading | None:
        return structured_reading(self.report)

    @cached_property
    def _stated(self) -> _Stated:
        """The statements of each turn, by its path."""
        questions = self.report.questions
        return {row.path: row.statements(questions) for row in self.report.turns}


def _arguments(report: DebateReport, stated: _Stated, verdict: StructuredReading | None) -> tuple[Argument, ...]:
    weaker, made = superseded(report), list[tuple[str, Entry, Statement]]()
    drawn: dict[str, list[Response]] = {}
    owners: dict[str, str] = {}
    for entry in report.turns:
        for row in stated[entry.path] if entry.path not in weaker else ():
            kind, about = entry.kind.place(row)
            if kind in {"argument", "claim"}:
                made.append((about, entry, row))
            elif kind == "response":
                drawn.setdefault(about, []).append(Response(entry.seat, row.word, row.lead))
            elif kind == "hold":
                owners[about] = row.word
            if kind == "argument" and " against " in row.word:
                attack, _, target = row.word.partition(" against ")
                drawn.setdefault(target, []).append(Response(entry.seat, attack, row.lead))
    trace = {row.id: row for row in verdict.trace} if verdict else {}
    conceded = {row.id: row.conceded_by for row in verdict.agreed} if verdict else {}
    unscored = _why_unscored(report, verdict)
    found = []
    for name, entry, row in made:
        around = _Around(tuple(drawn.get(name, ())), owners.get(name), conceded.get(name), unscored)
        found.append(_argument(name, entry.seat, entry.path, row, trace.pop(name, None), around))
    # A record of another version may have arguments whose turns are not understood here.
    for name, seen in trace.items():
        around = _Around(tuple(drawn.get(name, ())), owners.get(name), conceded.get(name), unscored)
        found.append(_argument(name, seen.side, "", Statement(name, lead=seen.claim), seen, around))
    return tuple(found)


class _Around(NamedTuple):
    """What others say of an argument, and why it has no score where it has none."""

    responses: tuple[Response, ...]
    owner: str | None
    conceded: str | None
    unscored: ScoreState


def _argument(name: str, seat: str, turn: str, said: Statement, seen: TraceLine | None, around: _Around) -> Argument:
    score = seen.score if seen else None
    void = bool(seen and seen.judged == "VOID")
    return Argument(
        id=name,
        seat=seat,
        side=side_of(seat),
        turn=turn,
        claim=said.lead,
        case=said.points,
        owner=around.owner,
        judged=seen.judged if seen else None,
        computed=(seen.computed or None) if seen else None,
        strength=seen.strength if seen else None,
        score=score,
        score_state=ScoreState.GIVEN if score is not None else ScoreState.VOID if void else around.unscored,
        criteria=dict(seen.criteria) if seen else {},
        conceded_by=around.conceded or None,
        responses=around.responses,
        fallacies=tuple(map(_fallacy, seen.fallacies)) if seen else (),
        void=seen.void if seen else "",
    )


def _fallacy(row: FallacyLine) -> Fallacy:
    return Fallacy(row.name, row.words, row.quoted)


def _why_unscored(report: DebateReport, verdict: StructuredReading | None) -> ScoreState:
    """Why what has no score has none."""
    if report.imported is not None:
        return ScoreState.UNKNOWN
    return ScoreState.MISSING if verdict is not None and verdict.judged else ScoreState.NOT_JUDGED


def _side_scores(report: DebateReport, verdict: StructuredReading | None) -> Iterable[Score]:
    if verdict is not None:
        missing = _why_unscored(report, verdict)
        for side, total in verdict.totals.items():
            yield _score(ScoreOf.SIDE, side, side_of(side), total, missing)
    market = market_reading(report)
    for row in market.analysts if market else ():
        missing = ScoreState.MISSING if report.outcome.get("judged") else ScoreState.NOT_JUDGED
        yield _score(ScoreOf.DEBATER, row.seat, row.side or side_of(row.seat), row.score, missing)


def _score(of: ScoreOf, about: str, side: str, value: float | None, missing: ScoreState) -> Score:
    return Score(of, about, side, "", value, missing if value is None else ScoreState.GIVEN)


def _argument_scores(arguments: Iterable[Argument]) -> Iterable[Score]:
    for row in arguments:
        yield Score(ScoreOf.ARGUMENT, row.id, row.side, "", row.score, row.score_state)
        for key, points in row.criteria.items():
            yield Score(ScoreOf.CRITERION, row.id, row.side, key, float(points), ScoreState.GIVEN)


def _match_scores(report: DebateReport) -> Iterable[Score]:
    match = match_reading(report)
    if match is None:
        return
    missing = ScoreState.MISSING if match.judged else ScoreState.NOT_JUDGED
    for of, rows in ((ScoreOf.SIDE, match.teams), (ScoreOf.DEBATER, match.debaters)):
        for row in rows:
            yield _score(of, row.who, _team(row), row.total, missing)
    for speech in match.speeches:
        yield _score(ScoreOf.SPEECH, speech.id, _team_of(speech.seat), speech.score, missing)


def _team(row: Scored) -> str:
    return _team_of(row.who)


def _team_of(seat: str) -> str:
    """``con`` of ``con_2``."""
    return seat.partition("_")[0]


def _panel_votes(report: DebateReport) -> Iterable[Vote]:
    panel = panel_reading(report)
    # A debate that did not come to its end has the counts of the phases it did come through.
    counted = [CountReading.of(row.body) for row in report.facts if row.kind == "VoteCounted"]
    counts = panel.counts if panel else [row for row in counted if row is not None]
    for number, count in enumerate(counts, start=1):
        for row in count.ballots:
            state = VoteState.KEPT if row.kept else VoteState.CAST
            yield Vote(
                body="panel",
                count=number,
                after=count.after,
                voter=row.voter,
                option=row.vote or None,
                state=state if row.vote else VoteState.MISSING,
                reason=row.why,
                last=number == len(counts),
            )


def _jury_votes(report: DebateReport) -> Iterable[Vote]:
    for row in _rows(JuryReading.of(report.outcome).panel.get("judges")):
        heard = bool(row.get("heard"))
        yield _juror(row, row.get("verdict") if heard else None, str(row.get("failure") or ""))
    for fact in report.facts if report.imported is not None else ():
        for row in _rows(fact.body.get("judges")):
            yield _juror(row, row.get("winner"), "" if row.get("winner") else "the transcript names no winner")


def _juror(row: Mapping[str, Any], option: Any, reason: str) -> Vote:
    voted = VoteState.CAST if option else VoteState.MISSING
    return Vote("jury", 1, "", str(row.get("judge") or ""), str(option) if option else None, voted, reason, last=True)


def _rows(value: Any) -> list[Mapping[str, Any]]:
    return [row for row in value if isinstance(row, Mapping)] if isinstance(value, list | tuple) else []


def _turn(number: int, entry: Entry, stated: _Stated) -> Turn:
    said = stated.get(entry.path, ())
    lines = [" ".join(filter(None, (row.mark and f"{row.mark}:", row.word, *row.texts))) for row in said]
    taken = entry.state is EntryState.TAKEN
    return Turn(
        number=number,
        path=entry.path,
        seat=entry.seat,
        phase=entry.phase,
        form=entry.form,
        state=TurnState(entry.state.value),
        text="\n".join(lines) if taken else None,
        asked=entry.asked,
        rejected=len(entry.rejections),
        violations=tuple(str(row.get("rule") or "") for row in entry.broken),
        citations=len(entry.citations),
        repaired=entry.repaired,
        reason=entry.reason,
        detail=entry.detail,
    )


def _call(row: CallReading) -> Call:
    sent, made = row.sent, row.made
    return Call(
        id=sent.call,
        turn=sent.path,
        part=sent.part,
        seat=sent.seat,
        model=sent.model,
        served_model=made.served_model if made else None,
        mode=sent.mode,
        state=CallState(row.state),
        fault=made.fault if made else "",
        input_tokens=row.tokens("input_tokens"),
        output_tokens=row.tokens("output_tokens"),
        cached_tokens=row.tokens("cached_tokens"),
        reasoning_tokens=row.tokens("reasoning_tokens"),
        usd=row.usd,
        usd_basis=row.basis,
        latency_ms=made.latency_ms if made else None,
    )
