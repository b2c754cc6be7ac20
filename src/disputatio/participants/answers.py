"""Parses a model's raw output, repairs faulty JSON, cleans its strings and validates it.

Only the JSON syntax is repaired (a code fence, a trailing comma, prose around it). Missing values are never filled in:
an invalid answer is rejected with reasons the model can act on.
"""

from __future__ import annotations

import json
import re
import sys
from collections import OrderedDict
from dataclasses import dataclass
from types import FrameType
from typing import Any, Final, NamedTuple

from disputatio.kernel import JsonObject, LenientTurnSpec
from disputatio.motion import clean, one_line
from disputatio.participants.corrections import Place
from disputatio.record.text import canonical

MAX_ANSWER_CHARS = 200_000
"""Longer answers are rejected. No turn of any format comes near it."""
_MOST_REASONS = 6


class ShapedAnswer(NamedTuple):
    """An object that is valid under the schema. ``repaired``: its JSON had to be repaired."""

    content: JsonObject
    repaired: bool


@dataclass(frozen=True, slots=True)
class SchemaMismatch:
    """A rejected answer, and the reasons, for the model and for the record.

    ``content`` is the answer if it is an object. ``places`` has the path of each fault, None where a fault has no path.
    """

    reasons: tuple[str, ...]
    content: JsonObject | None = None
    places: tuple[Place | None, ...] = ()


class _SchemaFault(NamedTuple):
    place: Place | None
    reason: str


class SchemaChecks:
    """A cache of compiled schemas: every attempt at a turn is checked against the same one."""

    def __init__(self, most: int = 512) -> None:
        self._compiled: OrderedDict[str, Any] = OrderedDict()
        self._most = most

    def reasons(self, content: object, schema: JsonObject, schema_text: str = "") -> tuple[str, ...]:
        """Why ``content`` is invalid under ``schema``; empty if it is valid.

        ``schema_text`` is the schema as canonical JSON, if the caller has it.
        """
        return tuple(row.reason for row in self.faults(content, schema, schema_text))

    def faults(self, content: object, schema: JsonObject, schema_text: str = "") -> tuple[_SchemaFault, ...]:
        """Like ``reasons``, with the path of each fault."""
        key = schema_text or canonical(schema)
        compiled = self._compiled.get(key)
        if compiled is None:
            import jsonschema_rs

            compiled = self._compiled[key] = jsonschema_rs.validator_for(dict(schema), mask=_IT)
            if len(self._compiled) > self._most:
                self._compiled.popitem(last=False)
        if compiled.is_valid(content):
            return ()
        found: list[_SchemaFault] = []
        for error in compiled.iter_errors(content):
            # Faults beyond the limit are not listed, so the last one has no path.
            if len(found) == _MOST_REASONS:
                found[-1] = found[-1]._replace(place=None)
                break
            found.append(_fault(error))
        return tuple(found)


_IT: Final = "it"
_MOST_WHY = 200
_MOST_SHOWN = 80
_MISSING = re.compile(r'"([^"]+)" is a required property')


def _fault(error: Any) -> _SchemaFault:
    """Name the path, the reason and the value, in this order: a long value must not push out the reason."""
    steps = tuple(error.instance_path)
    where = "/".join(str(step) for step in steps) or "the answer"
    why, value = one_line(error.message, _MOST_WHY), error.instance
    if (missing := _MISSING.match(error.message)) is not None:
        return _SchemaFault((*steps, missing[1]), f"{where}: {why}")
    if isinstance(value, str):
        why += f" (it has {len(value):,}): {one_line(value, _MOST_SHOWN)}"
    elif isinstance(value, list):
        why += f" (it has {len(value):,})"
    elif not isinstance(value, dict):
        why += f": {one_line(json.dumps(value), _MOST_SHOWN)}"
    return _SchemaFault(steps or None, f"{where}: {why}")


