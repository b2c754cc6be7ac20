"""What the surfaces need to know about one kind of turn, so that none of them asks which kind it shows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from disputatio.report.turns.statement import Questions, Statement, any_content

View: TypeAlias = Callable[[str, Mapping[str, Any], Questions], Iterable[Statement]]
Place: TypeAlias = tuple[str, str]


@dataclass(slots=True)
class Heard:
    """Counts of what was said so far, from which the length of the next turn follows."""

    rules: Mapping[str, Any] = field(default_factory=dict)
    questions: dict[str, str] = field(default_factory=dict)
    arguments: dict[tuple[str, str], int] = field(default_factory=dict)
    """How many arguments the last turn of each kind and seat made."""

    def rule(self, name: str) -> int | None:
        """A whole number among the rules of the debate."""
        value = self.rules.get(name)
        return value if isinstance(value, int) else None

    def made(self, kind: str, *, except_by: str = "") -> int:
        """The arguments that turns of ``kind`` made."""
        return sum(number for (name, seat), number in self.arguments.items() if name == kind and seat != except_by)


def everything_else(_: Statement) -> Place:
    """The place of a statement that nothing refers to."""
    return "other", ""


@dataclass(frozen=True, slots=True)
class TurnKind:
    """One kind of turn.

    Attributes:
        name: the name of its specification, as the record stores it.
        view: reads its content, which may be incomplete, as statements.
        whole_of_part: the content of one part, named first, as if it were the whole turn.
        place: what a statement is (see ``page.exchange.Said.kind``) and which argument it is about.
        questions: the follow-up questions that it puts, by the ids that the rules give them.
        noun: what its statements are called while it is written.
        activity: what the seat does while it is written.
        expected: how many statements it will have; None where that is not known.
        word_limit: the rule that limits its words; empty where words are not counted.
        names_angles: whether its parts each have an angle, in the order of ``ANGLES``.
        concludes: whether it is a judge's conclusion, which pages lay out over the whole width.
        closing: the keys of the own arguments and of the change of mind, where it is a closing.
        again: what a second ask of the same turn is for; empty where there is none.
        again_note: the same, as it is reported while the debate runs.
        struck_from: the key of the parts that a fork can strike; ``""`` where the content itself has them by argument.
        part_name: the name of the part of a seat that is about an argument.
        numbers: the ids of its arguments, from the path, the seat and their number.
        heard_by: who may hear it at once where people sit: ``all``, the own ``team``, the ``judge``; empty for no one.
        held_back: the sentence that all others see instead.
        spoken_at: the key of the time at which it was said, in the words of a transcript.
    """

    name: str
    view: View = lambda _, content, __: any_content(content)
    whole_of_part: Callable[[str, Mapping[str, Any]], dict[str, Any]] = lambda _, content: dict(content)
    place: Callable[[Statement], Place] = everything_else
    questions: Callable[[Mapping[str, Any]], dict[str, str]] = lambda _: {}
    noun: str = "part"
    activity: str = "writes"
    expected: Callable[[Heard, str], int | None] = lambda _, __: None
    word_limit: str = ""
    names_angles: bool = False
    concludes: bool = False
    closing: tuple[str, str] | None = None
    again: str = ""
    again_note: str = ""
    struck_from: str | None = None
    part_name: Callable[[str, str], str] = lambda _, about: about
    numbers: Callable[[str, str, int], Sequence[str]] | None = None
    heard_by: str = ""
    held_back: str = "has taken its turn"
    spoken_at: str = ""

    def statements(
        self, seat: str, content: Mapping[str, Any], questions: Questions | None = None
    ) -> tuple[Statement, ...]:
        """What ``seat`` says in ``content``; a kind of another format may carry a known name, and is shown as JSON."""
        return tuple(self.view(seat, content, questions or {})) or tuple(any_content(content))

    def with_numbers(self, path: str, seat: str, content: Mapping[str, Any]) -> Mapping[str, Any]:
        """``content`` with the ids of its arguments, which the record leaves to the rules."""
        rows = content.get("arguments")
        if self.numbers is None or not isinstance(rows, list | tuple):
            return content
        # An empty row is the place of one that a fork left out.
        names = self.numbers(path, seat, len(rows))
        named = [
            {**(row if isinstance(row, Mapping) else {}), "id": name} if row else {}
            for name, row in zip(names, rows, strict=True)
        ]
        return {**content, "arguments": named}

    def without(self, path: str, seat: str, content: Mapping[str, Any], struck: frozenset[str]) -> dict[str, Any]:
        """``content`` without the parts that a fork strikes; what is left keeps its numbers."""
        remaining = dict(content)
        if self.struck_from is None:
            return remaining
        rows = remaining if not self.struck_from else remaining.get(self.struck_from)
        if isinstance(rows, list | tuple) and self.numbers is not None:
            names = self.numbers(path, seat, len(rows))
            # An empty row holds the number of the one that stood there.
            kept: Any = [{} if name in struck else row for name, row in zip(names, rows, strict=True)]
        elif isinstance(rows, Mapping):
            kept = {about: row for about, row in rows.items() if self.part_name(seat, about) not in struck}
        else:
            return remaining
        return {**remaining, self.struck_from: kept} if self.struck_from else dict(kept)
