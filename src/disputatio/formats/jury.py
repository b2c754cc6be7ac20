"""The bench: the judges of a debate between two sides, and what each of them is shown.

The rules
    1. Every judge hears the whole debate and finds alone: no judge hears another.
    2. With both orders, each judges twice, once with either side shown first. The sides then have neutral names:
       the one shown first is Side A, its arguments are A-1, A-2 and so on.
    3. With a retest, each judges once more in the first order. That finding is compared and counts for nothing.
    4. A judge that gives no finding is named with the reason, and stays in the denominator.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TypeVar

from disputatio.formats.sides import CON, PRO
from disputatio.formats.turns.adjudication import Adjudication, AdjudicationSpec, Exhibit, Irregularity
from disputatio.formats.turns.grounds import Grounds
from disputatio.judging.blinding import Blinding, blind
from disputatio.judging.fallacies import FoundFallacy
from disputatio.judging.panel_verdict import PanelMethod
from disputatio.judging.scoring import Rubric
from disputatio.kernel import Limits, Message, Phase, Rulebook, Seat, Task, Transcript, ask, together

JUDGING = Phase("judging")
_NEUTRAL = (
    " The sides are called Side A and Side B here, by the order in which they are shown; their arguments are A-1, B-1 "
    "and so on, and the response to A-1 is Side B on A-1. The order says nothing of who is right."
)
Found = TypeVar("Found", FoundFallacy, Irregularity)
SIDES = (str(PRO.seat), str(CON.seat))


@dataclass(frozen=True, slots=True)
class JuryRules:
    """How the judges judge, and how their findings become one.

    Attributes:
        both_orders: each judges with either side shown first; a win must survive the swap.
        anonymous: the sides have neutral names, as they always have in both orders.
        retest: each judges once more, to be compared with itself.
        method: how several judges become one.
        weights: of the judges, for the weighted methods and no other.
        dead_zone: points; a gap smaller than this is a tie.
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
    def sittings(self) -> tuple[Sitting, ...]:
        """What every judge sits through."""
        first = Sitting(SIDES, hides_sides=self.hides_sides)
        other = (replace(first, order=(SIDES[1], SIDES[0])),) if self.both_orders else ()
        again = (replace(first, again=True),) if self.retest else ()
        return (first, *other, *again)


@dataclass(frozen=True, slots=True)
class Sitting:
    """One hearing of the whole debate: which side is shown first, under which names, and whether it is a retest."""

    order: tuple[str, str]
    hides_sides: bool = False
    again: bool = False

    @property
    def name(self) -> str:
        """How paths name it; empty for the one sitting that a single ordinary judging has."""
        words = [f"{self.order[0]}-first"] if self.hides_sides else []
        return "-".join([*words, *(["again"] if self.again else [])])

    def blinding(self, exhibits: Sequence[Exhibit]) -> Blinding | None:
        """The neutral names, or None where the sides are shown under their own."""
        if not self.hides_sides:
            return None
        ids = {
            str(side.seat): [row.argument.id for row in exhibits if row.argument.id.startswith(f"{side.prefix}-")]
            for side in (PRO, CON)
        }
        return blind(self.order, ids, {str(side.seat): [side.prefix] for side in (PRO, CON)})


@dataclass(frozen=True, slots=True)
class Hearing:
    """What one judge found in one sitting, in the real names; the reason where it found nothing."""

    judge: str
    sitting: Sitting
    adjudication: Adjudication | None
    failure: str = ""


def hear(
    judges: Sequence[Seat],
    rules: JuryRules,
    exhibits: tuple[Exhibit, ...],
    transcript: Transcript,
    rubric: Rubric,
    limits: Limits,
) -> Rulebook[tuple[Hearing, ...]]:
    """Let every judge sit through every sitting, all at the same time."""
    branches = {sitting.name: _sit(judges, sitting, exhibits, transcript, rubric, limits) for sitting in rules.sittings}
    plain = [branches.pop("")] if "" in branches else []
    heard = yield from together(*plain, **branches)
    return tuple(hearing for sitting in heard for hearing in sitting)