def read_answer(
    text: str, schema: JsonObject, checks: SchemaChecks, *, cut_off_at: int | None = None, schema_text: str = ""
) -> ShapedAnswer | SchemaMismatch:
    """Read the answer in ``text``.

    Args:
        text: raw output.
        schema: what the answer must be valid under.
        checks: the compiled schemas.
        cut_off_at: the token limit, if the provider said that the output ended there. Such output is not repaired: half
            an answer would end in the middle of a thought.
        schema_text: the schema as canonical JSON, if the caller has it.
    """
    if len(text) > MAX_ANSWER_CHARS:
        return SchemaMismatch((f"the answer is too long: {len(text):,} characters",))
    try:
        value, repaired = _parse(text, mend=cut_off_at is None)
    except ValueError as error:
        if cut_off_at is not None:
            return SchemaMismatch((f"the answer was cut off at {cut_off_at} tokens; be briefer",))
        return SchemaMismatch((str(error),))
    if not isinstance(value, dict):
        return SchemaMismatch(("the answer is not a JSON object",))
    # ASCII JSON without an escape or a delete character has nothing to clean.
    plain = not repaired and text.isascii() and "\\" not in text and "\x7f" not in text
    if not _clean_strings(value, plain=plain):
        return SchemaMismatch((_TOO_DEEP,))
    faults = checks.faults(value, schema, schema_text)
    reasons = tuple(row.reason for row in faults)
    try:
        canonical(value)
    except ValueError:
        # 1e999 is parsed as infinity, which a record cannot hold.
        return SchemaMismatch((*reasons, "the answer holds a number that is too large"))
    if faults:
        return SchemaMismatch(reasons, value, tuple(row.place for row in faults))
    return ShapedAnswer(value, repaired)


def read_leniently(text: str, form: object, checks: SchemaChecks) -> ShapedAnswer | None:
    """Read ``text`` under the lenient schema of ``form``; None if there is none or the answer does not fit it."""
    if not isinstance(form, LenientTurnSpec):
        return None
    read = read_answer(text, form.lenient_schema, checks)
    return read if isinstance(read, ShapedAnswer) else None


def _parse(text: str, *, mend: bool) -> tuple[object, bool]:
    """Return the value and whether it was repaired. A ValueError carries words for the model."""
    if not text.strip():
        raise ValueError("the answer is empty")
    try:
        return _STRICT.decode(text), False
    except RecursionError:
        raise ValueError(_TOO_DEEP) from None
    except ValueError:
        if not mend:
            raise
    value = repair_json(text)
    if isinstance(value, list):
        # Prose before the object, or the object given twice: the last whole object is the answer.
        value = next((row for row in reversed(value) if isinstance(row, dict)), "")
    if not isinstance(value, dict) or not value:
        raise ValueError("the answer holds no JSON object")
    return value, True


def _no_constant(word: str) -> object:
    raise ValueError(f"{word} is not allowed in JSON")


# With `parse_constant`, `json.loads` would build a decoder for every text.
_STRICT: Final = json.JSONDecoder(parse_constant=_no_constant)


def _clean_strings(answer: dict[str, Any], *, plain: bool) -> bool:
    """Clean and strip every string in ``answer``, in place; False if it is nested too deeply.

    With ``plain``, strings are only stripped.
    """
    level: list[Any] = [answer]
    for _ in range(_DEEPEST + 1):
        inner = []
        for row in level:
            if not plain and type(row) is dict:
                _clean_keys(row)
            for place, value in row.items() if type(row) is dict else enumerate(row):
                kind = type(value)
                if kind is str:
                    row[place] = value.strip() if plain else clean(value).strip()
                elif kind is dict or kind is list:
                    inner.append(value)
        if not inner:
            return True
        level = inner
    return False


def _clean_keys(row: dict[str, Any]) -> None:
    """Clean keys that are not ASCII: the schema check fails on a lone surrogate."""
    if not all(map(str.isascii, row)):
        cleaned = {key if key.isascii() else clean(key): value for key, value in row.items()}
        row.clear()
        row.update(cleaned)


_DEEPEST = 20
"""No schema of a turn nests this deep."""
_TOO_DEEP = "the answer is nested too deeply"


MAX_REPAIR_CHARS = 50_000
"""Characters; the largest answer that a form allows has about 30,000."""
MAX_REPAIR_CALLS = 1_500_000
"""A second or two of work. A large answer whose every quotation mark is wrong takes a third of this."""


class _TooMuchWorkError(Exception):
    """The bound was passed. Never leaves this module."""


def repair_json(text: str) -> object:
    """The value that faulty JSON means; an empty text if none was found.

    Raises:
        ValueError: mending it would take too long.
    """
    import json_repair

    if len(text) > MAX_REPAIR_CHARS:
        raise ValueError(f"the answer is no valid JSON and too long to mend: {len(text):,} characters")
    calls = 0

    def count(_frame: FrameType, event: str, _argument: Any) -> None:
        nonlocal calls
        calls += event in {"call", "c_call"}
        if calls > MAX_REPAIR_CALLS:
            raise _TooMuchWorkError

    # A profiler that is at work elsewhere in the process gets its turn back afterwards.
    before = sys.getprofile()
    sys.setprofile(count)
    try:
        value: object = json_repair.loads(text, skip_json_loads=True)
    except _TooMuchWorkError:
        raise ValueError("the answer is no valid JSON and could not be mended") from None
    except (RecursionError, ValueError):
        return ""
    finally:
        sys.setprofile(before)
    return value
