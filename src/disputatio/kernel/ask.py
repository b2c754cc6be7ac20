"""The three requests a rulebook makes: ``ask``, ``together``, ``declare``.

A rulebook is a generator of requests. The driver answers an ``Ask`` with a turn or an abstention, ``Branches`` with the
branch results in order, and a ``Fact`` with None. Nothing here performs I/O. A failing participant never raises inside
a rulebook: an abstention is a value, and each format decides what a missing turn means.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol, TypeAlias, TypeVar, runtime_checkable

from disputatio.kernel.transcript import JsonObject, Message, Phase, Seat

Result = TypeVar("Result")
TurnT = TypeVar("TurnT", bound="Turn")


class Violation(NamedTuple):
    """A rule that a turn broke although it fits its schema.

    ``rule`` is a fixed word (``word_limit``); ``detail`` says what was found and what is allowed. ``part`` labels the
    part that must change, where only one part is at fault.
    """

    rule: str
    detail: str
    part: str = ""


@runtime_checkable
class Turn(Protocol):
    """A typed contribution of one seat."""

    def text(self) -> str:
        """Return the turn as readers and the prompts of other seats show it."""


@dataclass(frozen=True, slots=True)
class Abstention:
    """A seat took no turn. ``reason`` is a fixed word, ``detail`` a sentence for people."""

    seat: Seat
    reason: str
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Task:
    """The instruction of an ask: the name of a prompt file and what fills it.

    ``values`` come from the rules: ids, counts, roles. ``quotes`` come from participants; the prompt layer fences them,
    so they can only be data. Never put a participant's words into ``values``. ``layers`` name prompt files that precede
    the task and are filled with the same values: identity, personality, position.
    """

    prompt: str
    values: Mapping[str, str] = field(default_factory=dict)
    quotes: Mapping[str, str] = field(default_factory=dict)
    layers: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Part:
    """One part of a turn, for small models that answer one short question at a time.

    ``label`` names the part inside the turn (``argument-2``). ``schema`` is the JSON Schema of its answer,
    ``max_tokens`` the limit of the answer. ``temperature`` None means that of the phase.
    """

    label: str
    schema: JsonObject
    task: Task
    max_tokens: int = 400
    temperature: float | None = None


class TurnSpec(Protocol[TurnT]):
    """What makes a turn legal, for one ask.

    The schema states every rule that JSON Schema can express, such as a key for each argument and an enum of known ids.
    ``violations`` checks the others.
    """

    @property
    def name(self) -> str:
        """The kind of turn, such as ``opening``."""

    @property
    def schema(self) -> JsonObject:
        """JSON Schema (draft 2020-12) of the answer: an object whose keys are all required."""

    def read(self, content: JsonObject) -> TurnT:
        """Return the typed turn in ``content``, which is valid under ``schema``. Adds ids and sums."""

    def violations(self, turn: TurnT) -> tuple[Violation, ...]:
        """Return the rules that ``turn`` breaks although it fits the schema."""

    def next_part(self, done: tuple[JsonObject, ...]) -> Part | None:
        """Return the part to ask for after ``done``, or None when the turn is complete."""

    def join(self, done: tuple[JsonObject, ...]) -> JsonObject:
        """Join the parts into the whole answer; it is valid under ``schema`` if each part is valid under its own."""


@runtime_checkable
class LenientTurnSpec(Protocol):
    """A spec that accepts one kind of faulty answer rather than none.

    When all retries for the right shape fail, the last answer counts if it fits ``lenient_schema``. ``read`` marks what
    is at fault and ``violations`` names it.
    """

    @property
    def lenient_schema(self) -> JsonObject:
        """``schema`` without the one rule that may be broken."""


@dataclass(frozen=True, slots=True)
class Limits:
    """How to ask for a turn.

    Attributes:
        max_tokens: what such an answer usually needs. The limit grows where more is asked for, such as many arguments
            to judge.
        temperature: sampling temperature.
        shape_asks: retries of an answer that does not fit the schema.
        rule_asks: retries of a turn that breaks a rule, before it is accepted with its violations. 0 in competition,
            where the penalty applies instead.
        fixed: whether a user set ``max_tokens``, so that it does not grow.
    """

    max_tokens: int = 1500
    temperature: float = 0.7
    shape_asks: int = 2
    rule_asks: int = 1
    fixed: bool = False


@dataclass(frozen=True, slots=True)
class Ask:
    """A request to one seat for one turn. ``messages`` is all the seat may know of the debate so far."""

    seat: Seat
    phase: Phase
    spec: TurnSpec[Any]
    task: Task
    messages: Sequence[Message] = ()
    limits: Limits = Limits()


@dataclass(frozen=True, slots=True)
class Fact:
    """Something the rules established, for the record: a score, a standing, a vote, a penalty."""

    kind: str
    about: str
    body: JsonObject


@dataclass(frozen=True, slots=True)
class Branches:
    """Rulebooks that run in parallel. The name of a branch becomes part of the paths of its asks."""

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
    """Ask ``seat`` for one turn; return the turn or the abstention."""
    answer: TurnT | Abstention = yield Ask(seat, phase, spec, task, messages, limits)
    return answer


def together(*branches: Rulebook[Any], **named: Rulebook[Any]) -> Rulebook[tuple[Any, ...]]:
    """Run rulebooks in parallel; return their results in order, unnamed ones first."""
    results: tuple[Any, ...] = yield Branches((*(("", branch) for branch in branches), *named.items()))
    return results


def declare(kind: str, about: str, body: JsonObject) -> Rulebook[None]:
    """State a fact for the record. A replay computes it again and must find it equal."""
    yield Fact(kind, about, body)
