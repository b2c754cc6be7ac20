"""The verdict of a structured debate: the argument trace table, the totals, and what is agreed.

Everything here is worked out by code from the turns. What the judge did not give stays missing: a debate
without an adjudication has a trace table and computed standings, and no scores.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from disputatio.formats.sides import Case
from disputatio.formats.turns.adjudication import Adjudication, Exhibit, Judgement
from disputatio.formats.turns.closing import Hold
from disputatio.formats.turns.cross_examination import Response, ResponseKind
from disputatio.judging import (
    AgreedPoint,
    Edge,
    Exchange,
    FoundFallacy,
    Reply,
    Rubric,
    Standing,
    agreed_points,
    computed_standing,
    edge,
    mean,
    rounded,
    weighted,
)
from disputatio.kernel import JsonObject


@dataclass(frozen=True, slots=True)
class TraceRow:
    """One argument from its claim to its standing.

    ``judged`` and ``score`` are None where no judge found on it; ``computed`` always follows from the
    exchange.
    """

    argument: str
    side: str
    claim: str
    responses: tuple[Response, ...]
    computed: Standing
    computed_reason: str
    judged: Standing | None
    judged_reason: str
    scores: dict[str, int] | None
    score: Fraction | None
    fallacies: tuple[FoundFallacy, ...]

    @property
    def differs(self) -> bool:
        """Whether the judge's standing and the computed one part."""
        return self.judged is not None and self.judged is not self.computed

    def score_json(self) -> JsonObject:
        """What the record keeps of this row."""
        return {
            "side": self.side,
            "criteria": self.scores,
            "weighted": None if self.score is None else rounded(self.score, 4),
            "judged": self.judged and self.judged.value,
            "computed": self.computed.value,
            "differs": self.differs,
        }

    def as_json(self) -> JsonObject:
        """The whole row."""
        return {
            "id": self.argument,
            "claim": self.claim,
            **self.score_json(),
            "drew": [
                {
                    "response": row.kind.value,
                    "reasoning": row.reasoning,
                    "questions": [q.text for q in row.questions],
                }
                for row in self.responses
            ],
            "judged_reason": self.judged_reason,
            "computed_reason": self.computed_reason,
            "fallacies": [
                {"fallacy": row.fallacy.value, "words": row.words, "quoted": row.quoted} for row in self.fallacies
            ],
        }


@dataclass(frozen=True, slots=True)
class StructuredVerdict:
    """What came of a structured debate. Totals are exact means, None where nothing was scored."""

    trace: tuple[TraceRow, ...]
    pro_total: Fraction | None
    con_total: Fraction | None
    agreed: tuple[AgreedPoint, ...]
    key_insight: str
    unresolved_questions: tuple[str, ...]
    recommendation: str
    rubric: str

    @property
    def gap(self) -> Fraction | None:
        """Pro's total less con's; None unless both sides have one."""
        if self.pro_total is None or self.con_total is None:
            return None
        return self.pro_total - self.con_total

    @property
    def reading(self) -> str:
        """The gap in words, or why there is none."""
        gap = self.gap
        if gap is None:
            return "no comparison: " + ("nothing was judged" if not self.judged else "one side has no arguments")
        kind = edge(gap)
        if kind is Edge.EVEN:
            return f"{kind.value} (gap {abs(rounded(gap)):.2f})"
        return f"{kind.value} for {'pro' if gap > 0 else 'con'} (gap {abs(rounded(gap)):.2f})"

    @property
    def judged(self) -> bool:
        """Whether a judge found on the arguments."""
        return any(row.judged is not None for row in self.trace)

    def summary_json(self) -> JsonObject:
        """The totals and the reading."""
        totals = {"pro": self.pro_total, "con": self.con_total}
        return {
            "totals": {side: None if total is None else rounded(total, 4) for side, total in totals.items()},
            "gap": None if self.gap is None else rounded(self.gap, 4),
            "reading": self.reading,
            "agreed": [row.argument for row in self.agreed],
            "rubric": self.rubric,
        }

    def as_json(self) -> JsonObject:
        """The whole verdict, as the record and the exports keep it."""
        return {
            **self.summary_json(),
            "format": "structured",
            "judged": self.judged,
            "trace": [row.as_json() for row in self.trace],
            "agreed": [{"id": row.argument, "claim": row.claim, "conceded_by": row.conceded_by} for row in self.agreed],
            "key_insight": self.key_insight,
            "unresolved_questions": list(self.unresolved_questions),
            "recommendation": self.recommendation,
            "measures": "the quality of the argument, not who is right",
        }


def exhibits(pro: Case, con: Case) -> tuple[Exhibit, ...]:
    """Every argument with what it drew and how it was defended, as the judge finds on it."""
    return tuple(
        Exhibit(argument, _drew(argument.id, other), _defence_text(argument.id, own, other))
        for own, other in ((pro, con), (con, pro))
        for argument in own.arguments
    )


def verdict(pro: Case, con: Case, adjudication: Adjudication | None, rubric: Rubric) -> StructuredVerdict:
    """Put together the verdict from what was said and found."""
    found = {row.argument: row for row in adjudication.judgements} if adjudication else {}
    trace = tuple(
        _row(own, other, argument.id, argument.claim, found.get(argument.id), rubric)
        for own, other in ((pro, con), (con, pro))
        for argument in own.arguments
    )
    totals = [
        mean([row.score for row in trace if row.side == case.side.seat and row.score is not None])
        for case in (pro, con)
    ]
    conceded = [row.target for case in (pro, con) for row in case.responses if row.kind is ResponseKind.CONCEDE]
    claims = [
        (argument.id, argument.claim, str(other.side.seat))
        for own, other in ((pro, con), (con, pro))
        for argument in own.arguments
    ]
    withdrawn = [row.id for case in (pro, con) for row in case.arguments if case.hold(row.id) is Hold.WITHDRAWN]
    return StructuredVerdict(
        trace,
        totals[0],
        totals[1],
        agreed_points(claims, conceded, withdrawn),
        adjudication.key_insight if adjudication else "",
        adjudication.unresolved_questions if adjudication else (),
        adjudication.recommendation if adjudication else "",
        rubric.name,
    )


def _row(own: Case, other: Case, argument: str, claim: str, finding: Judgement | None, rubric: Rubric) -> TraceRow:
    drew = _drew(argument, other)
    replies = tuple(
        Reply(response.kind.value, all(own.answered(question.id) for question in response.questions))
        for response in drew
    )
    hold = own.hold(argument)
    computed, reason = computed_standing(Exchange(argument, replies, hold and hold.value))
    return TraceRow(
        argument=argument,
        side=own.side.seat,
        claim=claim,
        responses=drew,
        computed=computed,
        computed_reason=reason,
        judged=finding.standing if finding else None,
        judged_reason=finding.reason if finding else "",
        scores=finding.scores if finding else None,
        score=weighted(finding.scores, rubric) if finding else None,
        fallacies=finding.fallacies if finding else (),
    )


def _drew(argument: str, other: Case) -> tuple[Response, ...]:
    return tuple(response for response in other.responses if response.target == argument)


def _defence_text(argument: str, own: Case, other: Case) -> str:
    if own.closing is None:
        return ""
    mine = {question.id for question in own.questions_from(other) if question.id.startswith(f"{argument}.")}
    lines = [f"Answer to {row.question}: {row.text}" for row in own.closing.answers if row.question in mine]
    lines += [
        f"{row.argument} {row.hold.value}: {row.because}" for row in own.closing.holds if row.argument == argument
    ]
    return "\n".join(lines)
