"""Walk a person through the fields of a turn, over anything that can ask for a line or a text.

A draft has the finished fields and the text that is being written, so that a person can stop in the middle of a
sentence. Commands begin with a slash and stand alone on their line.
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
SaveDraft: TypeAlias = Callable[[str], None]

COMMANDS = {
    "/help": "these commands",
    "/floor": "everything your seat has heard",
    "/task": "what this turn is for",
    "/rules": "the rules of this debate",
    "/sources": "the sources of this debate",
    "/pass": "skip this turn",
    "/leave": "stop here; your draft is stored, and `disputatio resume` continues",
}


_COMMAND = re.compile(r"/[a-z]+")


class PassTurn(Exception):  # noqa: N818  (a decision, not an error)
    """The person skips the turn."""


class PersonLeft(Exception):  # noqa: N818  (a decision, not an error)
    """The person leaves, or the input has ended."""


@dataclass(frozen=True, slots=True)
class WordCount:
    """Counts words while a person writes. ``before`` is the number of words in the other fields of the turn."""

    request: TurnRequest
    before: int
    field: TextField

    def words(self, text: str) -> int:
        """The number of words of the turn with ``text`` in it."""
        return self.before + self.request.counted(text)

    def describe(self, text: str) -> tuple[str, bool]:
        """The count against the limit in words, and whether it is too long."""
        words, limit = self.words(text), self.request.word_limit
        if limit is not None:
            over = words - limit
            rest = f"{over} over the limit" if over > 0 else f"{-over} left"
            return f"{words} of {limit} words, {rest}", over > 0
        size = len(text.strip())
        return (
            f"{counted(self.request.counted(text), 'word')}, {size:,} of {self.field.most:,} characters",
            size > self.field.most,
        )


class Asker(Protocol):
    """Asks for one thing at a time. ``line`` and ``text`` raise ``PersonLeft`` if the person is gone."""

    @property
    def has_person(self) -> bool:
        """Whether there is a person who can be asked to confirm."""

    def say(self, text: str, role: Role = Role.PLAIN) -> None:
        """Show a paragraph."""

    async def line(
        self, question: str, given: str = "", save: SaveDraft | None = None, count: WordCount | None = None
    ) -> str:
        """Ask for a line. ``given`` is its first content; ``count`` counts its words, if they count."""

    async def text(self, count: WordCount, given: str, save: SaveDraft) -> str:
        """Ask for a text of several lines. ``save`` is called with the text so far."""


@dataclass(slots=True)
class Draft:
    """The draft of a turn: ``done`` in the shape of the answer, and the text that is being written, with its place."""

    done: Answer = field(default_factory=dict)
    at: str = ""
    writing: str = ""

    @classmethod
    def of(cls, body: Mapping[str, Any]) -> Draft:
        """Read a stored draft."""
        done, at, writing = body.get("done"), body.get("at"), body.get("writing")
        return cls(
            dict(done) if isinstance(done, dict) else {},
            at if isinstance(at, str) else "",
            writing if isinstance(writing, str) else "",
        )

    def as_json(self) -> Answer:
        """The stored form."""
        return {"done": self.done, "at": self.at, "writing": self.writing}

    @property
    def begun(self) -> bool:
        """Whether it has any content."""
        return bool(self.done or self.writing.strip())


class FormWalk:
    """Fills in the form of a turn.

    Args:
        request: the turn.
        asker: asks the person.
        draft: the draft so far, which changes as the person goes on.
        save: is called whenever the draft has changed.
        command: runs a command such as ``/floor``. This class handles ``/pass`` and ``/leave``.
    """

    def __init__(
        self,
        request: TurnRequest,
        asker: Asker,
        draft: Draft,
        *,
        save: Callable[[], None],
        command: Callable[[str], None],
    ) -> None:
        self._request, self._asker, self._draft = request, asker, draft
        self._save, self._command = save, command
        self._abouts = parse_field_descriptions(request.situation.task)
        self.tried: list[str] = []

    async def fill(self) -> Answer:
        """Ask for every field that the draft does not have yet."""
        for row in self._request.sheet.fields:
            await self._fill_into(self._draft.done, row.key, row, row.key)
        return self._draft.done

    async def edit(self, number: int) -> None:
        """Ask again for the field with this number. Its text can be changed."""
        row = self._request.sheet.fields[number - 1]
        before = self._draft.done.pop(row.key, None)
        if isinstance(before, str):
            self._draft.at, self._draft.writing = row.key, before
        await self._fill_into(self._draft.done, row.key, row, row.key)

    async def _fill_into(self, container: Any, key: Any, row: Field, place: str) -> None:
        """Fill the field ``row`` into ``container``, unless it has a valid value."""
        match row:
            case GroupField():
                inner = container.get(key) if isinstance(container, dict) else None
                if not isinstance(inner, dict):
                    inner = {}
                    _put(container, key, inner)
                for each in row.fields:
                    await self._fill_into(inner, each.key, each, f"{place}/{each.key}")
            case ListField():
                await self._items(container, key, row, place)
            case _:
                value = _get(container, key)
                if value is None or self._is_invalid(row, value):
                    _put(container, key, await self._leaf(row, place))
                    self._draft.at, self._draft.writing = "", ""
                    self._save()

    async def _items(self, container: Any, key: Any, row: ListField, place: str) -> None:
        inner = _get(container, key)
        if not isinstance(inner, list):
            inner = []
            _put(container, key, inner)
        number = 0
        if row.description and not inner:
            self._asker.say(f"{row.name}: {row.description}", Role.QUIET)
        while number < row.most:
            exists = number < len(inner)
            if not exists and number >= row.least and not await self._wants(row, number, place):
                break
            if isinstance(row.item, TextField) and not exists:
                text = await self._item_text(row, number, f"{place}/{number}")
                if text is None:
                    break
                inner.append(text)
                self._draft.at, self._draft.writing = "", ""
                self._save()
            else:
                if not exists:
                    self._asker.say(f"{row.item.name} {number + 1}")
                await self._fill_into(inner, number, row.item, f"{place}/{number}")
            number += 1

    async def _wants(self, row: ListField, number: int, place: str) -> bool:
        """Whether the person wants another item. Among plain lines, an empty one says no."""
        if isinstance(row.item, TextField) or self._draft.at.startswith(f"{place}/{number}"):
            return True
        word = "Another" if number else "Is there a"
        typed = await self._line(f"{word} {row.item.name.lower()}? [y/N] ")
        return typed.strip().lower() in {"y", "yes"}

    async def _item_text(self, row: ListField, number: int, place: str) -> str | None:
        """Ask for one line of a list; None if there is to be no further one."""
        item = row.item
        assert isinstance(item, TextField)  # noqa: S101  (checked by the caller)
        enough = number >= row.least
        ends = " (an empty line: no more)" if enough else ""
        while True:
            given = self._draft.writing if self._draft.at == place else ""
            saver = self._saver(place)
            typed = await self._line(f"{item.name} {number + 1}{ends}: ", given, saver, self._word_count(item))
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
            # The question of a line has its name. A text has no question.
            self._asker.say(f"{row.name}{f': {row.description}' if row.description else ''}", Role.QUIET)
        given = self._draft.writing if self._draft.at == place else ""
        while True:
            if row.long:
                typed = await self._long(row, place, given)
            else:
                typed = await self._line(f"{row.name}: ", given, self._saver(place), self._word_count(row))
            text = clean(typed).strip()
            fault = row.fault(text)
            if not fault:
                return text
            given = text
            self._draft.at, self._draft.writing = place, text
            self._save()
            self._refuse(fault)

    async def _long(self, row: TextField, place: str, given: str) -> str:
        count = self._word_count(row)
        while True:
            typed = await self._asker.text(count, given, self._saver(place))
            if not self._run_command(typed):
                return typed
            given = self._draft.writing if self._draft.at == place else given

    def _word_count(self, row: TextField) -> WordCount:
        return WordCount(self._request, self._request.counted(self._draft.done), row)

    async def _line(
        self, question: str, given: str = "", save: SaveDraft | None = None, count: WordCount | None = None
    ) -> str:
        while True:
            typed = await self._asker.line(question, given, save, count)
            if not self._run_command(typed):
                return typed

    def _saver(self, place: str) -> SaveDraft:
        """A function that stores the text at ``place`` in the draft, unless it is a command."""

        def save(text: str) -> None:
            if not _COMMAND.fullmatch(text.strip()):
                self._draft.at, self._draft.writing = place, text
                self._save()

        return save

    def _run_command(self, typed: str) -> bool:
        word = typed.strip().lower()
        if not _COMMAND.fullmatch(word):
            return False
        if word not in COMMANDS:
            self._refuse(f"There is no command {word}. /help lists the commands.")
            return True
        if word == "/pass":
            raise PassTurn
        if word == "/leave":
            raise PersonLeft
        self._command(word)
        return True

    def _refuse(self, sentence: str) -> None:
        self.tried.append(sentence)
        self._asker.say(sentence, Role.WARNING)

    def _is_invalid(self, row: Field, value: object) -> bool:
        if isinstance(row, TextField):
            return bool(row.fault(value))
        if isinstance(row, ChoiceField):
            return value not in row.options
        return isinstance(row, NumberField) and not (
            isinstance(value, int) and not isinstance(value, bool) and row.lowest <= value <= row.highest
        )


def _option(option: Any) -> str:
    """An option for people. Ids stay as they are."""
    word = str(option)
    return word if any(char.isdecimal() for char in word) else word.replace("_", " ")


def _get(container: Any, key: Any) -> Any:
    if isinstance(container, dict):
        return container.get(key)
    return container[key] if key < len(container) else None


def _put(container: Any, key: Any, value: Any) -> None:
    if isinstance(container, dict) or key < len(container):
        container[key] = value
    else:
        container.append(value)
