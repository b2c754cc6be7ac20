"""Hiding from a judge which side is which: neutral names by the order shown, and the way back.

The side shown first is "Side A", whoever it is, and its arguments are A-1, A-2 and so on. What a judge writes
is translated back before anything is counted. Names that would give a side away (a model, a persona) are put
out of sight where they stand as whole words; what a debater's own style gives away cannot be.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from disputatio.errors import InvalidInputError
from disputatio.judging.judge_scores import check_sides

_LETTERS = ("A", "B")


def both_orders(sides: tuple[str, str]) -> tuple[tuple[str, str], tuple[str, str]]:
    """The two orders in which every judge sees the sides."""
    check_sides(sides)
    return sides, (sides[1], sides[0])


@dataclass(frozen=True, slots=True)
class Blinding:
    """Neutral names for one order of the sides; made with `blind`.

    Attributes:
        order: the sides, the one shown first first.
        names: neutral name of each side, "Side A" and "Side B".
        ids: neutral id of each argument.
        hidden: words that are replaced by the neutral name of their side.
    """

    order: tuple[str, str]
    names: tuple[tuple[str, str], ...]
    ids: tuple[tuple[str, str], ...]
    hidden: tuple[tuple[str, str], ...]

    def hide(self, text: str) -> str:
        """``text`` with argument ids and hidden words replaced."""
        return _replace_words(text, {**dict(self.hidden), **dict(self.ids)})

    def reveal(self, text: str) -> str:
        """``text`` with neutral ids and side names replaced by the real ones; hidden words stay out of it."""
        back = {neutral: real for real, neutral in self.ids} | {neutral: real for real, neutral in self.names}
        return _replace_words(text, back)

    def side(self, neutral: str) -> str:
        """The side behind a neutral name ("Side A", or "A").

        Raises:
            InvalidInputError: there is no such name.
        """
        for letter, side in zip(_LETTERS, self.order, strict=True):
            if neutral.strip() in {letter, f"Side {letter}"}:
                return side
        raise InvalidInputError(f"There is no side {neutral}.", "Name Side A or Side B.")

    def argument(self, neutral: str) -> str:
        """The argument behind a neutral id.

        Raises:
            InvalidInputError: there is no such id.
        """
        for real, hidden in self.ids:
            if hidden == neutral:
                return real
        raise InvalidInputError(
            f"There is no argument {neutral}.", f"Name one of: {', '.join(n for _, n in self.ids)}."
        )


def blind(
    order: tuple[str, str],
    arguments: Mapping[str, Iterable[str]],
    hidden: Mapping[str, Iterable[str]] | None = None,
) -> Blinding:
    """Neutral names for ``order``.

    Args:
        order: the sides, the one shown first first.
        arguments: argument ids of each side, in the order they are shown.
        hidden: for each side, words that would give it away.

    Raises:
        InvalidInputError: ``order`` is not two sides, or the same id or word belongs to both.
    """
    check_sides(order)
    names = {side: f"Side {letter}" for side, letter in zip(order, _LETTERS, strict=True)}
    ids, words = _NameRegister("argument"), _NameRegister("word")
    for side, letter in zip(order, _LETTERS, strict=True):
        for number, argument in enumerate(arguments.get(side, ()), start=1):
            ids.add(argument, f"{letter}-{number}")
        for word in (hidden or {}).get(side, ()):
            words.add(word, names[side])
    return Blinding(order, tuple(names.items()), tuple(ids.of.items()), tuple(words.of.items()))


class _NameRegister:
    def __init__(self, kind: str) -> None:
        self.kind = kind
        self.of: dict[str, str] = {}

    def add(self, word: str, neutral: str) -> None:
        if not word.strip() or self.of.setdefault(word, neutral) != neutral:
            raise InvalidInputError(
                f'The {self.kind} "{word}" is empty or belongs to more than one.', "Give each to one side, once."
            )


def _replace_words(text: str, by: Mapping[str, str]) -> str:
    if not by:
        return text
    # One pass over the text, longest first: what was put in is never read again, so A may become B and B A.
    words = sorted(by, key=len, reverse=True)
    pattern = re.compile(r"(?<![\w-])(?:" + "|".join(map(re.escape, words)) + r")(?![\w]|-\w)")
    return pattern.sub(lambda found: by[found.group()], text)
