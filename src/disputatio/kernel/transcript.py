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

    __slots__ = ("_count", "_results", "_shared")

    def __init__(self, messages: Iterable[Message] = ()) -> None:
        self._shared = list(messages)
        self._count = len(self._shared)
        self._results: dict[Callable[[Message], Any], list[Any]] = {}

    def followed_by(self, messages: Sequence[Message]) -> Messages:
        """Return these messages and then ``messages``; this value stays as it is."""
        longer = Messages.__new__(Messages)
        # Copy the list if another value has already extended it.
        is_last = len(self._shared) == self._count
        longer._shared = self._shared if is_last else self._shared[: self._count]
        longer._results = self._results if is_last else {}
        longer._shared.extend(messages)
        longer._count = len(longer._shared)
        return longer

    def each(self, make: Callable[[Message], T]) -> list[T]:
        """Return ``make(message)`` for each message, in order. The caller owns the list.

        Results are cached with the shared list, so ``make`` runs once for each message, whichever prefix asks. ``make``
        must depend on the message alone. Equal callables share their results.
        """
        results = self._results.setdefault(make, [])
        if len(results) < self._count:
            results.extend(map(make, self._shared[len(results) : self._count]))
        return results[: self._count]

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[Message]:
        return islice(self._shared, self._count)

    @overload
    def __getitem__(self, place: int) -> Message: ...

    @overload
    def __getitem__(self, place: slice) -> tuple[Message, ...]: ...

    def __getitem__(self, place: int | slice) -> Message | tuple[Message, ...]:
        if isinstance(place, slice):
            return tuple(self._shared[number] for number in range(*place.indices(self._count)))
        return self._shared[range(self._count)[place]]

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

    ``readers`` maps a channel to the seats that may read it. Every seat reads ``public``; no seat reads a channel that
    is not listed. ``writers`` maps a channel to the seats that may write to it; any seat may write to a channel that is
    not listed.
    """

    messages: Messages = field(default_factory=Messages)
    readers: tuple[tuple[Channel, frozenset[Seat]], ...] = field(default=())
    writers: tuple[tuple[Channel, frozenset[Seat]], ...] = field(default=())
    # Cached, because filtering all messages for every ask would take quadratic time.
    _visible: dict[Seat, Messages] = field(default_factory=dict, compare=False, repr=False)

    def add(self, *messages: Message) -> Transcript:
        """Return a transcript with more messages at its end.

        Raises:
            ForbiddenMessageError: a seat may not write to the channel of its message, which is a bug of the rulebook.
        """
        for message in messages:
            if self.writers and not self.may_write(message.seat, message.channel):
                raise ForbiddenMessageError(f"{message.seat} may not write to {message.channel}")
        longer = self.messages.followed_by(messages)
        visible: dict[Seat, Messages] = {}
        for seat, earlier in self._visible.items():
            new = [message for message in messages if self.may_read(seat, message.channel)]
            # A seat that sees everything shares the list of the transcript.
            sees_all = earlier is self.messages and len(new) == len(messages)
            visible[seat] = longer if sees_all else earlier.followed_by(new)
        return Transcript(longer, self.readers, self.writers, visible)

    def may_write(self, seat: Seat, channel: Channel) -> bool:
        """Whether ``seat`` may write to ``channel``."""
        return all(seat in seats for name, seats in self.writers if name == channel)

    def may_read(self, seat: Seat, channel: Channel) -> bool:
        """Whether ``seat`` may read ``channel``."""
        return channel == PUBLIC or any(seat in seats for name, seats in self.readers if name == channel)

    def visible_to(self, seat: Seat, phases: Iterable[Phase] | None = None) -> Sequence[Message]:
        """Return the messages ``seat`` may read, in order; only those of ``phases`` where given."""
        if seat not in self._visible:
            readable = [message for message in self.messages if self.may_read(seat, message.channel)]
            self._visible[seat] = self.messages if len(readable) == len(self.messages) else Messages(readable)
        if phases is None:
            return self._visible[seat]
        selected = frozenset(phases)
        return tuple(message for message in self._visible[seat] if message.phase in selected)
