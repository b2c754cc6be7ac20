"""No text makes the package slow: time grows with the length of a text, never with its square."""

from __future__ import annotations

import ast
import importlib
import itertools
import pkgutil
import re
import signal
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from re import _constants as codes  # type: ignore[attr-defined]
from re import _parser as parser  # type: ignore[attr-defined]
from typing import Any

import pytest
from attack_table import Attack

import disputatio
from disputatio.errors import InvalidInputError
from disputatio.evidence.quotes import find_quote
from disputatio.evidence.retrieval import Retriever
from disputatio.evidence.source_files import read_source
from disputatio.evidence.sources import SourceSet
from disputatio.evidence.tokens import TextIndex

pytestmark = pytest.mark.slow

SOURCE = Path(disputatio.__file__).parent
LONG = 16_000
MOST_S = 0.1
"""Of processor time. A pattern that takes the square of the length needs more for ``LONG`` characters."""
BOUNDED = {
    "_STARRED": "it reads files of rules, which come from the operator and not from a caller",
    "_WHOLE_POINTER": "it searches the first LONGEST_EXPRESSION characters",
    "passages.py:127": "it searches twenty characters",
}
"""Patterns that are slow for long texts and never meet any, with the reason."""
_REPEATS = dict.fromkeys((codes.MAX_REPEAT, codes.MIN_REPEAT, codes.POSSESSIVE_REPEAT), lambda value: value[2])
_INSIDE = {
    **_REPEATS,
    codes.IN: lambda value: value,
    codes.SUBPATTERN: lambda value: value[3],
    codes.ASSERT: lambda value: value[1],
    codes.ASSERT_NOT: lambda value: value[1],
    codes.ATOMIC_GROUP: lambda value: value,
}
"""Where the parts of a part of a pattern are."""
_AT_ONE_PLACE = frozenset({"match", "fullmatch"})
_OF_CATEGORY = {
    codes.CATEGORY_SPACE: " ",
    codes.CATEGORY_NOT_SPACE: "a",
    codes.CATEGORY_DIGIT: "1",
    codes.CATEGORY_NOT_DIGIT: "a",
    codes.CATEGORY_WORD: "a",
    codes.CATEGORY_NOT_WORD: "-",
}


class TooLongError(Exception):
    """A pattern took more processor time than it may."""


def seconds_of(work: Callable[[], Any], most: float = 3.0) -> float:
    """The processor time of ``work``, which is stopped after ``most`` seconds of it."""

    def stop(*_: object) -> None:
        raise TooLongError

    before = signal.signal(signal.SIGPROF, stop)
    began = time.process_time()
    signal.setitimer(signal.ITIMER_PROF, most)
    try:
        work()
    except TooLongError:
        return most
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
    return time.process_time() - began


def modules() -> Iterator[Any]:
    for found in pkgutil.walk_packages(disputatio.__path__, "disputatio."):
        # Alembic runs these by itself.
        if not found.name.endswith((".__main__", ".env")):
            yield importlib.import_module(found.name)


def patterns_in(value: object) -> Iterator[re.Pattern[str]]:
    if isinstance(value, re.Pattern) and isinstance(value.pattern, str):
        yield value
    elif isinstance(value, dict):
        yield from patterns_in(list(value.values()))
    elif isinstance(value, (list, tuple, set, frozenset)):
        for each in value:
            yield from patterns_in(each)


def methods_in(path: Path) -> dict[str, set[str]]:
    """Which methods are called on each name of a module."""
    found: dict[str, set[str]] = defaultdict(set)
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            found[node.value.id].add(node.attr)
        if isinstance(node, ast.Call):
            # Handed to a function: anything may be done with it there, but ``tokenize`` matches place by place.
            named = node.func.id if isinstance(node.func, ast.Name) else ""
            for given in node.args:
                if isinstance(given, ast.Name):
                    found[given.id].add("match" if named == "tokenize" else "handed on")
    return found


def patterns() -> dict[str, tuple[re.Pattern[str], bool]]:
    """Each regular expression by its name and place; whether it is tried at every place of a text."""
    found = {}
    for module in modules():
        methods = methods_in(Path(module.__file__))
        for name, value in vars(module).items():
            for number, pattern in enumerate(patterns_in(value)):
                used = methods[name] if isinstance(value, re.Pattern) else {"finditer"}
                key = f"{name} {number}" if number else name, pattern.pattern
                # A name that another module uses is taken at its worst, in any of them.
                anywhere = not used <= _AT_ONE_PLACE or found.get(key, (pattern, False))[1]
                found[key] = pattern, anywhere
    for path in SOURCE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Call) and ast.unparse(node.func).startswith("re.") and node.args:
                text = node.args[0]
                if isinstance(text, ast.Constant) and isinstance(text.value, str):
                    method = ast.unparse(node.func)[3:]
                    if method != "compile":
                        flags = [
                            row for row in ("DOTALL", "IGNORECASE", "MULTILINE") if f"re.{row}" in ast.unparse(node)
                        ]
                        pattern = re.compile(text.value, sum(getattr(re, row) for row in flags))
                        name = f"{path.name}:{node.lineno}"
                        found[name, pattern.pattern] = pattern, method not in _AT_ONE_PLACE
    return {f"{name} {text[:60]!r}": row for (name, text), row in found.items()}


