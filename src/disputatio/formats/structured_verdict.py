"""The verdict of a structured debate: the argument trace table, the totals, and the agreed points.

Code computes everything here from the turns. What the judge did not give stays missing: without an adjudication there
is a trace table with computed standings, and no scores.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from disputatio.evidence.citations import CheckedCitation
from disputatio.formats.jury import Case, JuryRules, Ruling
from disputatio.formats.jury_verdict import VOID, ArgumentFinding, JuryVerdict, build_jury_verdict
from disputatio.formats.turns.adjudication import Exhibit
from disputatio.formats.turns.cross_examination import ArgumentStatus, Question, Response, ResponseKind
from disputatio.judging.scoring import Edge, Rubric, classify_gap, format_gap, mean, round_half_up
from disputatio.judging.standing import (
    AgreedPoint,
    Exchange,
    Mark,
    Reply,
    Standing,
    compute_exchange_strength,
    compute_standing,
    find_agreed_points,
    find_worst_mark,
)
from disputatio.kernel import JsonObject


@dataclass(frozen=True, slots=True)
class TraceRow:
    """One argument from its claim to its standing.

    ``found`` is the jury's finding. ``computed`` and ``strength`` follow from the exchange alone. The strength is
    between 0 and 1, with 1/2 as its base.
    """

    argument: str
    side: str
    claim: str
    responses: tuple[Response, ...]
    computed: Standing
    computed_reason: str
    strength: Fraction
    found: ArgumentFinding
    citations: tuple[CheckedCitation, ...] = ()

    @property
    def judged(self) -> Standing | None:
        """The jury's standing; None where there is none."""
        return self.found.standing

    @property
    def scores(self) -> Mapping[str, float] | None:
        """Points by criterion; None where no finding counts."""
        return self.found.scores

    @property
    def score(self) -> Fraction | None:
        """The weighted score, 1 to 10; None where no finding counts."""
        return self.found.score

    @property
    def differs(self) -> bool:
        """Whether the judged and the computed standing differ."""
        return self.judged is not None and self.judged is not self.computed

    def score_json(self) -> JsonObject:
        """Return what the score fact of this row records."""
        return {
            "side": self.side,
            "criteria": self.found.scores,
            "weighted": None if self.score is None else round_half_up(self.score, 4),
            "judged": self.judged and self.judged.value,
            "found": self.found.result,
            "void": self.found.void,
            "judges": {row.judge: row.result for row in self.found.judges},
            "computed": self.computed.value,
            "strength": round_half_up(self.strength, 4),
            "differs": self.differs,
        }

    def as_json(self) -> JsonObject:
        """Return the whole row."""
        return {
            "id": self.argument,
            "claim": self.claim,
            **self.score_json(),
            "citations": [row.as_json() for row in self.citations],
            "drew": [
                {
                    "response": row.kind.value,
                    "reasoning": row.reasoning,
                    "questions": [q.text for q in row.questions],
                    "answers": [self.found.answer_json(_answer_id(q)) for q in row.questions],
                    "citations": [cited.as_json() for cited in row.citations],
                }
                for row in self.responses
            ],
            "judged_reason": self.found.reason,
            "computed_reason": self.computed_reason,
            "findings": list(self.found.notes),
            "fallacies": [
                {"fallacy": row.fallacy.value, "words": row.words, "quoted": row.quoted, "in": row.place}
                for row in self.found.fallacies
            ],
            "irregular": [
                {"breach": row.breach.value, "words": row.words, "quoted": row.quoted, "in": row.place}
                for row in self.found.irregular
            ],
        }


@dataclass(frozen=True, slots=True)
class StructuredVerdict:
    """The outcome of a structured debate. Totals are exact means, None where nothing was scored."""

    trace: tuple[TraceRow, ...]
    pro_total: Fraction | None
    con_total: Fraction | None
    agreed: tuple[AgreedPoint, ...]
    bench: JuryVerdict

    @property
    def gap(self) -> Fraction | None:
        """Pro's total minus con's, by the panel's method where there is a panel; None unless both have a total."""
        if self.bench.panel is not None:
            return self.bench.panel.gap
        if self.pro_total is None or self.con_total is None:
            return None
        return self.pro_total - self.con_total

    @property
    def reading(self) -> str:
        """The gap in words, or why there is none; the panel's verdict where there is a panel."""
        if self.bench.panel is not None:
            return self.bench.reading
        gap = self.gap
        if gap is None:
            return f"no comparison: {self._incomparable}"
        kind = classify_gap(gap)
        if kind is Edge.EVEN:
            return f"{kind.value} (gap {format_gap(gap)})"
        return f"{kind.value} for {'pro' if gap > 0 else 'con'} (gap {format_gap(gap)})"

    @property
    def _incomparable(self) -> str:
        if not self.judged:
            return "nothing was judged"
        if any(row.found.result == VOID for row in self.trace):
            return "every finding on one side is void"
        return "one side has no arguments"

    @property
    def key_insight(self) -> str:
        """That of the first judge with a ruling; empty without one."""
        return next((row.key_insight for _, row in self.bench.opinions), "")

    @property
    def unresolved_questions(self) -> tuple[str, ...]:
        """Those of every judge with a ruling, each once."""
        asked = (question for _, row in self.bench.opinions for question in row.unresolved_questions)
        return tuple(dict.fromkeys(asked))

    @property
    def recommendation(self) -> str:
        """That of the first judge with a ruling; empty without one."""
        return next((row.recommendation for _, row in self.bench.opinions), "")

    @property
    def judged(self) -> bool:
        """Whether a judge gave a ruling; void findings count."""
        return bool(self.bench.opinions)

    def summary_json(self) -> JsonObject:
        """Return the totals and the reading."""
        totals = {"pro": self.pro_total, "con": self.con_total}
        return {
            "totals": {side: None if total is None else round_half_up(total, 4) for side, total in totals.items()},
            "gap": None if self.gap is None else round_half_up(self.gap, 4),
            "reading": self.reading,
            "agreed": [row.argument for row in self.agreed],
            "rubric": self.bench.rubric.name,
        }

    def as_json(self) -> JsonObject:
        """Return the whole verdict, as the record and the exports keep it."""
        return {
            **self.summary_json(),
            **self.bench.as_json(),
            "format": "structured",
            "judged": self.judged,
            "trace": [row.as_json() for row in self.trace],
            "agreed": [{"id": row.argument, "claim": row.claim, "conceded_by": row.conceded_by} for row in self.agreed],
            "key_insight": self.key_insight,
            "unresolved_questions": list(self.unresolved_questions),
            "recommendation": self.recommendation,
            "measures": "the quality of the argument, not who is right",
        }


