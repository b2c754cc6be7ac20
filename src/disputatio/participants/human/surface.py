"""The request for a person's turn, and the port for surfaces that put it to a person.

A surface is a terminal, a web page or a test. It gets a `TurnRequest` and returns `Filled` or `Passed`, or raises
`PersonLeftError`. It keeps drafts itself (see `DraftBook`). A person's turn passes the same checks as a model's;
`TurnRequest.faults` and `TurnRequest.violations` report them while the person can still change the turn.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Protocol

from disputatio.kernel import Ask, AskPath, Channel, JsonObject, Message, Phase, Seat
from disputatio.motion import count_words
from disputatio.participants.answers import SchemaChecks, SchemaMismatch, read_answer
from disputatio.participants.human.turn_form import (
    TurnForm,
    UnknownShapeError,
    form_from_schema,
    parse_field_descriptions,
)
from disputatio.record.text import canonical


@dataclass(frozen=True, slots=True)
class Situation:
    """The context of an ask, in words for people.

    Attributes:
        debate: the id of the debate.
        motion: what is debated.
        language: the language to speak.
        rules: the rules of the format, as every seat reads them.
        role: who the seat is and what its place asks of it; may be empty.
        task: the task of this turn, in the words that a model in the seat would get.
        sources: id, title and text of each source that lies before the seat.
    """

    debate: str
    motion: str
    language: str
    rules: str
    role: str
    task: str
    sources: tuple[tuple[str, str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class TurnRequest:
    """One turn that a person is asked for.

    Attributes:
        path: where the ask stands; unique in its debate.
        ask: the ask itself.
        situation: what surrounds it.
        checks: compiled schemas.
        reasons: why the last answer was not taken, empty at first.
        because: ``shape`` or ``rule`` where it was not.
        last: the answer that was not taken, to be changed rather than written again.
    """

    path: AskPath
    ask: Ask
    situation: Situation
    checks: SchemaChecks
    reasons: tuple[str, ...] = ()
    because: str = ""
    last: JsonObject | None = None

    @property
    def seat(self) -> str:
        """Who is asked."""
        return str(self.ask.seat)

    @property
    def heard(self) -> tuple[Message, ...]:
        """What the seat has heard so far, and nothing else of the debate."""
        return tuple(self.ask.messages)

    @property
    def sheet(self) -> TurnForm:
        """The form; empty where it can only be answered as JSON."""
        try:
            return form_from_schema(self.ask.spec.schema, parse_field_descriptions(self.situation.task))
        except UnknownShapeError:
            return TurnForm()

    @property
    def word_limit(self) -> int | None:
        """The most words of the turn, where its form counts them."""
        limit = getattr(self.ask.spec, "limit", None) or getattr(self.ask.spec, "words", None)
        return limit if isinstance(limit, int) else None

    def counted(self, content: object) -> int:
        """The words of ``content``, finished or not, that count against the limit."""
        if isinstance(content, Mapping):
            keys: Any = self.ask.spec.schema.get("properties", {})
            # What is chosen from a list, such as who must answer or a vote, is no word of the turn, nor is a citation.
            chosen = {key for key, row in keys.items() if "enum" in row}
            chosen |= {"quotations", "readings"} | ({"answers"} if self.ask.spec.name == "closing" else set())
            content = {key: row for key, row in content.items() if key not in chosen}
        return words_in(content)

    @property
    def is_final(self) -> bool:
        """Whether a broken rule is not asked again: the turn is then taken as it is, with what that costs."""
        return self.ask.limits.rule_asks == 0 or self.because == "rule"

    def faults(self, content: object) -> tuple[str, ...]:
        """Why ``content`` cannot be taken at all; empty where it can."""
        read = read_answer(canonical(content), self.ask.spec.schema, self.checks)
        return read.reasons if isinstance(read, SchemaMismatch) else ()

    def violations(self, content: JsonObject) -> tuple[str, ...]:
        """The rules that ``content`` would break, which has no fault."""
        read = read_answer(canonical(content), self.ask.spec.schema, self.checks)
        if isinstance(read, SchemaMismatch):
            return ()
        return tuple(row.detail for row in self.ask.spec.violations(self.ask.spec.read(read.content)))


@dataclass(frozen=True, slots=True)
class Invite:
    """Put this request to the person in the seat: brings what they filled in, or that they passed."""

    request: TurnRequest


@dataclass(frozen=True, slots=True)
class Filled:
    """The answer, and in ``tried`` what the surface did not take before it, a sentence for each try, for the record."""

    content: JsonObject
    tried: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Passed:
    """The person takes no turn. ``reason`` is a fixed word, ``detail`` a sentence."""

    reason: str = "passed"
    detail: str = "the person in this seat passed"
    tried: tuple[str, ...] = ()


class Surface(Protocol):
    """Puts requests to people."""

    async def fill(self, request: TurnRequest) -> Filled | Passed:
        """What the person makes of ``request``.

        Requests of several seats may come at once; a surface that can show one at a time puts them in a row. Must not
        block the loop, and lets itself be cancelled.

        Raises:
            PersonLeftError: the person left; what was written is kept, and the debate stops where it is.
        """


def words_in(content: Any) -> int:
    """The words of all texts in an answer, by the one rule for every script."""
    if isinstance(content, str):
        return count_words(content)
    rows: Sequence[Any] = ()
    if isinstance(content, Mapping):
        rows = list(content.values())
    elif isinstance(content, Sequence):
        rows = content
    return sum(words_in(row) for row in rows)


@dataclass(slots=True)
class ScriptedSurface:
    """A surface that answers by a function, for tests and simulations."""

    answer: Callable[[TurnRequest], Filled | Passed]
    asked: list[TurnRequest] = field(default_factory=list)

    async def fill(self, request: TurnRequest) -> Filled | Passed:
        """The function's answer."""
        self.asked.append(request)
        return self.answer(request)


