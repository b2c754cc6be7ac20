"""What a person is asked for, as plain data: it can be kept, sent, and answered where the debate is not held."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from disputatio.kernel import Channel, JsonObject, Message, Phase, Seat
from disputatio.participants.answers import SchemaChecks, SchemaMismatch, read_answer
from disputatio.participants.human.fields import TurnSheet, UnknownShapeError, abouts_in, sheet_of
from disputatio.participants.human.request import Situation, TurnRequest
from disputatio.record.text import canonical


@dataclass(frozen=True, slots=True)
class Question:
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
    def of(cls, request: TurnRequest) -> Question:
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
    def sheet(self) -> TurnSheet:
        """The form; empty where it can only be answered as JSON."""
        try:
            return sheet_of(self.schema, abouts_in(self.situation.task))
        except UnknownShapeError:
            return TurnSheet()

    def faults(self, content: object) -> tuple[str, ...]:
        """Why ``content`` cannot be taken at all; empty where it can."""
        read = read_answer(canonical(content), self.schema, _CHECKS)
        return read.reasons if isinstance(read, SchemaMismatch) else ()

    def as_json(self) -> JsonObject:
        """The question as JSON."""
        rows: JsonObject = asdict(self)
        return rows

    @classmethod
    def from_json(cls, row: Mapping[str, Any]) -> Question:
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
