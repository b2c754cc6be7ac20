"""Makes JSON wrong in the ways that models do, to fuzz readers of answers.

Some results are no JSON; others are JSON of another value, such as the answer inside a list or a string. None may crash
a reader.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from enum import StrEnum
from typing import Final

from disputatio.testing.instances import mix, prose, seed_from


class Malformation(StrEnum):
    """One way in which an answer is wrong."""

    CUT_IN_HALF = "cut_in_half"
    LAST_BRACKET_MISSING = "last_bracket_missing"
    FIRST_BRACKET_MISSING = "first_bracket_missing"
    BRACKET_TOO_MANY = "bracket_too_many"
    TRAILING_COMMA = "trailing_comma"
    COMMA_MISSING = "comma_missing"
    COLON_MISSING = "colon_missing"
    EQUALS_SIGNS = "equals_signs"
    SEMICOLONS = "semicolons"
    SINGLE_QUOTES = "single_quotes"
    SMART_QUOTES = "smart_quotes"
    BARE_KEYS = "bare_keys"
    BARE_QUOTE_INSIDE = "bare_quote_inside"
    BARE_NEWLINE_INSIDE = "bare_newline_inside"
    BAD_ESCAPE = "bad_escape"
    LONE_SURROGATE = "lone_surrogate"
    CONTROL_CHARACTERS = "control_characters"
    NUL_BYTES = "nul_bytes"
    BYTE_ORDER_MARK = "byte_order_mark"
    COMMENTS = "comments"
    ELLIPSIS = "ellipsis"
    PYTHON_LITERALS = "python_literals"
    NOT_A_NUMBER = "not_a_number"
    HUGE_NUMBER = "huge_number"
    LEADING_ZERO = "leading_zero"
    FENCED = "fenced"
    FENCE_LEFT_OPEN = "fence_left_open"
    PROSE_BEFORE = "prose_before"
    PROSE_AFTER = "prose_after"
    PROSE_AROUND = "prose_around"
    THOUGHTS_BEFORE = "thoughts_before"
    TAGS_AROUND = "tags_around"
    HTML_ESCAPED = "html_escaped"
    DOUBLED = "doubled"
    INSIDE_A_STRING = "inside_a_string"
    INSIDE_A_LIST = "inside_a_list"
    INSIDE_AN_OBJECT = "inside_an_object"
    NESTED_TOO_DEEP = "nested_too_deep"
    FULL_WIDTH_MARKS = "full_width_marks"
    BULLETS = "bullets"
    PROSE_ONLY = "prose_only"
    NULL = "null"
    BLANK = "blank"
    EMPTY = "empty"


def malform(text: str, seed: int | str, kind: Malformation | None = None) -> str:
    """``text`` made wrong: it is no JSON any more, or JSON that means something else.

    Args:
        text: a JSON text, best an object with a few strings and numbers in it.
        seed: which way, and which place in the text; the same text and seed give the same result.
        kind: fixes the way. One that finds no place in this text (no number to spoil, say) cuts the
            text instead, so that the result is always wrong.
    """
    number = mix(seed_from(str(seed)))
    kinds = list(Malformation)
    chosen = kind if kind is not None else kinds[number % len(kinds)]
    spoiled = _WAYS[chosen](text, mix(number))
    return spoiled if _differs(spoiled, text) else text[: len(text) // 2]


def _differs(spoiled: str, text: str) -> bool:
    try:
        return repr(json.loads(spoiled)) != repr(json.loads(text))
    except (ValueError, RecursionError):
        return spoiled != text


def _at_one(pattern: str, replacement: str) -> Callable[[str, int], str]:
    """Replaces one match, drawn from all."""
    found = re.compile(pattern)

    def spoil(text: str, seed: int) -> str:
        matches = list(found.finditer(text))
        if not matches:
            return text
        match = matches[seed % len(matches)]
        return text[: match.start()] + match.expand(replacement) + text[match.end() :]

    return spoil


def _at_all(pattern: str, replacement: str) -> Callable[[str, int], str]:
    found = re.compile(pattern)
    return lambda text, _seed: found.sub(replacement, text)


def _around(before: str, after: str = "") -> Callable[[str, int], str]:
    return lambda text, _seed: before + text + after


def _with_prose(*, before: bool, after: bool) -> Callable[[str, int], str]:
    def spoil(text: str, seed: int) -> str:
        head = f"Here is my answer. {prose(seed, 1)}\n\n" if before else ""
        tail = f"\n\nI hope this helps. {prose(mix(seed), 1)}" if after else ""
        return head + text + tail

    return spoil


def _inside_string(text: str, seed: int, insert: str) -> str:
    """``insert`` put into one of the strings, so that the text around it stays as it was."""
    strings = list(re.finditer(_STRING, text))
    if not strings:
        return text
    match = strings[seed % len(strings)]
    # Right behind the opening quote: a later place could split an escape and undo the spoiling.
    return text[: match.start() + 1] + insert + text[match.start() + 1 :]


def _into_string(insert: str) -> Callable[[str, int], str]:
    return lambda text, seed: _inside_string(text, seed, insert)


def _comments(text: str, seed: int) -> str:
    mark = ("// as asked\n", "/* as asked */ ", "# as asked\n")[seed % 3]
    return re.sub(r"([\[{])", lambda match: f"{match.group()} {mark}", text, count=1)


def _bullets(text: str, seed: int) -> str:
    strings = [found.strip('"') for found in re.findall(_STRING, text)] or [prose(seed, 1)]
    return "\n".join(f"* {string}" for string in strings)


_STRING: Final = r'"(?:[^"\\]|\\.)*"'
_NUMBER: Final = r"(?<=[:\[,\s])-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?(?=\s*[,\]}])"
_DEPTH: Final = 20_000
_FULL_WIDTH: Final = {ord(mark): ord(mark) + 0xFEE0 for mark in '{}[]:,"'}
_WAYS: Final[dict[Malformation, Callable[[str, int], str]]] = {
    Malformation.CUT_IN_HALF: lambda text, _seed: text[: len(text) // 2],
    Malformation.LAST_BRACKET_MISSING: lambda text, _seed: text.rstrip().rstrip("}]"),
    Malformation.FIRST_BRACKET_MISSING: lambda text, _seed: text.lstrip().removeprefix("{").removeprefix("["),
    Malformation.BRACKET_TOO_MANY: lambda text, seed: text + "}]"[seed % 2],
    Malformation.TRAILING_COMMA: _at_one(r"(?<=[^\s{\[])(\s*[}\]])", r",\1"),
    Malformation.COMMA_MISSING: _at_one(r'(?<=["\d}\]el]),(?=\s*["\d{\[-])', " "),
    Malformation.COLON_MISSING: _at_one(r'(?<="):', " "),
    Malformation.EQUALS_SIGNS: _at_all(r'(?<=")\s*:', " ="),
    Malformation.SEMICOLONS: _at_all(r'(?<=["\d}\]el]),(?=\s*["\d{\[-])', ";"),
    Malformation.SINGLE_QUOTES: _at_all(r'(?<!\\)"', "'"),
    Malformation.SMART_QUOTES: _at_all(r'(?<!\\)"([^"]*)"', "“\\1”"),
    Malformation.BARE_KEYS: _at_all(r'"(\w+)"\s*:', r"\1:"),
    Malformation.BARE_QUOTE_INSIDE: _into_string('so "called" '),
    Malformation.BARE_NEWLINE_INSIDE: _into_string("first\nsecond "),
    Malformation.BAD_ESCAPE: _into_string("\\q\\x41"),
    Malformation.LONE_SURROGATE: _into_string("\\ud83d"),
    Malformation.CONTROL_CHARACTERS: _into_string("\x1b[31m\x07"),
    Malformation.NUL_BYTES: _into_string("\x00"),
    Malformation.BYTE_ORDER_MARK: _around("\ufeff"),
    Malformation.COMMENTS: _comments,
    Malformation.ELLIPSIS: _at_one(r"(?<=[^\s{\[])(\s*[}\]])", r", ...\1"),
    Malformation.PYTHON_LITERALS: _at_one(_NUMBER, "None"),
    Malformation.NOT_A_NUMBER: _at_one(_NUMBER, "NaN"),
    Malformation.HUGE_NUMBER: _at_one(_NUMBER, "1e999"),
    Malformation.LEADING_ZERO: _at_one(f"({_NUMBER})", r"00\1"),
    Malformation.FENCED: _around("```json\n", "\n```"),
    Malformation.FENCE_LEFT_OPEN: _around("```json\n"),
    Malformation.PROSE_BEFORE: _with_prose(before=True, after=False),
    Malformation.PROSE_AFTER: _with_prose(before=False, after=True),
    Malformation.PROSE_AROUND: _with_prose(before=True, after=True),
    Malformation.THOUGHTS_BEFORE: _around('<think>I could say {"claim": "none"} but no.</think>\n'),
    Malformation.TAGS_AROUND: _around("<answer>", "</answer>"),
    Malformation.HTML_ESCAPED: _at_all('"', "&quot;"),
    Malformation.DOUBLED: lambda text, seed: text + ("\n" if seed % 2 else "") + text,
    Malformation.INSIDE_A_STRING: lambda text, _seed: json.dumps(text),
    Malformation.INSIDE_A_LIST: _around("[", "]"),
    Malformation.INSIDE_AN_OBJECT: _around('{"answer": ', "}"),
    Malformation.NESTED_TOO_DEEP: _around("[" * _DEPTH, "]" * _DEPTH),
    Malformation.FULL_WIDTH_MARKS: lambda text, _seed: text.translate(_FULL_WIDTH),
    Malformation.BULLETS: _bullets,
    Malformation.PROSE_ONLY: lambda _text, seed: prose(seed),
    Malformation.NULL: lambda _text, _seed: "null",
    Malformation.BLANK: lambda _text, seed: " \n\t"[: 1 + seed % 3],
    Malformation.EMPTY: lambda _text, _seed: "",
}
