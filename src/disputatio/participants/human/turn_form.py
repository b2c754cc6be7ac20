"""The form of a turn for people: a tree of fields, read from the JSON Schema of the turn.

A terminal, a page or a test walks the tree and shows it. A field knows its limits and explains a wrong value in one
sentence. The whole turn is still checked against the schema.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from disputatio.kernel import JsonObject
from disputatio.motion import clean, one_line

_LONG_TEXT = 400
"""Characters; longer texts get several lines."""


@dataclass(frozen=True, slots=True)
class TextField:
    """Words, in characters from ``least`` to ``most``."""

    key: str
    description: str
    least: int
    most: int
    pattern: str = ""

    @property
    def long(self) -> bool:
        """Whether the text needs several lines."""
        return self.most > _LONG_TEXT

    def fault(self, value: object) -> str:
        """What is wrong with ``value``, in one sentence; empty where nothing is."""
        if not isinstance(value, str) or not value.strip():
            return f"{self.name} is empty; it needs at least {self.least} characters." if self.least else ""
        size = len(value.strip())
        if size < self.least:
            return f"{self.name} has {size} characters and needs at least {self.least}."
        if size > self.most:
            return f"{self.name} has {size:,} characters and may have {self.most:,}."
        if self.pattern and not re.search(self.pattern, value.strip()):
            return f"{self.name} does not have the form that is asked for here."
        return ""

    @property
    def name(self) -> str:
        """What people call it."""
        return label_of(self.key)


@dataclass(frozen=True, slots=True)
class ChoiceField:
    """One of ``options``; with a single one there is nothing to choose."""

    key: str
    description: str
    options: tuple[Any, ...]

    @property
    def name(self) -> str:
        """What people call it."""
        return label_of(self.key)

    def read(self, typed: str) -> Any:
        """Read an option by its number or its word; no input selects the empty option, if there is one.

        Raises:
            ValueError: no option matches; the message is one sentence.
        """
        word = one_line(typed, 120).strip()
        if not word and "" in self.options:
            return ""
        if not word:
            raise ValueError(f"{self.name} is not chosen; type a number from 1 to {len(self.options)}.")
        if re.fullmatch(r"[0-9]+", word) and all(str(row) != word for row in self.options):
            if 1 <= int(word) <= len(self.options):
                return self.options[int(word) - 1]
            raise ValueError(f"There is no {word} here; type a number from 1 to {len(self.options)}.")
        wanted = _plain(word)
        same = [row for row in self.options if _plain(str(row)) == wanted]
        begun = [row for row in self.options if _plain(str(row)).startswith(wanted)]
        found = same or begun
        if len(found) == 1:
            return found[0]
        listed = ", ".join(str(row) for row in (found or self.options))
        why = "could be several of these" if found else "is not one of those there are"
        raise ValueError(f"{word!r} {why}: {one_line(listed, 300)}.")


@dataclass(frozen=True, slots=True)
class NumberField:
    """A number from ``lowest`` to ``highest``; a whole one unless it may have ``decimals``."""

    key: str
    description: str
    lowest: int
    highest: int
    decimals: bool = False

    @property
    def name(self) -> str:
        """What people call it."""
        return label_of(self.key)

    def read(self, typed: str) -> int | float:
        """Read a number.

        Raises:
            ValueError: it is no number, or out of range; the message is one sentence.
        """
        word = one_line(typed, 40).strip()
        if self.decimals:
            if re.fullmatch(r"[+-]?[0-9]{0,9}\.?[0-9]{1,9}", word) and self.lowest <= float(word) <= self.highest:
                return float(word)
            raise ValueError(f"{repr(word) if word else 'Nothing'} is no number from {self.lowest} to {self.highest}.")
        if not re.fullmatch(r"[+-]?[0-9]{1,9}", word) or not self.lowest <= int(word) <= self.highest:
            shown = repr(word) if word else "Nothing"
            raise ValueError(f"{shown} is no whole number from {self.lowest} to {self.highest}.")
        return int(word)


@dataclass(frozen=True, slots=True)
class ListField:
    """Several of ``item``, ``least`` to ``most``."""

    key: str
    description: str
    item: Field
    least: int
    most: int

    @property
    def name(self) -> str:
        """What people call it."""
        return label_of(self.key)


@dataclass(frozen=True, slots=True)
class GroupField:
    """Fields that belong together: an argument with its claim, reasoning and evidence."""

    key: str
    description: str
    fields: tuple[Field, ...]

    @property
    def name(self) -> str:
        """What people call it."""
        return label_of(self.key)


Field: TypeAlias = TextField | ChoiceField | NumberField | ListField | GroupField


@dataclass(frozen=True, slots=True)
class TurnForm:
    """All fields of one turn, in the order in which they are filled in."""

    fields: tuple[Field, ...] = field(default=())

    def leaves(self) -> Iterator[Field]:
        """Yield every field that is not a group; the item of a list once."""
        stack: list[Field] = list(reversed(self.fields))
        while stack:
            row = stack.pop()
            if isinstance(row, GroupField):
                stack.extend(reversed(row.fields))
            elif isinstance(row, ListField):
                stack.append(row.item)
            else:
                yield row


class UnknownShapeError(ValueError):
    """A part of a schema has no matching field. This can happen in custom formats."""


def form_from_schema(schema: JsonObject, descriptions: Mapping[str, str] | None = None) -> TurnForm:
    """The fields of a turn whose answer is valid under ``schema``.

    Args:
        schema: a JSON Schema of an object, as the forms write them.
        abouts: what each key is for, in a sentence.

    Raises:
        UnknownShapeError: the schema has a part that cannot be asked for field by field.
    """
    whole = _field("turn", schema, descriptions or {})
    if not isinstance(whole, GroupField):
        raise UnknownShapeError("the schema of a turn is an object")
    return TurnForm(whole.fields)


def _field(key: str, schema: Any, descriptions: Mapping[str, str]) -> Field:
    description = descriptions.get(key, "")
    if not isinstance(schema, Mapping):
        raise UnknownShapeError(key)
    if isinstance(schema.get("enum"), Sequence):
        return ChoiceField(key, description, tuple(schema["enum"]))
    match schema.get("type"):
        case "string":
            least, most = schema.get("minLength", 0), schema.get("maxLength", 2_000)
            return TextField(key, description, least, most, schema.get("pattern", ""))
        case "integer":
            return NumberField(key, description, schema.get("minimum", 0), schema.get("maximum", 1_000_000))
        case "number":
            return NumberField(
                key, description, schema.get("minimum", 0), schema.get("maximum", 1_000_000), decimals=True
            )
        case "boolean":
            return ChoiceField(key, description, (True, False))
        case "array":
            item = _field(_single(key), schema.get("items"), descriptions)
            return ListField(key, description, item, schema.get("minItems", 0), schema.get("maxItems", 20))
        case "object" if isinstance(schema.get("properties"), Mapping):
            rows = schema["properties"].items()
            return GroupField(key, description, tuple(_field(str(name), row, descriptions) for name, row in rows))
    raise UnknownShapeError(key)


def _single(key: str) -> str:
    """One of several: ``arguments`` are each an ``argument``."""
    if key.endswith("ies"):
        return f"{key[:-3]}y"
    return key[:-1] if key.endswith("s") and not key.endswith("ss") else key


_LISTED = re.compile(r"^[-*] `?([a-z_]+)`?: (.+)$", re.MULTILINE)


def parse_field_descriptions(task: str) -> dict[str, str]:
    """Read the descriptions of fields from a task's lines such as ``- claim: one sentence``."""
    return {match[1]: one_line(match[2], 600) for match in _LISTED.finditer(task)}


def label_of(key: str) -> str:
    """The label of a key; ids of arguments stay as they are."""
    plain = clean(key)
    if plain != plain.lower() or any(char.isdigit() for char in plain):
        return one_line(plain, 80)
    return one_line(plain.replace("_", " ").capitalize(), 80)


def _plain(text: str) -> str:
    return re.sub(r"[\s_-]+", " ", text).strip().lower()
