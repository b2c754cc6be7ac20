"""Propositions with a known fatal flaw, for ``check-critic``: what is wrong with each, and what is fair in it.

A case has three arguments. One has the flaw; ``fair`` names arguments with which nothing is wrong. Whether a criticism
names the flaw is decided by code, by the rule of ``names_flaw``: its words come from lists that were written with the
case, before any critic was asked, and at least one list has no word that stands in the proposition itself, so that
nobody names a flaw by repeating what was said.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

from disputatio.errors import InvalidInputError
from disputatio.kernel import JsonObject
from disputatio.motion import one_line
from disputatio.record.text import canonical, digest

SCHEMA = "disputatio/critic-cases"


@dataclass(frozen=True, slots=True)
class CriticCase:
    """A proposition with a known flaw.

    Attributes:
        id: its name.
        task_type: the kind of decision.
        motion: what is proposed.
        proposition: thesis, arguments and objections, as a proposer gives them.
        flawed: the number of the argument with the flaw, from 1.
        flaw: the flaw in a sentence.
        words: lists of beginnings of words; naming the flaw takes one of each.
        fair: the numbers of the arguments with which nothing is wrong.
    """

    id: str
    task_type: str
    motion: str
    proposition: JsonObject
    flawed: int
    flaw: str
    words: tuple[tuple[str, ...], ...]
    fair: tuple[int, ...]

    @property
    def digest(self) -> str:
        """The SHA-256 of all of it, so that two checks can be told to have asked the same."""
        return digest(canonical([self.motion, self.proposition, self.flawed, self.words, self.fair]))

    def names_flaw(self, target: int | None, text: str) -> bool:
        """Whether a criticism names the flaw.

        It aims at the flawed argument, or at the whole proposition (``target`` None), and has a word of each list, in
        any case; a word counts by its beginning.
        """
        if target not in {None, self.flawed}:
            return False
        return all(any(_has(text, word) for word in group) for group in self.words)


def _has(text: str, word: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(word.casefold())}", text.casefold()) is not None


def packaged_critic_cases() -> tuple[CriticCase, ...]:
    """The cases that come with the package."""
    text = files("disputatio.evaluation").joinpath("critic_cases.json").read_text("utf-8")
    return _cases(json.loads(text), "critic_cases.json")


def read_critic_cases(path: Path) -> tuple[CriticCase, ...]:
    """The cases in a file of the same form.

    Raises:
        InvalidInputError: it cannot be read, or a case is not of the form; names the case and the key.
    """
    try:
        body = json.loads(path.read_text("utf-8-sig"))
    except (OSError, ValueError) as error:
        raise InvalidInputError(
            f"{path} cannot be read as cases: {error}.", "See docs/reference/judge-checks.md."
        ) from None
    return _cases(body, str(path))


def _cases(body: Any, source: str) -> tuple[CriticCase, ...]:
    rows = body.get("cases") if isinstance(body, Mapping) and body.get("schema") == SCHEMA else None
    if not isinstance(rows, list) or not rows:
        raise InvalidInputError(f"{source} holds no cases.", f'It is an object with "schema": "{SCHEMA}" and "cases".')
    found = tuple(_case(row, number, source) for number, row in enumerate(rows, start=1))
    names = [row.id for row in found]
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise InvalidInputError(f"{source} has two cases called {twice!r}.", "Give each a name of its own.")
    return found


def _case(row: Any, number: int, source: str) -> CriticCase:
    try:
        arguments = [{key: str(each[key]) for key in ("claim", "reasoning", "evidence")} for each in row["arguments"]]
        met = [{key: str(each[key]) for key in ("objection", "answer")} for each in row["objections"]]
        flaw = row["flaw"]
        case = CriticCase(
            str(row["id"]),
            str(row["task_type"]),
            str(row["motion"]),
            {"thesis": str(row["thesis"]), "arguments": arguments, "objections": met},
            int(flaw["argument"]),
            str(flaw["what"]),
            tuple(tuple(map(str, group)) for group in flaw["words"]),
            tuple(map(int, row["fair"])),
        )
    except (KeyError, TypeError, ValueError) as error:
        raise InvalidInputError(
            f"Case {number} of {source} is not of the form: {one_line(str(error), 80)}.",
            "It has id, task_type, motion, thesis, arguments, objections, flaw (argument, what, words) and fair.",
        ) from None
    _check(case, len(arguments), source)
    return case


def _check(case: CriticCase, arguments: int, source: str) -> None:
    numbers: Sequence[int] = (case.flawed, *case.fair)
    wrong = ""
    if not 3 <= arguments <= 5:
        wrong = f"it has {arguments} arguments, and a proposition has 3 to 5"
    elif any(not 1 <= number <= arguments for number in numbers) or case.flawed in case.fair:
        wrong = "flaw.argument and fair name arguments that are not there, or the same one"
    elif not case.words or not all(case.words):
        wrong = "flaw.words has no words"
    if wrong:
        raise InvalidInputError(f"The case {case.id!r} of {source} cannot be used: {wrong}.", "Mend the file.")