@dataclass(frozen=True, slots=True)
class PendingTurn:
    """One turn that a person is asked for, without the code that will check its rules.

    Attributes:
        path: where the ask stands; unique in its debate.
        seat: who is asked.
        phase: of the debate.
        situation: what surrounds it.
        heard: what the seat has heard so far, and nothing else of the debate.
        schema: the JSON Schema of the turn.
        word_limit: the most words, where its form counts them.
        reasons: why the last answer was not taken, empty at first.
        because: ``shape`` or ``rule`` where it was not.
        last: the answer that was not taken.
    """

    path: str
    seat: str
    phase: str
    situation: Situation
    heard: tuple[Message, ...]
    schema: JsonObject
    word_limit: int | None = None
    reasons: tuple[str, ...] = ()
    because: str = ""
    last: JsonObject | None = None

    @classmethod
    def of(cls, request: TurnRequest) -> PendingTurn:
        """What ``request`` asks."""
        return cls(
            path=str(request.path),
            seat=request.seat,
            phase=str(request.ask.phase),
            situation=request.situation,
            heard=request.heard,
            schema=request.ask.spec.schema,
            word_limit=request.word_limit,
            reasons=request.reasons,
            because=request.because,
            last=request.last,
        )

    @property
    def debate(self) -> str:
        """The id of the debate."""
        return self.situation.debate

    @property
    def sheet(self) -> TurnForm:
        """The form; empty where it can only be answered as JSON."""
        try:
            return form_from_schema(self.schema, parse_field_descriptions(self.situation.task))
        except UnknownShapeError:
            return TurnForm()

    def faults(self, content: object) -> tuple[str, ...]:
        """Why ``content`` cannot be taken at all; empty where it can."""
        read = read_answer(canonical(content), self.schema, _CHECKS)
        return read.reasons if isinstance(read, SchemaMismatch) else ()

    def as_json(self) -> JsonObject:
        """The question as JSON."""
        rows: JsonObject = asdict(self)
        return rows

    @classmethod
    def from_json(cls, row: Mapping[str, Any]) -> PendingTurn:
        """The inverse of ``as_json``."""
        around = row["situation"]
        return cls(
            **{name: row[name] for name in ("path", "seat", "phase", "schema", "word_limit", "because", "last")},
            situation=Situation(**{**around, "sources": tuple(tuple(each) for each in around["sources"])}),
            heard=tuple(
                Message(Seat(each["seat"]), Phase(each["phase"]), each["text"], Channel(each["channel"]))
                for each in row["heard"]
            ),
            reasons=tuple(row["reasons"]),
        )


_CHECKS = SchemaChecks(64)
