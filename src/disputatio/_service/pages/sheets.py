"""The form of a person's turn on a page: its fields with what was filled in, and a turn read back from them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from disputatio.participants.human import (
    ChoiceField,
    Field,
    GroupField,
    ListField,
    NumberField,
    TextField,
    TurnForm,
)

MOST_SHOWN = 12
"""Items of a list that a page has room for."""


@dataclass(frozen=True, slots=True)
class Item:
    """One field as a page shows it.

    ``kind`` is group, list, fixed, choice, number, long or text; ``items`` are the fields of a group, or the items of a
    list that must be there; ``further`` those that may be.
    """

    kind: str
    name: str
    label: str
    description: str = ""
    value: Any = ""
    options: tuple[str, ...] = ()
    lowest: int = 0
    highest: int = 0
    most: int = 0
    count: str = ""
    items: tuple[Item, ...] = ()
    further: tuple[Further, ...] = ()


@dataclass(frozen=True, slots=True)
class Further:
    """An optional item. ``filled``: whether the form has content for it."""

    item: Item
    filled: bool = field(default=False)


def items_of(sheet: TurnForm, values: Mapping[str, str]) -> tuple[Item, ...]:
    """The values of the fields of ``sheet``, by the names of the form."""
    return tuple(_item(row, f"f.{row.key}", values) for row in sheet.fields)


def _item(row: Field, name: str, values: Mapping[str, str], label: str = "") -> Item:
    label, value = label or row.name, values.get(name, "")
    match row:
        case TextField():
            return Item("long" if row.long else "text", name, label, row.description, value, most=row.most)
        case NumberField():
            return Item("number", name, label, row.description, value, lowest=row.lowest, highest=row.highest)
        case ChoiceField():
            options = tuple(_word(option) for option in row.options)
            if len(options) == 1:
                return Item("fixed", name, label, row.description, options[0])
            return Item("choice", name, label, row.description, value, options=options)
        case GroupField():
            inner = tuple(_item(each, f"{name}.{each.key}", values) for each in row.fields)
            return Item("group", name, label, row.description, items=inner)
        case ListField():
            return _list(row, name, values, label)


def _list(row: ListField, name: str, values: Mapping[str, str], label: str) -> Item:
    most = max(row.least, min(row.most, MOST_SHOWN))
    first = max(1, row.least) if row.most else 0

    def each(place: int) -> Item:
        return _item(row.item, f"{name}.{place}", values, f"{row.item.name} {place + 1}")

    further = tuple(Further(each(place), _filled(f"{name}.{place}", values)) for place in range(first, most))
    count = f"{row.least}" if row.least == row.most else f"{row.least} to {most}"
    items = tuple(each(place) for place in range(first))
    return Item("list", name, label, row.description, count=count, items=items, further=further)


def _filled(name: str, values: Mapping[str, str]) -> bool:
    return any(value.strip() and (key == name or key.startswith(f"{name}.")) for key, value in values.items())


def read_turn(sheet: TurnForm, values: Mapping[str, str]) -> dict[str, Any]:
    """The turn that was filled in. What is left empty is left out, for the check of the turn to name.

    Raises:
        ValueError: a number is none, in one sentence.
    """
    return {row.key: _read(row, f"f.{row.key}", values) for row in sheet.fields}


def _read(row: Field, name: str, values: Mapping[str, str]) -> Any:
    text = values.get(name, "")
    match row:
        case TextField():
            return text.replace("\r\n", "\n").strip()
        case NumberField():
            return row.read(text)
        case ChoiceField():
            if len(row.options) == 1:
                return row.options[0]
            return next((option for option in row.options if _word(option) == text), None)
        case GroupField():
            return {each.key: _read(each, f"{name}.{each.key}", values) for each in row.fields}
        case ListField():
            places = range(max(row.least, min(row.most, MOST_SHOWN)))
            fixed = _only_fixed(row.item)
            return [
                _read(row.item, f"{name}.{place}", values)
                for place in places
                if place < row.least or (_chosen(row.item, f"{name}.{place}", values) if not fixed else False)
            ]


def _only_fixed(row: Field) -> bool:
    if isinstance(row, GroupField):
        return all(_only_fixed(each) for each in row.fields)
    return isinstance(row, ChoiceField) and len(row.options) == 1


def _chosen(row: Field, name: str, values: Mapping[str, str]) -> bool:
    """Whether a person wrote anything in an item; what is fixed does not count."""
    if isinstance(row, GroupField):
        return any(_chosen(each, f"{name}.{each.key}", values) for each in row.fields)
    if isinstance(row, ChoiceField) and len(row.options) == 1:
        return False
    return _filled(name, values)


def faults_of(sheet: TurnForm, values: Mapping[str, str]) -> list[tuple[str, str]]:
    """What is wrong with single fields: the name of each in the form, and a sentence."""
    found: list[tuple[str, str]] = []
    for row in sheet.fields:
        _look(row, f"f.{row.key}", values, "", found)
    return found


def _look(row: Field, name: str, values: Mapping[str, str], where: str, found: list[tuple[str, str]]) -> None:
    text = values.get(name, "")
    match row:
        case TextField():
            fault = row.fault(text.replace("\r\n", "\n"))
            if fault:
                found.append((name, f"{where}{fault}"))
        case NumberField():
            try:
                row.read(text)
            except ValueError as error:
                found.append((name, f"{where}{row.name}: {error}"))
        case ChoiceField():
            if len(row.options) > 1 and text not in map(_word, row.options):
                found.append((name, f"{where}{row.name} is not chosen."))
        case GroupField():
            for each in row.fields:
                _look(each, f"{name}.{each.key}", values, where, found)
        case ListField():
            for place in range(max(row.least, min(row.most, MOST_SHOWN))):
                if place < row.least or _chosen(row.item, f"{name}.{place}", values):
                    _look(row.item, f"{name}.{place}", values, f"{where}{row.item.name} {place + 1}: ", found)


def values_of(sheet: TurnForm, content: Any) -> dict[str, str]:
    """The form's values for an earlier turn."""
    found: dict[str, str] = {}

    def walk(value: Any, name: str) -> None:
        if isinstance(value, Mapping):
            for key, row in value.items():
                walk(row, f"{name}.{key}")
        elif isinstance(value, Sequence) and not isinstance(value, str):
            for place, row in enumerate(value):
                walk(row, f"{name}.{place}")
        elif value is not None:
            found[name] = _word(value)

    for row in sheet.fields:
        if isinstance(content, Mapping) and row.key in content:
            walk(content[row.key], f"f.{row.key}")
    return found


def _word(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)
