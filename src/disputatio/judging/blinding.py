"""Hide from a judge which side is which, by neutral names in the order shown.

The side shown first is always "Side A", with arguments A-1, A-2 and so on. A judge's text is translated back before
anything is counted. Whole words that identify a side (a model, a persona) are replaced; style is not.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from disputatio.errors import InvalidInputError
from disputatio.judging.judge_scores import check_sides

_LETTERS = ("A", "B")


def both_orders(sides: tuple[str, str]) -> tuple[tuple[str, str], tuple[str, str]]:
    """Return the two orders in which every judge sees the sides."""
    check_sides(sides)
    return sides, (sides[1], sides[0])


@dataclass(frozen=True, slots=True)
class Blinding:
    """Neutral names for one order of the sides; made with `blind`.

    Attributes:
        order: the sides, the one shown first at the start.
        names: neutral name of each side, "Side A" and "Side B".
        ids: neutral id of each argument.
        hidden: words to replace by the neutral name of their side.
    """

    order: tuple[str, str]
    names: tuple[tuple[str, str], ...]
    ids: tuple[tuple[str, str], ...]
    hidden: tuple[tuple[str, str], ...]

    def hide(self, text: str) -> str:
        """Replace argument ids and hidden words in ``text``."""
        return _replace_words(text, {**dict(self.hidden), **dict(self.ids)})

    def reveal(self, text: str) -> str:
        """Replace neutral ids and side names by the real ones. Hidden words are not restored."""
        back = {neutral: real for real, neutral in self.ids} | {neutral: real for real, neutral in self.names}
        return _replace_words(text, back)

    def side(self, neutral: str) -> str:
        """Return the side with a neutral name ("Side A", or "A").

        Raises:
            InvalidInputError: there is no such name.
        """
        for letter, side in zip(_LETTERS, self.order, strict=True):
            if neutral.strip() in {letter, f"Side {letter}"}:
                return side
        raise InvalidInputError(f"There is no side {neutral}.", "Name Side A or Side B.")

    def argument(self, neutral: str) -> str:
        """Return the argument with a neutral id.

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
    order: tuple[str, str], arguments: Mapping[str, Iterable[str]], hidden: Mapping[str, Iterable[str]] | None = None
) -> Blinding:
    """Make neutral names for ``order``.

    Args:
        order: the sides, the one shown first at the start.
        arguments: argument ids of each side, in the order shown.
        hidden: words that would identify each side.

    Raises:
        InvalidInputError: ``order`` is not two sides, or an id or word belongs to both.
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
    # One pass, longest first: a replacement is not read again, so A may become B and B become A.
    words = sorted(by, key=len, reverse=True)
    pattern = re.compile(r"(?<![\w-])(?:" + "|".join(map(re.escape, words)) + r")(?![\w]|-\w)")
    return pattern.sub(lambda found: by[found.group()], text)
