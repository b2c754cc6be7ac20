"""The words a rulebook is written in: ``ask``, ``together``, ``declare``.

A rulebook is a generator. It yields requests and is given what they ask for: an ``Ask`` is answered by
a turn or an abstention, ``Branches`` by the results of the branches in their order, a ``Fact`` by
nothing. Nothing here performs anything, and a misbehaving participant never raises inside a rulebook:
an abstention is a value, so a format says in its own words what a missing turn means.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol, TypeAlias, TypeVar, runtime_checkable

from disputatio.kernel.transcript import JsonObject, Message, Phase, Seat

Result = TypeVar("Result")
TurnT = TypeVar("TurnT", bound="Turn")


class Violation(NamedTuple):
    """A rule that a well-shaped turn broke.

    ``rule`` is a fixed word (``word_limit``), ``detail`` says what was found and what is allowed. ``part``
    is the label of the piece that must change, where one piece alone is at fault.
    """

    rule: str
    detail: str
    part: str = ""


@runtime_checkable
class Turn(Protocol):
    """One seat's typed contribution. Every turn can be read as plain text."""

    def text(self) -> str:
        """The turn as a reader, or another seat's prompt, sees it."""


@dataclass(frozen=True, slots=True)
class Abstention:
    """No turn was taken, and why. ``reason`` is a fixed word, ``detail`` a sentence for people."""

    seat: Seat
    reason: str
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Task:
    """What the seat is told to do: the name of a prompt file and what it is filled with.

    ``values`` are words of the rules: ids, counts, roles. ``quotes`` are words of participants; the prompt
    layer fences them, so a text can only ever be data there. A value never holds what a participant wrote.
    ``layers`` are prompt files that stand before it, filled with the same: who the seat is, what its place asks of it.
    """

    prompt: str
    values: Mapping[str, str] = field(default_factory=dict)
    quotes: Mapping[str, str] = field(default_factory=dict)
    layers: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Part:
    """One piece of a turn, for participants that do better with one small question at a time.

    ``label`` names the piece inside the turn (``argument-2``), ``schema`` is the JSON Schema of its answer,
    ``max_tokens`` the most tokens the answer may have, ``temperature`` the phase's where it is None.
    """

    label: str
    schema: JsonObject
    task: Task
    max_tokens: int = 400
    temperature: float | None = None


class TurnSpec(Protocol[TurnT]):
    """What a legal turn is, made for one ask.

    The schema carries every rule a schema can carry: it has a key for each argument that must be
    answered and an enum of the ids that exist. ``violations`` holds the rules it cannot carry.
    """

    @property
    def name(self) -> str:
        """The kind of turn, such as ``opening``."""

    @property
    def schema(self) -> JsonObject:
        """JSON Schema (draft 2020-12) of the answer; an object that requires every key it has."""

    def read(self, content: JsonObject) -> TurnT:
        """The typed turn in ``content``, which is valid under ``schema``. Code adds ids and sums here."""

    def violations(self, turn: TurnT) -> tuple[Violation, ...]:
        """The rules that ``turn`` breaks although its shape is right."""

    def next_part(self, done: tuple[JsonObject, ...]) -> Part | None:
        """The piece to ask for after ``done``, or None when the turn is whole."""

    def join(self, done: tuple[JsonObject, ...]) -> JsonObject:
        """The whole answer, valid under ``schema`` whenever every piece is valid under its own."""


@runtime_checkable
class LenientTurnSpec(Protocol):
    """A form that would rather have an answer with a fault in one place than none.

    When the asks for the right shape are used up, the last answer is taken if it fits ``lenient_schema``; ``read``
    then says of what is at fault that it is, and ``violations`` names it.
    """

    @property
    def lenient_schema(self) -> JsonObject:
        """JSON Schema of such an answer: ``schema`` without the one rule that may be broken."""


@dataclass(frozen=True, slots=True)
class Limits:
    """How a turn may be asked for. Counts are of asks beyond the first; tokens are of the answer.

    ``max_tokens`` is what such answers usually need; where more is asked for, as of a judge of many arguments, the
    limit grows with it. ``fixed`` says that a user set it, so that it does not grow. ``rule_asks`` is how often a turn
    that broke a rule is asked for again before it is accepted with its violations: once, except in competition, where
    the penalty applies and nothing is asked again.
    """

    max_tokens: int = 1500
    temperature: float = 0.7
    shape_asks: int = 2
    rule_asks: int = 1
    fixed: bool = False


@dataclass(frozen=True, slots=True)
class Ask:
    """The order to one seat to take one turn. ``messages`` is all that seat may know of the debate so far."""

    seat: Seat
    phase: Phase
    spec: TurnSpec[Any]
    task: Task
    messages: Sequence[Message] = ()
    limits: Limits = Limits()


@dataclass(frozen=True, slots=True)
class Fact:
    """Something the rules established: a score, a standing, a vote, a penalty. It is kept in the record."""

    kind: str
    about: str
    body: JsonObject


@dataclass(frozen=True, slots=True)
class Branches:
    """Rulebooks that run side by side. A named branch puts its name into the paths of its asks."""

    branches: tuple[tuple[str, Rulebook[Any]], ...]


Request: TypeAlias = Ask | Branches | Fact
Rulebook: TypeAlias = Generator[Request, Any, Result]


def ask(
    seat: Seat,
    phase: Phase,
    *,
    spec: TurnSpec[TurnT],
    task: Task,
    messages: Sequence[Message] = (),
    limits: Limits = Limits(),
) -> Rulebook[TurnT | Abstention]:
    """Ask ``seat`` for one turn and return it, or the abstention that stands in its place."""
    answer: TurnT | Abstention = yield Ask(seat, phase, spec, task, messages, limits)
    return answer


def together(*branches: Rulebook[Any], **named: Rulebook[Any]) -> Rulebook[tuple[Any, ...]]:
    """Run rulebooks side by side and return their results in the order they were given, plain ones first."""
    results: tuple[Any, ...] = yield Branches((*(("", branch) for branch in branches), *named.items()))
    return results


def declare(kind: str, about: str, body: JsonObject) -> Rulebook[None]:
    """State a fact for the record. It is computed again on replay and must come out the same."""
    yield Fact(kind, about, body)
