"""The turn of a user's own format: whatever its rules ask for, each answer under its name."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from disputatio.formats.custom_format import Kind, Text, said
from disputatio.formats.turns import schema
from disputatio.formats.turns.citing import unmarked
from disputatio.kernel import JsonObject, Part, Task, Violation


@dataclass(frozen=True, slots=True)
class CustomTurn:
    """What a seat answered, in the order in which it was asked."""

    values: Mapping[str, Any]

    def text(self) -> str:
        """The answers, each after its name where there are several."""
        return unmarked("\n".join(said(self.values)))


@dataclass(frozen=True, slots=True)
class CustomTurnSpec:
    """What one ask of an own format wants.

    Attributes:
        kinds: what is asked for, by name.
        instruction: what the seat is told to do.
        heard: what a small model is shown: what the ask is about, or else what was said last.
    """

    kinds: tuple[tuple[str, Kind], ...]
    instruction: str
    heard: str = ""
    name: str = "own_answer"

    @property
    def schema(self) -> JsonObject:
        """An object with every answer."""
        return schema.record({name: kind.schema for name, kind in self.kinds})

    def read(self, content: JsonObject) -> CustomTurn:
        """The answers."""
        return CustomTurn({name: content[name] for name, _ in self.kinds})

    def violations(self, turn: CustomTurn) -> tuple[Violation, ...]:
        """Texts with too many words."""
        return tuple(row for name, kind in self.kinds for row in kind.violations(name, turn.values[name]))

    def next_part(self, done: tuple[JsonObject, ...]) -> Part | None:
        """One answer at a time; from the second on beside what the seat has said itself."""
        if len(done) >= len(self.kinds):
            return None
        name, kind = self.kinds[len(done)]
        own = " ".join(str(row) for part in done for row in part.values() if isinstance(row, str))
        form = "Answer in two or three sentences." if isinstance(kind, Text) else f"Answer with {kind.words}."
        values = {"instruction": self.instruction, "name": name.replace("_", " "), "form": form}
        if done:
            task = Task("own-further", values, {"said": own})
        else:
            task = Task("own-answer-to", values, {"heard": self.heard}) if self.heard else Task("own-answer", values)
        return Part(name, schema.record({name: kind.small_schema}), task, 220)

    def join(self, done: tuple[JsonObject, ...]) -> JsonObject:
        """All answers, as the whole form has them."""
        return {name: kind.of_small(part[name]) for (name, kind), part in zip(self.kinds, done, strict=True)}


def texts_of(values: Mapping[str, Any]) -> Iterator[str]:
    """Every text in ``values``, however deep."""
    for value in values.values():
        if isinstance(value, str):
            yield value
        elif isinstance(value, Mapping):
            yield from texts_of(value)
        elif isinstance(value, list | tuple):
            yield from texts_of(dict(enumerate(value)))  # type: ignore[arg-type]
