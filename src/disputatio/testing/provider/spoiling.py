"""Answers made wrong on purpose, as the mishaps of the content family say."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterator
from typing import Any, Final, TypeAlias

from disputatio.kernel import JsonObject
from disputatio.testing.instances import prose
from disputatio.testing.malformed import Malformation, malform
from disputatio.testing.provider.answers import Answer
from disputatio.testing.provider.mishaps import Mishap

Place: TypeAlias = "tuple[dict[str, Any] | list[Any], str | int]"

VERY_LONG: Final = 300_000
DEPTH: Final = 20_000
UNASKED_KEY: Final = "unasked"
UNLISTED_VALUE: Final = "none of these"
ESCAPES: Final = "\x1b[2J\x1b]0;taken\x07<script>alert(1)</script>\u202e"
REFUSAL: Final = "I cannot help with that."

_MALFORMATIONS: Final = {
    Mishap.FENCED_JSON: Malformation.FENCED,
    Mishap.TRAILING_COMMA: Malformation.TRAILING_COMMA,
    Mishap.SINGLE_QUOTES: Malformation.SINGLE_QUOTES,
    Mishap.PROSE_AROUND_JSON: Malformation.PROSE_AROUND,
}


def spoiled_text(answer: Answer, mishap: Mishap) -> str:
    """The text of ``answer`` after ``mishap``.

    The mishaps of shape (a missing key, a wrong type...) change one place so that the schema no longer
    allows the answer. Where there is no such place, because the answer is prose, has no key that is
    required or may have any key, they leave it as it is.
    """
    if mishap in _MALFORMATIONS:
        return malform(answer.text, answer.seed, _MALFORMATIONS[mishap])
    if mishap in _SHAPES:
        return _out_of_shape(answer, _SHAPES[mishap])
    match mishap:
        case Mishap.MALFORMED_JSON:
            return malform(answer.text, answer.seed)
        case Mishap.HALF_JSON | Mishap.CUT_AT_LENGTH:
            return answer.text[: len(answer.text) // 2]
        case Mishap.DUPLICATED_ANSWER:
            return f"{answer.text}\n{answer.text}"
        case Mishap.DEPTH_BOMB:
            return '{"a":' * DEPTH + "1" + "}" * DEPTH
        case Mishap.VERY_LONG_ANSWER:
            return _with_strings(answer.text, lambda text: text + " and so on" * (VERY_LONG // 10), once=True)
        case Mishap.ESCAPE_SEQUENCES:
            return _with_strings(answer.text, lambda text: text + ESCAPES)
        case Mishap.PROSE_INSTEAD:
            return prose(answer.seed)
        case _:
            return answer.text


def _places(value: Any) -> Iterator[Place]:
    """Every place inside ``value``, outer ones first."""
    steps = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for step, inner in list(steps):
        yield value, step
        yield from _places(inner)


def _with_strings(text: str, change: Callable[[str], str], *, once: bool = False) -> str:
    """``text`` with its strings changed, as JSON where it is JSON, else as a whole."""
    try:
        whole = [json.loads(text)]
    except ValueError:
        return change(text)
    for runner, step in _places(whole):
        found = runner[step]  # type: ignore[index]  # the step came from this very holder
        if isinstance(found, str):
            runner[step] = change(found)  # type: ignore[index]  # as above
            if once:
                break
    return json.dumps(whole[0], ensure_ascii=False)


def _without_key(runner: Any, step: Any) -> bool:
    if not isinstance(runner, dict):
        return False
    del runner[step]
    return True


def _with_unasked_key(runner: Any, _step: Any) -> bool:
    if not isinstance(runner, dict):
        return False
    runner[UNASKED_KEY] = "Nobody asked for this."
    return True


def _with_unlisted_value(runner: Any, step: Any) -> bool:
    runner[step] = UNLISTED_VALUE
    return True


def _with_wrong_type(runner: Any, step: Any) -> bool:
    runner[step] = {"value": runner[step]} if not isinstance(runner[step], dict) else [runner[step]]
    return True


_SHAPES: Final[dict[Mishap, tuple[str, Callable[[Any, Any], bool]]]] = {
    Mishap.MISSING_KEY: ("required", _without_key),
    Mishap.EXTRA_KEY: ("additionalProperties", _with_unasked_key),
    Mishap.WRONG_ENUM: ("enum", _with_unlisted_value),
    Mishap.WRONG_TYPE: ("type", _with_wrong_type),
}


def _out_of_shape(answer: Answer, way: tuple[str, Callable[[Any, Any], bool]]) -> str:
    """Change one place that the schema forbids to change so, drawn from all such places."""
    if answer.schema is None:
        return answer.text
    try:
        whole = json.loads(answer.text)
    except ValueError:
        return answer.text
    word, change = way
    candidates: list[str] = []
    others: list[str] = []
    for number in range(sum(1 for _ in _places(whole))):
        changed = copy.deepcopy(whole)
        runner, step = next(place for at, place in enumerate(_places(changed)) if at == number)
        if not change(runner, step):
            continue
        broken = _broken_words(answer.schema, changed)
        text = json.dumps(changed, ensure_ascii=False)
        if word in broken or (word == "enum" and "const" in broken):
            candidates.append(text)
        elif broken:
            others.append(text)
    chosen = candidates or others or [answer.text]
    return chosen[answer.seed % len(chosen)]


def _broken_words(schema: JsonObject, value: object) -> set[str]:
    """The keywords of the schema that ``value`` breaks; alternatives that all fail count as ``anyOf``."""
    import jsonschema_rs

    validator = jsonschema_rs.validator_for(dict(schema))
    return {str(step) for error in validator.iter_errors(value) for step in error.schema_path[-1:]}
