"""Asks again for the faulty parts of a long answer only.

A judge's finding on ten arguments should not be bought twice because one quotation in it is wrong. A correction has the
schema of the whole answer, cut down to the places at fault; what comes back is put into the answer in their place. A
place is the path to a value: names of properties and indexes of items. In the schema of a correction an item of a list
is a property that is named for its number, from 1.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias, cast

from disputatio.kernel import JsonObject
from disputatio.record.text import canonical

Place: TypeAlias = tuple[str | int, ...]

LONG_ANSWER = 1_200
"""Characters. A shorter answer is asked for again as a whole: the model sees more, and it costs little more."""
_MOST_SHARE = 0.6
"""A correction of a larger share of the answer than this saves too little."""
_NUMBERED = re.compile(r"(.+)-([1-9][0-9]{0,2})")


@dataclass(frozen=True)
class Correction:
    """The parts of ``content`` that are asked for again.

    Attributes:
        content: the whole answer, some of which is at fault.
        places: where; no place lies inside another.
        schema: JSON Schema of what is asked for.
    """

    content: JsonObject
    places: tuple[Place, ...]
    schema: JsonObject

    @property
    def excerpt(self) -> str:
        """What the answer has at these places now, as canonical JSON in the structure of ``schema``."""
        return canonical(_cut(self.content, self.places))

    def only(self, given: JsonObject) -> JsonObject:
        """What ``given`` has at the places, in the structure of ``schema``."""
        named = [tuple(_key(step) for step in place) for place in self.places]
        return cast("JsonObject", _cut(given, named))

    def merge(self, corrected: JsonObject) -> JsonObject:
        """The whole answer with what ``corrected`` has in its places; it has the structure of ``schema``."""
        whole: Any = _copy(self.content)
        for place in self.places:
            target, value = whole, cast("Any", corrected)
            try:
                for step in place:
                    value = value[_key(step)]
                for step in place[:-1]:
                    target = target[step]
                target[place[-1]] = value
            except (KeyError, IndexError, TypeError):
                continue
        return cast("JsonObject", whole)


def correction_of(content: JsonObject, places: Iterable[Place | None], schema: JsonObject) -> Correction | None:
    """How to ask for ``places`` of ``content`` alone.

    Args:
        content: an answer.
        places: what is at fault in it; None where that is not known.
        schema: JSON Schema of the whole answer, made of records and lists as all forms are.

    Returns:
        None where the whole is to be asked for again: it is short, most of it is at fault, or a place is not known.
    """
    wanted = list(dict.fromkeys(places))
    whole = len(canonical(content))
    if whole < LONG_ANSWER or not wanted or not all(wanted):
        return None
    known = [place for place in wanted if place]
    outer = tuple(row for row in known if not any(row[: len(other)] == other for other in known if other != row))
    cut = _cut(content, outer)
    if len(canonical(cut)) > _MOST_SHARE * whole:
        return None
    pruned = _prune(schema, outer)
    return None if pruned is None else Correction(content, outer, pruned)


def place_of(label: str, schema: JsonObject) -> Place | None:
    """Where the piece of a turn with this label stands: a property, or an item such as ``argument-2``.

    None where there is no such place, or more than one.
    """
    found = list(_places(label, schema, ()))
    return found[0] if len(found) == 1 else None


def _places(label: str, schema: JsonObject, above: Place) -> Iterator[Place]:
    numbered = _NUMBERED.fullmatch(label)
    for name, row in cast("Mapping[str, JsonObject]", schema.get("properties", {})).items():
        if name == label:
            yield (*above, name)
        elif numbered and name == f"{numbered[1]}s" and row.get("type") == "array":
            yield (*above, name, int(numbered[2]) - 1)
        else:
            yield from _places(label, row, (*above, name))


def _key(step: str | int) -> str:
    """The property that stands for a step of a place."""
    return step if isinstance(step, str) else str(step + 1)


def _by_step(places: Sequence[Place]) -> dict[str | int, list[Place]]:
    steps: dict[str | int, list[Place]] = {}
    for place in places:
        steps.setdefault(place[0], []).append(place[1:])
    return steps


def _prune(schema: JsonObject, places: Sequence[Place]) -> JsonObject | None:
    """The schema of ``places`` alone; None where one of them is not in it."""
    kept: dict[str, JsonObject] = {}
    for step, rest in _by_step(places).items():
        inner = cast("Any", schema.get("items") if isinstance(step, int) else schema.get("properties", {}).get(step))  # type: ignore[union-attr]
        pruned = None if inner is None else inner if () in rest else _prune(inner, rest)
        if pruned is None:
            return None
        kept[_key(step)] = pruned
    return {"type": "object", "properties": kept, "required": list(kept), "additionalProperties": False}


def _cut(value: Any, places: Sequence[Place]) -> Any:
    """What ``value`` has at ``places``, without what it does not have."""
    found: dict[str, Any] = {}
    for step, rest in _by_step(places).items():
        try:
            inner = value[step]
        except (KeyError, IndexError, TypeError):
            continue
        found[_key(step)] = inner if () in rest else _cut(inner, rest)
    return found


def _copy(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _copy(row) for key, row in value.items()}
    return [_copy(row) for row in value] if isinstance(value, list) else value