def build_exhibits(pro: Case, con: Case) -> tuple[Exhibit, ...]:
    """Return every argument with its responses and its defence, as the judge reads it."""
    return tuple(
        Exhibit(
            argument,
            _drew(argument.id, other),
            answers=_answers(argument.id, own, other),
            hold=_hold_text(argument.id, own),
            others=_said_about(argument.id, own, other),
            position=own.closing.final_position if own.closing else "",
        )
        for own, other in ((pro, con), (con, pro))
        for argument in own.arguments
    )


def build_structured_verdict(
    pro: Case, con: Case, rulings: Sequence[Ruling], judges: Sequence[str], bench: JuryRules, rubric: Rubric
) -> StructuredVerdict:
    """Build the verdict from the turns and the rulings of ``judges``."""
    cases = ((pro, con), (con, pro))
    arguments = {argument.id: str(own.side.seat) for own, _ in cases for argument in own.arguments}
    found = build_jury_verdict(rulings, judges, bench, rubric, arguments)
    trace = tuple(_row(own, other, argument.id, found) for own, other in cases for argument in own.arguments)
    totals = [
        mean([row.score for row in trace if row.side == case.side.seat and row.score is not None])
        if found.panel is None
        else found.panel.totals.get(case.side.seat)
        for case in (pro, con)
    ]
    conceded = [row.target for case in (pro, con) for row in case.responses if row.kind is ResponseKind.CONCEDE]
    claims = [(argument.id, argument.claim, str(other.side.seat)) for own, other in cases for argument in own.arguments]
    withdrawn = [
        row.id for case in (pro, con) for row in case.arguments if case.hold(row.id) is ArgumentStatus.WITHDRAWN
    ]
    return StructuredVerdict(trace, totals[0], totals[1], find_agreed_points(claims, conceded, withdrawn), found)


def _row(own: Case, other: Case, argument: str, found: JuryVerdict) -> TraceRow:
    drew = _drew(argument, other)
    on = found.on(argument)
    replies = tuple(_reply(response, own, on) for response in drew)
    hold = own.hold(argument)
    exchange = Exchange(argument, replies, hold and hold.value)
    computed, reason = compute_standing(exchange)
    (stated,) = (row for row in own.arguments if row.id == argument)
    return TraceRow(
        argument=argument,
        side=own.side.seat,
        claim=stated.claim,
        responses=drew,
        computed=computed,
        computed_reason=reason,
        strength=compute_exchange_strength(exchange),
        found=on,
        citations=stated.citations,
    )


def _said_about(argument: str, own: Case, other: Case) -> tuple[str, ...]:
    """Return the ids of what was said about an argument, the response first; see ``Grounds``."""
    questions = [question for response in _drew(argument, other) for question in response.questions]
    ids = [f"{other.side.prefix} on {argument}"] if _drew(argument, other) else []
    ids += [question.id for question in questions]
    ids += [_answer_id(question) for question in questions if own.answered(question.id)]
    return (*ids, f"{argument}.closing") if own.hold(argument) else tuple(ids)


def _drew(argument: str, other: Case) -> tuple[Response, ...]:
    return tuple(response for response in other.responses if response.target == argument)


def _reply(response: Response, own: Case, found: ArgumentFinding) -> Reply:
    """Return a response with how its questions were answered: the worst answer counts."""
    if not all(own.answered(question.id) for question in response.questions):
        return Reply(response.kind.value, answered=False, mark=Mark.EVADED)
    marks = [found.mark(_answer_id(question)) for question in response.questions]
    return Reply(response.kind.value, answered=True, mark=find_worst_mark(marks))


def _answer_id(question: Question) -> str:
    """Return the id of the answer to ``question``: ``PRO-1.A2`` for ``PRO-1.Q2``."""
    argument, _, number = question.id.rpartition(".Q")
    return f"{argument}.A{number}"


def _answers(argument: str, own: Case, other: Case) -> tuple[tuple[str, str], ...]:
    """Return the answers to the questions about an argument, by id."""
    asked = [question for response in _drew(argument, other) for question in response.questions]
    return tuple((_answer_id(question), text) for question in asked if (text := own.answered(question.id)))


def _hold_text(argument: str, own: Case) -> str:
    """Return what a side finally says of its own argument; empty without a closing."""
    holds = own.closing.holds if own.closing else ()
    return "\n".join(f"{row.argument} {row.hold.value}: {row.because}" for row in holds if row.argument == argument)
