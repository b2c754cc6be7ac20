"""The two sides of a debate, what each has said, and the judges.

The rules of the jury
    1. Every judge reads the whole debate and judges alone: no judge reads another.
    2. With both orders, each judges twice, once with either side shown first. The sides then have neutral names: the
       one shown first is Side A, its arguments are A-1, A-2 and so on.
    3. With a retest, each judges once more in the first order. The retest is compared and counts for nothing.
    4. A judge that fails is named with the reason, and stays in the denominator.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TypeVar

from disputatio.formats.turns.adjudication import Adjudication, AdjudicationSpec, Exhibit, Grounds, Irregularity
from disputatio.formats.turns.cross_examination import (
    ArgumentStatus,
    Closing,
    CrossExamination,
    Question,
    Response,
    ResponseKind,
)
from disputatio.formats.turns.opening import Argument, Opening
from disputatio.judging.blinding import Blinding, blind
from disputatio.judging.fallacies import FoundFallacy
from disputatio.judging.panel_verdict import PanelMethod
from disputatio.judging.scoring import Rubric
from disputatio.kernel import Limits, Message, Phase, Rulebook, Seat, Task, Transcript, ask, together

JUDGE = Seat("judge")


@dataclass(frozen=True, slots=True)
class Side:
    """For or against the motion. ``prefix`` numbers its arguments."""

    seat: Seat
    prefix: str
    stance: str

    def words(self) -> dict[str, str]:
        """Return what prompts say of the side and its task."""
        other = "con" if self.seat == "pro" else "pro"
        point, quality = ("benefit", "a good idea") if self.seat == "pro" else ("problem", "a bad idea")
        return {
            "side": self.seat.upper(),
            "stance": self.stance,
            "opponent": other.upper(),
            "point": point,
            "quality": quality,
        }


PRO = Side(Seat("pro"), "PRO", "for")
CON = Side(Seat("con"), "CON", "against")


@dataclass(frozen=True, slots=True)
class Case:
    """The turns of one side; None where it has not spoken or abstained."""

    side: Side
    opening: Opening | None = None
    examination: CrossExamination | None = None
    closing: Closing | None = None

    def after(self, *, examination: CrossExamination | None = None, closing: Closing | None = None) -> Case:
        """Return the case with one more turn."""
        return Case(self.side, self.opening, examination or self.examination, closing or self.closing)

    @property
    def arguments(self) -> tuple[Argument, ...]:
        """Its arguments; none where it abstained from the opening."""
        return self.opening.arguments if self.opening else ()

    @property
    def argument_ids(self) -> str:
        """The ids of its arguments, separated by commas."""
        return ", ".join(argument.id for argument in self.arguments)

    @property
    def responses(self) -> tuple[Response, ...]:
        """Its responses to the other side's arguments."""
        return self.examination.responses if self.examination else ()

    def questions_from(self, other: Case) -> tuple[Question, ...]:
        """Return the questions that ``other`` put to this side."""
        return tuple(question for response in other.responses for question in response.questions)

    def conceded_of(self, other: Case) -> tuple[Argument, ...]:
        """Return the arguments of ``other`` that this side conceded, in whole or in part."""
        accepted = {ResponseKind.CONCEDE, ResponseKind.PARTIAL}
        targets = {response.target for response in self.responses if response.kind in accepted}
        return tuple(argument for argument in other.arguments if argument.id in targets)

    def hold(self, argument: str) -> ArgumentStatus | None:
        """Return the final status it gave its own ``argument``; None without a closing."""
        if self.closing is None:
            return None
        return next((row.hold for row in self.closing.holds if row.argument == argument), None)

    def answered(self, question: str) -> str | None:
        """Return its answer to ``question``; None where it gave none."""
        answers = self.closing.answers if self.closing else ()
        return next((answer.text for answer in answers if answer.question == question), None)


JUDGING = Phase("judging")
_NEUTRAL = (
    " The sides are called Side A and Side B here, by the order in which they are shown; their arguments are A-1, B-1 "
    "and so on, and the response to A-1 is Side B on A-1. The order says nothing of who is right."
)
FindingT = TypeVar("FindingT", FoundFallacy, Irregularity)
SIDES = (str(PRO.seat), str(CON.seat))


