"""Walks a person through the fields of a turn, over anything that can ask for a line or a text.

What was finished and what is being written are kept apart in the draft: whoever comes back goes on in the middle of
the sentence. Commands begin with a slash and stand alone on their line.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeAlias

from disputatio.motion import clean
from disputatio.participants.human import (
    ChoiceField,
    Field,
    GroupField,
    ListField,
    NumberField,
    TextField,
    TurnRequest,
)
from disputatio.participants.human.turn_form import parse_field_descriptions
from disputatio.report.amounts import counted
from disputatio.report.text_spans import Role

Answer: TypeAlias = dict[str, Any]
Keep: TypeAlias = Callable[[str], None]

COMMANDS = {
    "/help": "these commands",
    "/floor": "everything your seat has heard",
    "/task": "what this turn is for",
    "/rules": "the rules of this debate",
    "/sources": "the sources that lie before you",
    "/pass": "take no turn",
    "/leave": "stop here; what is written is kept, and resume goes on",
}


_COMMAND = re.compile(r"/[a-z]+")


class Passing(Exception):  # noqa: N818  (a decision, not an error)
    """The person takes no turn."""


class DetachAware(Exception):  # noqa: N818  (a decision, not an error)
    """The person leaves, or their input has ended."""


@dataclass(frozen=True, slots=True)
class Measure:
    """Counts while somebody writes: the words of the rest of the turn, and the limits of the turn and of the text."""

    request: TurnRequest
    before: int
    field: TextField

    def words(self, text: str) -> int:
        """The words of the turn with ``text`` in it."""
        return self.before + self.request.counted(text)

    def told(self, text: str) -> tuple[str, bool]:
        """How far it is, and whether it is too long."""
        words, limit = self.words(text), self.request.word_limit
        if limit is not None:
            over = words - limit
            left = f"{over} over the limit" if over > 0 else f"{-over} left"
            return f"{words} of {limit} words, {left}", over > 0
        size = len(text.strip())
        return (
            f"{counted(self.request.counted(text), 'word')}, {size:,} of {self.field.most:,} characters",
            size > self.field.most,
        )


class Asker(Protocol):
    """Asks for one thing at a time. Both methods raise ``DetachAware`` where there is nobody any more."""

    @property
    def has_person(self) -> bool:
        """Whether somebody sits there who can be asked to confirm."""

    def say(self, text: str, role: Role = Role.PLAIN) -> None:
        """Show a paragraph."""

    async def line(
        self, question: str, given: str = "", keep: Keep | None = None, measure: Measure | None = None
    ) -> str:
        """One line; ``given`` is what stands there at first, ``measure`` counts it where it is part of a text."""

    async def text(self, measure: Measure, given: str, keep: Keep) -> str:
        """A text of several lines. ``keep`` is called with what is written so far."""


@dataclass(slots=True)
class Draft:
    """What is written of a turn: ``done`` in the shape of the answer, and the text being written with its place."""

    done: Answer = field(default_factory=dict)
    at: str = ""
    writing: str = ""

    @classmethod
    def of(cls, body: Mapping[str, Any]) -> Draft:
        """The draft that was kept."""
        done, at, writing = body.get("done"), body.get("at"), body.get("writing")
        return cls(
            dict(done) if isinstance(done, dict) else {},
            at if isinstance(at, str) else "",
            writing if isinstance(writing, str) else "",
        )

    def as_json(self) -> Answer:
        """As it is kept."""
        return {"done": self.done, "at": self.at, "writing": self.writing}

    @property
    def begun(self) -> bool:
        """Whether anything is in it."""
        return bool(self.done or self.writing.strip())


class Walk:
    """One way through the form of a turn.

    Args:
        request: the turn.
        asker: asks.
        draft: what is there already; it is changed as the person goes on.
        keep: is told whenever the draft has changed.
        command: obeys a command such as ``/floor``; ``/pass`` and ``/leave`` are decided here.
    """

    def __init__(
        self,
        request: TurnRequest,
        asker: Asker,
        draft: Draft,
        *,
        keep: Callable[[], None],
        command: Callable[[str], None],
    ) -> None:
        self._request, self._asker, self._draft = request, asker, draft
        self._keep, self._command = keep, command
        self._abouts = parse_field_descriptions(request.situation.task)
        self.tried: list[str] = []

    async def fill(self) -> Answer:
        """Every field that the draft does not have yet."""
        for row in self._request.sheet.fields:
            await self._into(self._draft.done, row.key, row, row.key)
        return self._draft.done

    async def again(self, number: int) -> None:
        """The field with this number in the order of the form once more; what stands there is offered for change."""
        row = self._request.sheet.fields[number - 1]
        before = self._draft.done.pop(row.key, None)
        if isinstance(before, str):
            self._draft.at, self._draft.writing = row.key, before
        await self._into(self._draft.done, row.key, row, row.key)

    async def _into(self, runner: Any, key: Any, row: Field, place: str) -> None:
        """Fill ``row`` into ``runner``, unless a fitting value is there."""
        match row:
            case GroupField():
                inner = runner.get(key) if isinstance(runner, dict) else None
                if not isinstance(inner, dict):
                    inner = {}
                    _put(runner, key, inner)
                for each in row.fields:
                    await self._into(inner, each.key, each, f"{place}/{each.key}")
            case ListField():
                await self._items(runner, key, row, place)
            case _:
                there = _got(runner, key)
                if there is None or self._fault(row, there):
                    _put(runner, key, await self._leaf(row, place))
                    self._draft.at, self._draft.writing = "", ""
                    self._keep()

    async def _items(self, runner: Any, key: Any, row: ListField, place: str) -> None:
        inner = _got(runner, key)
        if not isinstance(inner, list):
            inner = []
            _put(runner, key, inner)
        number = 0
        if row.description and not inner:
            self._asker.say(f"{row.name}: {row.description}", Role.QUIET)
        while number < row.most:
            there = number < len(inner)
            if not there and number >= row.least and not await self._wants(row, number, place):
                break
            if isinstance(row.item, TextField) and not there:
                text = await self._item_text(row, number, f"{place}/{number}")
                if text is None:
                    break
                inner.append(text)
                self._draft.at, self._draft.writing = "", ""
                self._keep()
            else:
                if not there:
                    self._asker.say(f"{row.item.name} {number + 1}")
                await self._into(inner, number, row.item, f"{place}/{number}")
            number += 1

    async def _wants(self, row: ListField, number: int, place: str) -> bool:
        """Whether there is to be another item; of plain lines an empty one says so."""
        if isinstance(row.item, TextField) or self._draft.at.startswith(f"{place}/{number}"):
            return True
        word = "Another" if number else "Is there a"
        typed = await self._line(f"{word} {row.item.name.lower()}? [y/N] ")
        return typed.strip().lower() in {"y", "yes"}

    async def _item_text(self, row: ListField, number: int, place: str) -> str | None:
        """One line of a list; None where there is to be no further one."""
        item = row.item
        assert isinstance(item, TextField)  # noqa: S101  (checked by the caller)
        enough = number >= row.least
        ends = " (an empty line: no more)" if enough else ""
        while True:
            given = self._draft.writing if self._draft.at == place else ""
            keep = self._keeper(place)
            typed = await self._line(f"{item.name} {number + 1}{ends}: ", given, keep, self._measure(item))
            text = clean(typed).strip()
            if not text and enough:
                return None
            fault = item.fault(text)
            if not fault:
                return text
            self._refuse(fault)

    async def _leaf(self, row: Field, place: str) -> Any:
        if isinstance(row, TextField):
            return await self._text(row, place)
        if isinstance(row, ChoiceField) and len(row.options) == 1:
            return row.options[0]
        if isinstance(row, ChoiceField):
            about = f": {row.description}" if row.description else ""
            self._asker.say(f"{row.name}{about}", Role.QUIET)
            for number, option in enumerate(row.options, start=1):
                why = self._abouts.get(str(option), "")
                self._asker.say(f"  {number}  {_option(option)}{f': {why}' if why else ''}")
            question = f"{row.name}, a number: "
        else:
            assert isinstance(row, NumberField)  # noqa: S101  (groups and lists are walked by the caller)
            about = f", {row.description}" if row.description else ""
            question = f"{row.name}{about} [{row.lowest} to {row.highest}]: "
        while True:
            try:
                return row.read(await self._line(question))
            except ValueError as fault:
                self._refuse(str(fault))

    async def _text(self, row: TextField, place: str) -> str:
        if row.description or row.long:
            # A line has its name before it, a text has not.
            self._asker.say(f"{row.name}{f': {row.description}' if row.description else ''}", Role.QUIET)
        given = self._draft.writing if self._draft.at == place else ""
        while True:
            if row.long:
                typed = await self._long(row, place, given)
            else:
                typed = await self._line(f"{row.name}: ", given, self._keeper(place), self._measure(row))
            text = clean(typed).strip()
            fault = row.fault(text)
            if not fault:
                return text
            given = text
            self._draft.at, self._draft.writing = place, text
            self._keep()
            self._refuse(fault)

    async def _long(self, row: TextField, place: str, given: str) -> str:
        measure = Measure(self._request, self._request.counted(self._draft.done), row)
        while True:
            typed = await self._asker.text(measure, given, self._keeper(place))
            if not self._obeyed(typed):
                return typed
            given = self._draft.writing if self._draft.at == place else given

    def _measure(self, row: TextField) -> Measure:
        return Measure(self._request, self._request.counted(self._draft.done), row)

    async def _line(
        self, question: str, given: str = "", keep: Keep | None = None, measure: Measure | None = None
    ) -> str:
        while True:
            typed = await self._asker.line(question, given, keep, measure)
            if not self._obeyed(typed):
                return typed

    def _keeper(self, place: str) -> Keep:
        """Keeps what is being written at ``place``; a command is no part of it."""

        def keep(text: str) -> None:
            if not _COMMAND.fullmatch(text.strip()):
                self._draft.at, self._draft.writing = place, text
                self._keep()

        return keep

    def _obeyed(self, typed: str) -> bool:
        word = typed.strip().lower()
        if not _COMMAND.fullmatch(word):
            return False
        if word not in COMMANDS:
            self._refuse(f"There is no command {word}; /help shows those there are.")
            return True
        if word == "/pass":
            raise Passing
        if word == "/leave":
            raise DetachAware
        self._command(word)
        return True

    def _refuse(self, sentence: str) -> None:
        self.tried.append(sentence)
        self._asker.say(sentence, Role.WARNING)

    def _fault(self, row: Field, value: object) -> bool:
        if isinstance(row, TextField):
            return bool(row.fault(value))
        if isinstance(row, ChoiceField):
            return value not in row.options
        return isinstance(row, NumberField) and not (
            isinstance(value, int) and not isinstance(value, bool) and row.lowest <= value <= row.highest
        )


def _option(option: Any) -> str:
    """An option as people read it; ids stay as they are."""
    word = str(option)
    return word if any(char.isdecimal() for char in word) else word.replace("_", " ")


def _got(runner: Any, key: Any) -> Any:
    if isinstance(runner, dict):
        return runner.get(key)
    return runner[key] if key < len(runner) else None


def _put(runner: Any, key: Any, value: Any) -> None:
    if isinstance(runner, dict) or key < len(runner):
        runner[key] = value
    else:
        runner.append(value)
