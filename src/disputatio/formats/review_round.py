"""One position in one round of a review, and what of it stands."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from disputatio.formats.turns.criticism import CounterArgument, Criticism, Rebuttal, RebuttalKind, Rebuttals
from disputatio.formats.turns.moderation import Exhibit, Moderation, Point, Resolution
from disputatio.formats.turns.proposition import Proposition, ReviewArgument
from disputatio.kernel import Abstention, Seat


def prefix_of(stem: str, position: int) -> str:
    """Return the number prefix of a position's arguments: ``PROP`` for the first position, ``PROP2`` for the second."""
    return stem if position == 1 else f"{stem}{position}"


@dataclass(frozen=True, slots=True)
class Position:
    """A position and who argues for it. ``number`` counts from 1."""

    number: int
    seat: Seat
    text: str

    @property
    def id(self) -> str:
        """Its id."""
        return f"POSITION-{self.number}"

    def prefix(self, stem: str) -> str:
        """Return the number prefix of its arguments."""
        return prefix_of(stem, self.number)


@dataclass(frozen=True, slots=True)
class Contest:
    """One position in one round: its case, the critique, the rebuttal; None where a turn is missing.

    ``first_critique`` is the one before the critic was asked again, where it was.
    """

    position: Position
    proposition: Proposition | None = None
    criticism: Criticism | None = None
    first_critique: Criticism | None = None
    rebuttals: Rebuttals | None = None
    silent: tuple[Abstention, ...] = ()

    def without(self, silent: Abstention) -> Contest:
        """Return the contest with one more abstention."""
        return replace(self, silent=(*self.silent, silent))

    @property
    def arguments(self) -> tuple[ReviewArgument, ...]:
        """The arguments for the position, struck ones included."""
        return self.proposition.arguments if self.proposition else ()

    @property
    def criticisms(self) -> tuple[CounterArgument, ...]:
        """The criticisms, struck ones included."""
        return self.criticism.arguments if self.criticism else ()

    @property
    def answers(self) -> tuple[Rebuttal, ...]:
        """The answers to criticisms, struck ones included."""
        return self.rebuttals.answers if self.rebuttals else ()

    @property
    def struck(self) -> dict[str, str]:
        """The ids of struck items, each with the reason."""
        turns = (self.proposition, self.criticism, self.rebuttals)
        return {name: why for turn in turns if turn for name, why in turn.struck.items()}

    def criticisms_of(self, argument: str) -> tuple[CounterArgument, ...]:
        """Return the standing criticisms that target ``argument``."""
        return tuple(row for row in self.criticisms if row.target == argument and row.id not in self.struck)

    def answer_to(self, criticism: str) -> Rebuttal | None:
        """Return the standing answer to ``criticism``, if there is one."""
        return next((row for row in self.answers if row.target == criticism and row.id not in self.struck), None)

    def exhibits(self) -> Iterator[Exhibit]:
        """Yield what the moderator judges: every standing argument, criticism and answer."""
        struck = self.struck
        for argument in self.arguments:
            if argument.id not in struck:
                against = "\n".join(row.claim for row in self.criticisms_of(argument.id))
                yield Exhibit(argument.id, f"{argument.claim} {argument.reasoning}", against)
        for criticism in self.criticisms:
            if criticism.id not in struck:
                answer = self.answer_to(criticism.id)
                text = f"{criticism.claim} {criticism.reasoning}"
                contested = answer is not None and answer.kind is not RebuttalKind.CONCEDE
                yield Exhibit(criticism.id, text, answer.reasoning if answer else "", contested)
        for answer in self.answers:
            if answer.id not in struck:
                criticised = next(row for row in self.criticisms if row.id == answer.target)
                yield Exhibit(answer.id, answer.reasoning, criticised.claim)


@dataclass(frozen=True, slots=True)
class Round:
    """One round: a contest for each position, and the moderation; None where the moderator was silent.

    ``carried`` are criticisms of earlier rounds that were still open when it was moderated.
    """

    number: int
    contests: tuple[Contest, ...]
    moderation: Moderation | None = None
    silent: tuple[Abstention, ...] = ()
    carried: tuple[Exhibit, ...] = ()

    @property
    def exhibits(self) -> tuple[Exhibit, ...]:
        """What the moderator judges."""
        return tuple(row for contest in self.contests for row in contest.exhibits())

    @property
    def open_criticisms(self) -> tuple[str, ...]:
        """The ids of the criticisms to resolve: those that stand, then the carried ones."""
        own = (row.id for contest in self.contests for row in contest.criticisms if row.id not in contest.struck)
        return (*own, *(row.id for row in self.carried))

    @property
    def struck(self) -> dict[str, str]:
        """The ids of struck items, each with the reason."""
        return {name: why for contest in self.contests for name, why in contest.struck.items()}

    @property
    def abstentions(self) -> tuple[Abstention, ...]:
        """Every abstention of the round."""
        return (*(row for contest in self.contests for row in contest.silent), *self.silent)


def last_points(rounds: Sequence[Round]) -> dict[str, Point]:
    """Return the latest ruling on each criticism, in the order the criticisms were made."""
    said = [row for round_ in rounds if round_.moderation for row in round_.moderation.points]
    return {row.criticism: row for row in said}


def still_open(rounds: Sequence[Round]) -> tuple[Exhibit, ...]:
    """Return the unresolved criticisms of ``rounds``, for the moderator of a further round.

    A criticism without an answer may still be met; a conceded one may not.
    """
    points = last_points(rounds)
    return tuple(
        Exhibit(row.id, f"{row.claim} {row.reasoning}", answer.reasoning if answer else "", not conceded)
        for round_ in rounds
        for contest in round_.contests
        for row in contest.criticisms
        if row.id in points and points[row.id].resolution is Resolution.UNRESOLVED
        for answer in [contest.answer_to(row.id)]
        for conceded in [answer is not None and answer.kind is RebuttalKind.CONCEDE]
    )


def numbers_from(round_number: int) -> int:
    """Return the number before the first argument of a round: PROP-1 in the first, PROP-201 in the second, PROP-301.

    So a number tells its round and is unique in a review.
    """
    return 0 if round_number == 1 else 100 * round_number