def _sit(
    judges: Sequence[Seat],
    sitting: Sitting,
    exhibits: tuple[Exhibit, ...],
    transcript: Transcript,
    rubric: Rubric,
    limits: Limits,
) -> Rulebook[tuple[Hearing, ...]]:
    blinding = sitting.blinding(exhibits)
    shown = _shown(exhibits, sitting, blinding)
    heard: tuple[Hearing, ...] = yield from together(
        *(_judge(judge, sitting, AdjudicationSpec(shown, rubric), blinding, transcript, limits) for judge in judges)
    )
    return heard


def _judge(
    judge: Seat,
    sitting: Sitting,
    form: AdjudicationSpec,
    blinding: Blinding | None,
    transcript: Transcript,
    limits: Limits,
) -> Rulebook[Hearing]:
    turn = yield from ask(
        judge,
        JUDGING,
        returns=form,
        task=Task("judging", form.task_values() | ({"sides": _NEUTRAL} if blinding else {})),
        sees=_posts(transcript.seen_by(judge), sitting, blinding),
        limits=limits,
    )
    if not isinstance(turn, Adjudication):
        return Hearing(judge, sitting, None, turn.detail or turn.reason)
    return Hearing(judge, sitting, turn if blinding is None else _revealed(turn, sitting.order))


def revealing(order: tuple[str, str], arguments: Iterable[str]) -> Callable[[str], str]:
    """Puts the real names back into what a judge said that saw ``order`` under neutral names.

    Args:
        order: the sides, the one shown first first.
        arguments: the neutral ids of the arguments it found on.
    """
    prefixes = [side.prefix for seat in order for side in (PRO, CON) if side.seat == seat]
    letters = dict(zip("AB", prefixes, strict=True))
    # Both numberings count a side's arguments from 1, so A-2 is the second argument of the side shown first.
    ids = tuple((f"{letters[neutral[:1]]}{neutral[1:]}", neutral) for neutral in arguments if neutral[:1] in letters)
    names = tuple((prefix, f"Side {letter}") for letter, prefix in letters.items())
    return Blinding(order, names, ids, ()).reveal


def _revealed(turn: Adjudication, order: tuple[str, str]) -> Adjudication:
    """A finding with the real names back in it."""
    named = [name for row in turn.judgements for name in (row.argument, *row.grounds.invented)]
    reveal = revealing(order, dict.fromkeys(named))
    judgements = tuple(
        replace(
            row,
            argument=reveal(row.argument),
            reason=reveal(row.reason),
            fallacies=tuple(_in_real_names(found, reveal) for found in row.fallacies),
            answers=tuple(replace(each, id=reveal(each.id), words=reveal(each.words)) for each in row.answers),
            irregular=tuple(_in_real_names(each, reveal) for each in row.irregular),
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


def _in_real_names(found: Found, reveal: Callable[[str], str]) -> Found:
    """A fallacy or another finding with words, with the real names back in its words and its place."""
    return replace(found, words=reveal(found.words), place=reveal(found.place))


def _posts(posts: Sequence[Message], sitting: Sitting, blinding: Blinding | None) -> tuple[Message, ...]:
    """What was said, phase by phase, the side that is shown first first."""
    if blinding is None:
        return tuple(posts)
    phases = list(dict.fromkeys(post.phase for post in posts))
    place = {side: number for number, side in enumerate(sitting.order)}
    ranked = sorted(posts, key=lambda post: (phases.index(post.phase), place.get(str(post.seat), -1)))
    names = dict(blinding.names)
    return tuple(
        replace(post, seat=Seat(names.get(str(post.seat), str(post.seat))), text=blinding.hide(post.text))
        for post in ranked
    )


def _shown(exhibits: tuple[Exhibit, ...], sitting: Sitting, blinding: Blinding | None) -> tuple[Exhibit, ...]:
    """The exhibits in the order of the sitting, under its names."""
    if blinding is None:
        return exhibits
    prefixes = {str(side.seat): f"{side.prefix}-" for side in (PRO, CON)}
    ranked = [
        exhibit for side in sitting.order for exhibit in exhibits if exhibit.argument.id.startswith(prefixes[side])
    ]
    return tuple(_hidden(exhibit, blinding.hide) for exhibit in ranked)


def _hidden(exhibit: Exhibit, hide: Callable[[str], str]) -> Exhibit:
    """An exhibit with the neutral names in everything that was said."""
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
