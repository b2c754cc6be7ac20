"""Reading arithmetic from left to right: what every small language of expressions here shares.

A reader computes while it reads. Sums, signs, parentheses and calls are the same in all of them; what a value is, what
binds more tightly than a sum and which functions there are is their own.
"""

from __future__ import annotations

import re
from typing import Generic, TypeVar

Value = TypeVar("Value")


class MistakeError(Exception):
    """The expression has no value, and why."""


def tokens_of(pattern: re.Pattern[str], text: str) -> list[str]:
    """``text`` cut into what ``pattern`` matches, without the spaces between.

    Raises:
        MistakeError: something in it is no token.
    """
    text = text.strip()
    tokens: list[str] = []
    place = 0
    while place < len(text):
        found = pattern.match(text, place)
        if found is None:
            raise MistakeError(f"'{text[place:].strip()[:1]}' cannot be computed with")
        tokens.append(found.group().strip())
        place = found.end()
    return tokens


class Reader(Generic[Value]):
    """Reads and computes in one pass.

    Args:
        tokens: the expression, cut up.
        deepest: how many parentheses may stand in each other.
    """

    def __init__(self, tokens: list[str], deepest: int) -> None:
        self._tokens = tokens
        self._deepest = deepest
        self._place = 0
        self._depth = 0

    def _product(self) -> Value:
        """What is added up."""
        raise NotImplementedError

    def _unsigned(self) -> Value:
        """What may have signs in front."""
        raise NotImplementedError

    def _added(self, left: Value, right: Value, sign: str) -> Value:
        raise NotImplementedError

    def _negated(self, value: Value) -> Value:
        raise NotImplementedError

    def _next(self) -> str:
        return self._tokens[self._place] if self._place < len(self._tokens) else ""

    def _take(self, *wanted: str) -> str:
        token = self._next()
        if token and token in wanted:
            self._place += 1
            return token
        return ""

    def _sum(self) -> Value:
        self._depth += 1
        if self._depth > self._deepest:
            raise MistakeError(f"there are more than {self._deepest} parentheses in each other")
        value = self._product()
        while sign := self._take("+", "-"):
            value = self._added(value, self._product(), sign)
        self._depth -= 1
        return value

    def _signed(self) -> Value:
        negative = False
        while sign := self._take("+", "-"):
            negative ^= sign == "-"
        value = self._unsigned()
        return self._negated(value) if negative else value

    def _parenthesis(self) -> Value:
        """What stands in a parenthesis whose opening was taken."""
        value = self._sum()
        self._close()
        return value

    def _arguments(self, name: str, called: str) -> list[Value]:
        """What stands behind ``name`` in parentheses; ``called`` is what people call it."""
        if not self._take("("):
            raise MistakeError(f"{name} is followed by its {called} in parentheses")
        values = [self._sum()]
        while self._take(","):
            values.append(self._sum())
        self._close()
        return values

    def _close(self) -> None:
        if not self._take(")"):
            raise MistakeError("a parenthesis is not closed")