@dataclass(frozen=True, slots=True)
class JuryRules:
    """How the judges judge, and how their rulings are combined.

    Attributes:
        both_orders: each judges with either side shown first; a win must survive the swap.
        anonymous: the sides have neutral names, as they always have in both orders.
        retest: each judges once more, for comparison.
        method: how several judges are combined.
        weights: of the judges; for the weighted methods only.
        dead_zone: in points; a smaller gap is a tie.
    """

    both_orders: bool = False
    anonymous: bool = False
    retest: bool = False
    method: PanelMethod = PanelMethod.MEAN
    weights: tuple[tuple[str, Fraction], ...] = ()
    dead_zone: Fraction = Fraction(0)

    @property
    def hides_sides(self) -> bool:
        """Whether the judges are shown neutral names."""
        return self.both_orders or self.anonymous

    @property
    def sessions(self) -> tuple[Session, ...]:
        """The sessions of every judge."""
        first = Session(SIDES, hides_sides=self.hides_sides)
        other = (replace(first, order=(SIDES[1], SIDES[0])),) if self.both_orders else ()
        again = (replace(first, again=True),) if self.retest else ()
        return (first, *other, *again)


@dataclass(frozen=True, slots=True)
class Session:
    """One reading of the debate: which side is shown first, under which names, and whether it is a retest."""

    order: tuple[str, str]
    hides_sides: bool = False
    again: bool = False

    @property
    def name(self) -> str:
        """Its branch name in paths; empty for the only session of an ordinary judging."""
        words = [f"{self.order[0]}-first"] if self.hides_sides else []
        return "-".join([*words, *(["again"] if self.again else [])])

    def blinding(self, exhibits: Sequence[Exhibit]) -> Blinding | None:
        """Return the neutral names, or None where the sides keep their own."""
        if not self.hides_sides:
            return None
        ids = {
            str(side.seat): [row.argument.id for row in exhibits if row.argument.id.startswith(f"{side.prefix}-")]
            for side in (PRO, CON)
        }
        return blind(self.order, ids, {str(side.seat): [side.prefix] for side in (PRO, CON)})


@dataclass(frozen=True, slots=True)
class Ruling:
    """The adjudication of one judge in one session, with the real names; the failure where there is none."""

    judge: str
    session: Session
    adjudication: Adjudication | None
    failure: str = ""


def collect_rulings(
    judges: Sequence[Seat],
    rules: JuryRules,
    exhibits: tuple[Exhibit, ...],
    transcript: Transcript,
    rubric: Rubric,
    limits: Limits,
) -> Rulebook[tuple[Ruling, ...]]:
    """Ask every judge in every session, all in parallel."""
    branches = {
        session.name: _run_session(judges, session, exhibits, transcript, rubric, limits) for session in rules.sessions
    }
    plain = [branches.pop("")] if "" in branches else []
    heard = yield from together(*plain, **branches)
    return tuple(ruling for session in heard for ruling in session)


def _run_session(
    judges: Sequence[Seat],
    session: Session,
    exhibits: tuple[Exhibit, ...],
    transcript: Transcript,
    rubric: Rubric,
    limits: Limits,
) -> Rulebook[tuple[Ruling, ...]]:
    blinding = session.blinding(exhibits)
    shown = _blind_exhibits(exhibits, session, blinding)
    heard: tuple[Ruling, ...] = yield from together(
        *(_ask_judge(judge, session, AdjudicationSpec(shown, rubric), blinding, transcript, limits) for judge in judges)
    )
    return heard


def _ask_judge(
    judge: Seat,
    session: Session,
    spec: AdjudicationSpec,
    blinding: Blinding | None,
    transcript: Transcript,
    limits: Limits,
) -> Rulebook[Ruling]:
    turn = yield from ask(
        judge,
        JUDGING,
        spec=spec,
        task=Task("judging", spec.task_values() | ({"sides": _NEUTRAL} if blinding else {})),
        messages=_blind_messages(transcript.visible_to(judge), session, blinding),
        limits=limits,
    )
    if not isinstance(turn, Adjudication):
        return Ruling(judge, session, None, turn.detail or turn.reason)
    return Ruling(judge, session, turn if blinding is None else _reveal_adjudication(turn, session.order))


