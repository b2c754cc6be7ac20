"""Messages of a debate, and which seats may read them.

A transcript is a value: adding messages makes a new one. So a branch cannot see what a parallel branch says before the
two are joined. The content of a debate cannot depend on the order in which answers arrive.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, NewType, TypeAlias, TypeVar, overload

Seat = NewType("Seat", str)
"""A role in the debate: ``pro``, ``con``, ``judge``, ``tech_bull``."""

Phase = NewType("Phase", str)
"""A stage of the debate: ``opening``, ``cross-examination``, ``closing``, ``judging``."""

AskPath = NewType("AskPath", str)
"""The path of an ask in its rulebook, such as ``cross-examination/tech/bear``; unique in a debate."""

Channel = NewType("Channel", str)
"""Who may read a message: ``public``, ``team_pro``, ``judge_notes``."""

Json: TypeAlias = "bool | int | float | str | Sequence[Json] | Mapping[str, Json] | None"
JsonObject: TypeAlias = Mapping[str, Json]


PUBLIC = Channel("public")
T = TypeVar("T")


class ForbiddenMessageError(Exception):
    """A rulebook let a seat write to a channel that the seat may not write to."""


@dataclass(frozen=True, slots=True)
class Message:
    """One message: its text, who said it, in which phase, on which channel."""

    seat: Seat
    phase: Phase
    text: str
    channel: Channel = PUBLIC


class Messages(Sequence[Message]):
    """Messages in order; a value, equal to a tuple of the same messages.

    Longer values share one list, of which each is a prefix. Copying the list for each message would cost quadratic
    time.
    """

    __slots__ = ("_count", "_made", "_said")

    def __init__(self, messages: Iterable[Message] = ()) -> None:
        self._said = list(messages)
        self._count = len(self._said)
        self._made: dict[Callable[[Message], Any], list[Any]] = {}

    def followed_by(self, messages: Sequence[Message]) -> Messages:
        """Return these messages and then ``messages``; this value stays as it is."""
        longer = Messages.__new__(Messages)
        # Copy the list if another value has already extended it.
        goes_on = len(self._said) == self._count
        longer._said = self._said if goes_on else self._said[: self._count]
        longer._made = self._made if goes_on else {}
        longer._said.extend(messages)
        longer._count = len(longer._said)
        return longer

    def each(self, make: Callable[[Message], T]) -> list[T]:
        """Return ``make(message)`` for each message, in order. The caller owns the list.

        Results are cached with the shared list, so ``make`` runs once for each message, whichever prefix asks. ``make``
        must depend on the message alone. Equal callables share their results.
        """
        made = self._made.setdefault(make, [])
        if len(made) < self._count:
            made.extend(map(make, self._said[len(made) : self._count]))
        return made[: self._count]

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[Message]:
        return islice(self._said, self._count)

    @overload
    def __getitem__(self, place: int) -> Message: ...

    @overload
    def __getitem__(self, place: slice) -> tuple[Message, ...]: ...

    def __getitem__(self, place: int | slice) -> Message | tuple[Message, ...]:
        if isinstance(place, slice):
            return tuple(self._said[number] for number in range(*place.indices(self._count)))
        return self._said[range(self._count)[place]]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Messages | tuple):
            return NotImplemented
        return len(self) == len(other) and tuple(self) == tuple(other)

    def __hash__(self) -> int:
        return hash(tuple(self))

    def __repr__(self) -> str:
        return f"Messages({list(self)!r})"


@dataclass(frozen=True, slots=True)
class Transcript:
    """All messages so far, with the channels each seat may read and write.

    ``readers`` maps a channel to the seats that may read it. Everyone reads ``public``; nobody reads a channel that is
    not listed. ``writers`` maps a channel to the seats that may write to it; any seat may write to a channel that is
    not listed.
    """

    messages: Messages = field(default_factory=Messages)
    readers: tuple[tuple[Channel, frozenset[Seat]], ...] = field(default=())
    writers: tuple[tuple[Channel, frozenset[Seat]], ...] = field(default=())
    # Cached, because filtering all messages for every ask would take quadratic time.
    _seen: dict[Seat, Messages] = field(default_factory=dict, compare=False, repr=False)

    def add(self, *messages: Message) -> Transcript:
        """Return a transcript with more messages at its end.

        Raises:
            ForbiddenMessageError: a seat may not write to the channel of its message, which is a bug of the rulebook.
        """
        for message in messages:
            if self.writers and not self.may_write(message.seat, message.channel):
                raise ForbiddenMessageError(f"{message.seat} may not write to {message.channel}")
        before = self.messages
        longer = before.followed_by(messages)
        rights = {channel: self._readers_of(channel) for channel in {message.channel for message in messages}}
        for_all = all(readers is None for readers in rights.values())
        seen: dict[Seat, Messages] = {}
        for seat, shown in self._seen.items():
            new = (
                messages
                if for_all
                else [
                    message for message in messages if (readers := rights[message.channel]) is None or seat in readers
                ]
            )
            # A seat that sees everything shares the list of the transcript.
            seen[seat] = longer if shown is before and len(new) == len(messages) else shown.followed_by(new)
        return Transcript(longer, self.readers, self.writers, seen)

    def may_write(self, seat: Seat, channel: Channel) -> bool:
        """Whether ``seat`` may write to ``channel``."""
        return all(seat in seats for name, seats in self.writers if name == channel)

    def may_read(self, seat: Seat, channel: Channel) -> bool:
        """Whether ``seat`` may read ``channel``."""
        readers = self._readers_of(channel)
        return readers is None or seat in readers

    def _readers_of(self, channel: Channel) -> frozenset[Seat] | None:
        """The seats that may read ``channel``; None where everyone may."""
        if channel == PUBLIC:
            return None
        found: frozenset[Seat] = frozenset()
        for name, seats in self.readers:
            if name == channel:
                found |= seats
        return found

    def visible_to(self, seat: Seat, phases: Iterable[Phase] | None = None) -> Sequence[Message]:
        """Return the messages ``seat`` may read, in order; only those of ``phases`` where given."""
        if seat not in self._seen:
            shown = [message for message in self.messages if self.may_read(seat, message.channel)]
            self._seen[seat] = self.messages if len(shown) == len(self.messages) else Messages(shown)
        if phases is None:
            return self._seen[seat]
        wanted = frozenset(phases)
        return tuple(message for message in self._seen[seat] if message.phase in wanted)
