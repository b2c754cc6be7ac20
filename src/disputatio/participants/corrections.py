"""Asks again for the faulty parts of a long answer only.

One wrong quotation should not make us pay twice for a judge's finding on ten arguments. The schema of a correction is
that of the answer, reduced to the faulty places. A place is the path to a value: property names and item indexes. In
the schema of a correction, a list item becomes a property named by its number, from 1.
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
"""Characters. Shorter answers are requested again as a whole: the model sees more, and it costs little more."""
_MOST_SHARE = 0.6
"""Correcting a larger share of the answer than this saves too little."""
_NUMBERED = re.compile(r"(.+)-([1-9][0-9]{0,2})")


@dataclass(frozen=True)
class Correction:
    """The parts of ``content`` to request again.

    Attributes:
        content: the whole answer.
        places: the faulty places; none lies inside another.
        schema: JSON Schema of the requested parts.
    """

    content: JsonObject
    places: tuple[Place, ...]
    schema: JsonObject

    @property
    def excerpt(self) -> str:
        """The present values at these places, as canonical JSON in the structure of ``schema``."""
        return canonical(_cut(self.content, self.places))

    def only(self, given: JsonObject) -> JsonObject:
        """Reduce ``given`` to the places, in the structure of ``schema``."""
        named = [tuple(_key(step) for step in place) for place in self.places]
        return cast("JsonObject", _cut(given, named))

    def merge(self, corrected: JsonObject) -> JsonObject:
        """Put the values of ``corrected``, which has the structure of ``schema``, into the answer."""
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
    """Return how to request only ``places`` of ``content``.

    Args:
        content: an answer.
        places: its faulty places; None for an unknown one.
        schema: JSON Schema of the whole answer, made of objects and lists.

    Returns:
        None if the whole answer must be requested: it is short, most of it is faulty, or a place is unknown.
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
    """Find the one place with this label: a property, or an item such as ``argument-2``; None if it is not unique."""
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
    """The property name of a step in the schema of a correction."""
    return step if isinstance(step, str) else str(step + 1)


def _by_step(places: Sequence[Place]) -> dict[str | int, list[Place]]:
    steps: dict[str | int, list[Place]] = {}
    for place in places:
        steps.setdefault(place[0], []).append(place[1:])
    return steps


def _prune(schema: JsonObject, places: Sequence[Place]) -> JsonObject | None:
    """Reduce the schema to ``places``; None if it lacks one of them."""
    kept: dict[str, JsonObject] = {}
    for step, rest in _by_step(places).items():
        inner = cast("Any", schema.get("items") if isinstance(step, int) else schema.get("properties", {}).get(step))  # type: ignore[union-attr]
        pruned = None if inner is None else inner if () in rest else _prune(inner, rest)
        if pruned is None:
            return None
        kept[_key(step)] = pruned
    return {"type": "object", "properties": kept, "required": list(kept), "additionalProperties": False}


def _cut(value: Any, places: Sequence[Place]) -> Any:
    """Reduce ``value`` to ``places``; leave out what it lacks."""
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