def make_revealer(order: tuple[str, str], arguments: Iterable[str]) -> Callable[[str], str]:
    """Return a function that puts the real names back into what a judge said under neutral names.

    Args:
        order: the sides, the one shown first first.
        arguments: the neutral ids of the arguments.
    """
    prefixes = [side.prefix for seat in order for side in (PRO, CON) if side.seat == seat]
    letters = dict(zip("AB", prefixes, strict=True))
    # Both numberings count a side's arguments from 1, so A-2 is the second argument of the side shown first.
    ids = tuple((f"{letters[neutral[:1]]}{neutral[1:]}", neutral) for neutral in arguments if neutral[:1] in letters)
    names = tuple((prefix, f"Side {letter}") for letter, prefix in letters.items())
    return Blinding(order, names, ids, ()).reveal


def _reveal_adjudication(turn: Adjudication, order: tuple[str, str]) -> Adjudication:
    """Return the adjudication with the real names."""
    named = [name for row in turn.judgements for name in (row.argument, *row.grounds.invented)]
    reveal = make_revealer(order, dict.fromkeys(named))
    judgements = tuple(
        replace(
            row,
            argument=reveal(row.argument),
            reason=reveal(row.reason),
            fallacies=tuple(_reveal_finding(found, reveal) for found in row.fallacies),
            answers=tuple(replace(each, id=reveal(each.id), words=reveal(each.words)) for each in row.answers),
            irregular=tuple(_reveal_finding(each, reveal) for each in row.irregular),
            grounds=Grounds(tuple(map(reveal, row.grounds.named)), tuple(map(reveal, row.grounds.invented))),
        )
        for row in turn.judgements
    )
    return Adjudication(
        judgements,
        reveal(turn.key_insight),
        tuple(map(reveal, turn.unresolved_questions)),
        reveal(turn.recommendation),
    )


def _reveal_finding(found: FindingT, reveal: Callable[[str], str]) -> FindingT:
    """Return a finding with the real names in its words and place."""
    return replace(found, words=reveal(found.words), place=reveal(found.place))


def _blind_messages(messages: Sequence[Message], session: Session, blinding: Blinding | None) -> tuple[Message, ...]:
    """Return the messages phase by phase, those of the side shown first first, under neutral names."""
    if blinding is None:
        return tuple(messages)
    phases = list(dict.fromkeys(message.phase for message in messages))
    place = {side: number for number, side in enumerate(session.order)}
    ranked = sorted(messages, key=lambda message: (phases.index(message.phase), place.get(str(message.seat), -1)))
    names = dict(blinding.names)
    return tuple(
        replace(message, seat=Seat(names.get(str(message.seat), str(message.seat))), text=blinding.hide(message.text))
        for message in ranked
    )


def _blind_exhibits(exhibits: tuple[Exhibit, ...], session: Session, blinding: Blinding | None) -> tuple[Exhibit, ...]:
    """Return the exhibits in the session's order and under its names."""
    if blinding is None:
        return exhibits
    prefixes = {str(side.seat): f"{side.prefix}-" for side in (PRO, CON)}
    ranked = [
        exhibit for side in session.order for exhibit in exhibits if exhibit.argument.id.startswith(prefixes[side])
    ]
    return tuple(_blind_exhibit(exhibit, blinding.hide) for exhibit in ranked)


def _blind_exhibit(exhibit: Exhibit, hide: Callable[[str], str]) -> Exhibit:
    """Return the exhibit with neutral names."""
    argument = exhibit.argument
    return Exhibit(
        replace(
            argument,
            id=hide(argument.id),
            claim=hide(argument.claim),
            reasoning=hide(argument.reasoning),
            evidence=hide(argument.evidence),
        ),
        tuple(
            replace(
                row,
                target=hide(row.target),
                reasoning=hide(row.reasoning),
                questions=tuple(replace(asked, id=hide(asked.id), text=hide(asked.text)) for asked in row.questions),
            )
            for row in exhibit.drew
        ),
        tuple((hide(name), hide(text)) for name, text in exhibit.answers),
        hide(exhibit.hold),
        tuple(map(hide, exhibit.others)),
        hide(exhibit.position),
    )