def characters(tree: Any) -> Iterator[str]:
    """Characters that a pattern has a use for: its literals, and one of each class."""
    for code, value in tree:
        if code is codes.LITERAL:
            yield chr(value)
        elif code is codes.NOT_LITERAL:
            yield "a" if value == ord("\n") else "\n"
        elif code is codes.RANGE:
            yield chr(value[0])
        elif code is codes.CATEGORY:
            yield _OF_CATEGORY[value]
        elif code in _INSIDE:
            yield from characters(_INSIDE[code](value))
        elif code is codes.BRANCH:
            for branch in value[1]:
                yield from characters(branch)


def pumps(pattern: re.Pattern[str]) -> list[str]:
    """What a slow text for ``pattern`` may consist of, over and over."""
    single = sorted({*characters(parser.parse(pattern.pattern, pattern.flags)), "a", " ", "1", "\n"})[:24]
    return single + [one + other for one, other in itertools.permutations(single[:5], 2)]


def slowest(pattern: re.Pattern[str], anywhere: bool) -> tuple[float, str]:
    worst, by = 0.0, ""
    for pump in pumps(pattern):
        for length in (LONG // 8, LONG):
            text = (pump * length)[:length] + "\0"

            def work(text: str = text) -> object:
                return list(pattern.finditer(text)) if anywhere else pattern.match(text)

            # The machine may be busy: the least of three tries counts.
            took = seconds_of(work)
            took = took if took < MOST_S / 64 else min(took, seconds_of(work), seconds_of(work))
            if took < MOST_S / 64:
                # What is this quick for an eighth does not take the square of the whole.
                break
        if took > worst:
            worst, by = took, pump
        if worst > MOST_S:
            break
    return worst, by


def test_no_regular_expression_takes_the_square_of_a_text(attack: Attack) -> None:
    found = patterns()
    assert len(found) > 200
    for name, (pattern, anywhere) in found.items():
        if name.partition(" ")[0] in BOUNDED:
            continue
        took, pump = slowest(pattern, anywhere)
        attack.check(took <= MOST_S, f"{name}: {took:.2f} s for {pump!r} over and over")
        attack.figure(f"slowest, for {LONG:,} characters", took * 1000, "ms")


SOURCE_LENGTH, MOST_OF_A_SOURCE_S = 40_000, 1.0
MARKS = "().[]!?…。“”«»‘’\"'-–—*_`|&<>#~\\/^=+½²一ﷺßſ🙂\u0301\u200d\u00a0\u3000"
WORDS = [
    "a\n",
    "a\n\n",
    "a ",
    "A.",
    "e.g. ",
    ". . ",
    "a = 1\n",
    "twenty-",
    "and ",
    "1",
    "1 ",
    "1,",
    "1.1,",
    "$1 ",
    "1% ",
    "1e5",
]
BLOCKS = ["\n- a", "\n1. ", "  - ", "```\n", "---\n", "> ", "||\n", "![", "[a](", "</p>", "<!--", "&amp;"]


@pytest.mark.parametrize("kind", ["txt", "md"])
def test_no_source_is_slow_to_cut_search_or_quote(kind: str, attack: Attack) -> None:
    for pump in [*MARKS, *WORDS, *BLOCKS] if kind == "txt" else BLOCKS:
        try:
            source = read_source((pump * SOURCE_LENGTH)[:SOURCE_LENGTH], f"source.{kind}")
        except InvalidInputError:
            # Nothing of it is left when it is cleaned.
            continue
        retriever, index, quote = (
            Retriever(SourceSet([source])),
            TextIndex(source.text),
            f"{source.text[3:600].strip()} x",
        )
        steps: dict[str, Callable[[], Any]] = {
            "passages": lambda source=source: source.passages,
            "excerpt": lambda retriever=retriever: retriever.excerpt("whether the road is long", 5_000),
            "search": lambda retriever=retriever, pump=pump: retriever.search(pump * 100, 5),
            "quote": lambda index=index, quote=quote: find_quote(index, quote),
        }
        for name, step in steps.items():
            took = seconds_of(step)
            attack.check(took < MOST_OF_A_SOURCE_S, f"{name} of {pump!r} over and over: {took:.1f} s")
            attack.figure(f"slowest, for {SOURCE_LENGTH:,} characters", took * 1000, "ms")
