"""Read JSON strictly, render it with the place of every value, and resolve RFC 6901 pointers.

Numbers keep their digits (``Decimal``), so floating-point rounding cannot change a comparison.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import TypeAlias

from disputatio.errors import InvalidInputError
from disputatio.evidence.findings import Span
from disputatio.motion import LONGEST_RAW_EVIDENCE, MAX_EVIDENCE_CHARS, too_long

Value: TypeAlias = "bool | int | Decimal | str | Sequence[Value] | Mapping[str, Value] | None"

MAX_DEPTH = 100
"""Levels of nested lists and objects."""

MAX_DIGITS = 400
"""Of one number."""

_MAX_POINTER_CHARS = 20_000_000
"""Of the pointers of all values together. Values below a long key repeat it."""

_UNPAIRED = re.compile("[\\ud800-\\udfff]")


def read_json(text: str, what: str) -> Value:
    """Read the value in ``text``.

    Raises:
        InvalidInputError: it is not JSON (RFC 8259), repeats a key, or is too long or too deep; ``what`` names it.
    """
    if len(text) > LONGEST_RAW_EVIDENCE:
        raise too_long(what, f"{len(text):,} characters")
    try:
        value: Value = json.loads(
            text,
            parse_float=_parse_decimal,
            parse_int=_parse_integer,
            parse_constant=_refuse_constant,
            object_pairs_hook=_build_object,
        )
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}"
        raise InvalidInputError(
            f"{what} is not valid JSON: {error.msg.lower()} at {where}.", "Correct it there."
        ) from None
    except _StrictError as error:
        raise InvalidInputError(f"{what} cannot be used: {error}.", "Correct the file.") from None
    except RecursionError:
        raise _nesting_error(what) from None
    return value


def render_json(value: Value, what: str) -> tuple[str, dict[str, Span]]:
    """Return ``value`` as readable text, and the span of each pointer's value in it.

    Raises:
        InvalidInputError: it is nested deeper than ``MAX_DEPTH``, or the text or the pointers are too long.
    """
    spans: dict[str, Span] = {}
    pieces: list[str] = []
    length = pointed = 0
    open_at: list[tuple[str, int]] = []
    for pointer, piece, role in _write_parts(value, what):
        if role == "close":
            start_pointer, start = open_at.pop()
            spans[start_pointer] = Span(start, length + len(piece))
        elif role == "open":
            open_at.append((pointer, length))
        elif role == "value":
            spans[pointer] = Span(length, length + len(piece))
        pieces.append(piece)
        length += len(piece)
        pointed += len(pointer) if role in {"open", "value"} else 0
        if length > MAX_EVIDENCE_CHARS:
            raise InvalidInputError(
                f"{what} is too long: it has more than {MAX_EVIDENCE_CHARS:,} characters when it is written out.",
                "Give the part that concerns the motion.",
            )
        if pointed > _MAX_POINTER_CHARS:
            raise InvalidInputError(
                f"{what} has too many values below long keys: their addresses have more than "
                f"{_MAX_POINTER_CHARS:,} characters.",
                "Give the part that concerns the motion.",
            )
    return "".join(pieces), spans


def _write_parts(value: Value, what: str) -> Iterator[tuple[str, str, str]]:
    """Yield pieces of text with their pointer and role: value, open, close or between."""

    def write(value: Value, pointer: str, depth: int) -> Iterator[tuple[str, str, str]]:
        if depth > MAX_DEPTH:
            raise _nesting_error(what)
        if isinstance(value, Mapping):
            named = ((_quote(key) + ": ", _escape(key), child) for key, child in value.items())
            brackets = "{}"
        elif isinstance(value, Sequence) and not isinstance(value, str):
            named = (("", str(number), child) for number, child in enumerate(value))
            brackets = "[]"
        else:
            yield pointer, _format_scalar(value), "value"
            return
        if not value:
            yield pointer, brackets, "value"
            return
        yield pointer, brackets[0], "open"
        for number, (label, part, child) in enumerate(named):
            yield pointer, (",\n" if number else "\n") + " " * (depth + 1) + label, "between"
            yield from write(child, f"{pointer}/{part}", depth + 1)
        yield pointer, "\n" + " " * depth + brackets[1], "close"

    return write(value, "", 0)


@dataclass(frozen=True, slots=True)
class Missing:
    """Why there is nothing at a pointer."""

    why: str


def resolve_pointer(value: Value, pointer: str) -> Value | Missing:
    """Return the value at ``pointer`` (RFC 6901) in ``value``."""
    if pointer and not pointer.startswith("/"):
        return Missing("a JSON pointer is empty or begins with /")
    if re.search("~(?![01])", pointer):
        return Missing("in a JSON pointer ~ is written ~0, and / inside a key ~1")
    here, path = value, ""
    for part in pointer.split("/")[1:]:
        key = part.replace("~1", "/").replace("~0", "~")
        path += "/" + part
        if isinstance(here, Mapping):
            if key not in here:
                return Missing(f"there is nothing at {path}")
            here = here[key]
        elif isinstance(here, Sequence) and not isinstance(here, str):
            if not re.fullmatch("0|[1-9][0-9]{0,8}", key) or int(key) >= len(here):
                return Missing(f"there is nothing at {path}: the list has {len(here)} entries, counted from 0")
            here = here[int(key)]
        else:
            return Missing(f"there is nothing at {path}: what stands above it has no parts")
    return here


def _format_scalar(value: int | Decimal | str | None) -> str:
    if isinstance(value, str):
        return _quote(value)
    if isinstance(value, Decimal):
        return f"{value:f}" if -12 <= value.adjusted() <= 20 else str(value)
    return json.dumps(value)


def _quote(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def _escape(key: str) -> str:
    return key.replace("~", "~0").replace("/", "~1")


class _StrictError(ValueError):
    pass


def _parse_decimal(text: str) -> Decimal:
    if len(text) > MAX_DIGITS:
        raise _StrictError(f"a number has more than {MAX_DIGITS} digits")
    value = Decimal(text)
    if not -MAX_DIGITS <= value.adjusted() <= MAX_DIGITS:
        raise _StrictError(f"the number {text[:40]} is beyond all measure")
    return value


def _parse_integer(text: str) -> int:
    if len(text) > MAX_DIGITS:
        raise _StrictError(f"a number has more than {MAX_DIGITS} digits")
    return int(text)


def _refuse_constant(text: str) -> None:
    raise _StrictError(f"{text} is no JSON value")


def _build_object(pairs: list[tuple[str, Value]]) -> dict[str, Value]:
    found: dict[str, Value] = {}
    for key, value in pairs:
        if key in found:
            raise _StrictError(f"it names the key '{key[:80]}' twice in one object")
        found[key] = value
    return found


def _nesting_error(what: str) -> InvalidInputError:
    return InvalidInputError(
        f"{what} is nested deeper than {MAX_DEPTH} levels.", "Give the part that concerns the motion."
    )
