"""Texts that match a regular expression, for the part of the language that schemas use.

Understood: literals, ``.``, escapes (``\\d \\w \\s`` and their negations, ``\\t \\n \\r``, ``\\xhh``,
``\\uhhhh``), classes with ranges, groups, alternatives, ``? * + {m} {m,} {m,n}`` with or without a lazy
mark, and the anchors ``^`` and ``$`` at the ends. Look-around, back-references and word boundaries are not:
they depend on more than the piece of text they stand at. The dialect is that of ECMA-262, which JSON Schema
names for ``pattern``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, TypeAlias

from disputatio.failures import InvalidInputError
from disputatio.testing.instances.seeds import mixed

Writer: TypeAlias = Callable[[int, int], str]
"""Writes a match from a seed and the number of repetitions above the least that each quantifier takes;
with a negative number each quantifier takes a drawn share of that many."""

_DIGITS: Final = frozenset("0123456789")
_LETTERS: Final = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
_WORD: Final = _DIGITS | _LETTERS | {"_"}
_SPACE: Final = frozenset(" \t\n\r\f\v")
_PRINTABLE: Final = frozenset(map(chr, range(0x20, 0x7F)))
_CLASSES: Final = {
    "d": _DIGITS,
    "w": _WORD,
    "s": _SPACE,
    "D": _PRINTABLE - _DIGITS,
    "W": _PRINTABLE - _WORD,
    "S": _PRINTABLE - _SPACE,
}
_CONTROLS: Final = {"t": "\t", "n": "\n", "r": "\r", "f": "\f", "v": "\v", "0": "\0"}
_DRAWN: Final = 4


def matcher(pattern: str) -> Writer:
    """A writer of texts that match ``pattern``.

    Raises:
        InvalidInputError: the pattern uses what this module does not understand.
    """
    reader = _Reader(pattern)
    writer = reader.alternatives()
    if not reader.done:
        raise reader.error("a closing bracket has no opening one")
    return writer


def matching(writer: Writer, seed: int, low: int, high: int | None) -> str | None:
    """A match of ``low`` to ``high`` characters, or None where a short search finds none."""
    for attempt in range(_DRAWN):
        text = writer(mixed(seed + attempt), -_DRAWN)
        if low <= len(text) and (high is None or len(text) <= high):
            return text
    for repeats in range(max(low, 16) + 1):
        text = writer(seed, repeats)
        if low <= len(text) and (high is None or len(text) <= high):
            return text
    return None


class _Reader:
    """A recursive-descent reader of one pattern."""

    def __init__(self, pattern: str) -> None:
        self._pattern = pattern
        self._at = 0

    @property
    def done(self) -> bool:
        return self._at >= len(self._pattern)

    def error(self, why: str) -> InvalidInputError:
        return InvalidInputError(
            f"No text can be made for the pattern {self._pattern!r}: {why}.",
            "Use a simpler pattern, or an enum of the allowed texts.",
        )

    def _peek(self, text: str) -> bool:
        return self._pattern.startswith(text, self._at)

    def _take(self, text: str) -> bool:
        found = self._peek(text)
        if found:
            self._at += len(text)
        return found

    def _next(self) -> str:
        if self.done:
            raise self.error("it ends too early")
        self._at += 1
        return self._pattern[self._at - 1]

    def alternatives(self) -> Writer:
        branches = [self._sequence()]
        while self._take("|"):
            branches.append(self._sequence())
        if len(branches) == 1:
            return branches[0]
        return lambda seed, more: branches[(seed >> 7) % len(branches)](mixed(seed), more)

    def _sequence(self) -> Writer:
        pieces: list[Writer] = []
        while not self.done and not self._peek("|") and not self._peek(")"):
            if self._take("^") or self._take("$"):
                continue
            pieces.append(self._quantified(self._atom()))

        def write(seed: int, more: int) -> str:
            return "".join(piece(mixed(seed + place), more) for place, piece in enumerate(pieces))

        return write

    def _atom(self) -> Writer:
        if self._take("("):
            if self._take("?"):
                self._group_kind()
            inside = self.alternatives()
            if not self._take(")"):
                raise self.error("a group is not closed")
            return inside
        if self._take("["):
            return _one_of(self._class())
        if self._take("."):
            return _one_of(_PRINTABLE)
        if self._take("\\"):
            return _one_of(self._escape())
        return _one_of(frozenset(self._next()))

    def _group_kind(self) -> None:
        if self._take(":"):
            return
        if self._take("<") and not self._peek("=") and not self._peek("!"):
            while self._next() != ">":
                pass
            return
        raise self.error("it looks around")

    def _quantified(self, piece: Writer) -> Writer:
        bounds = self._bounds()
        if bounds is None:
            return piece
        self._take("?")
        low, high = bounds

        def write(seed: int, more: int) -> str:
            extra = more if more >= 0 else (seed >> 5) % -more
            count = low + extra if high is None else min(low + extra, high)
            return "".join(piece(mixed(seed + place), more) for place in range(count))

        return write

    def _bounds(self) -> tuple[int, int | None] | None:
        if self._take("?"):
            return 0, 1
        if self._take("*"):
            return 0, None
        if self._take("+"):
            return 1, None
        if not self._take("{"):
            return None
        end = self._pattern.find("}", self._at)
        low, comma, high = self._pattern[self._at : end].partition(",")
        if end < 0 or not low.isdigit() or (high and not high.isdigit()):
            raise self.error("a count in braces cannot be read")
        self._at = end + 1
        least = int(low)
        return least, (int(high) if high else None) if comma else least

    def _escape(self) -> frozenset[str]:
        mark = self._next()
        if mark in _CLASSES:
            return _CLASSES[mark]
        if mark in _CONTROLS:
            return frozenset(_CONTROLS[mark])
        if mark in "xu":
            digits = self._pattern[self._at : self._at + (2 if mark == "x" else 4)]
            try:
                letter = chr(int(digits, 16))
            except ValueError:
                raise self.error("an escape in hexadecimal cannot be read") from None
            self._at += len(digits)
            return frozenset(letter)
        if mark.isalnum():
            raise self.error(f"the escape \\{mark} is not understood")
        return frozenset(mark)

    def _class(self) -> frozenset[str]:
        negated = self._take("^")
        members: set[str] = set()
        while not self._take("]"):
            first = self._member()
            if len(first) == 1 and self._peek("-") and not self._peek("-]"):
                self._at += 1
                last = self._member()
                if len(last) != 1:
                    raise self.error("a range in a class cannot be read")
                members.update(map(chr, range(ord(min(first)), ord(min(last)) + 1)))
            else:
                members |= first
        found = frozenset(members)
        if negated:
            found = (_PRINTABLE - found) or (frozenset("éßøλж") - found)
        if not found:
            raise self.error("a class has no members")
        return found

    def _member(self) -> frozenset[str]:
        return self._escape() if self._take("\\") else frozenset(self._next())


def _one_of(letters: frozenset[str]) -> Writer:
    """One letter; readable ones where the class has any."""
    readable = sorted(letters & (_LETTERS | _DIGITS)) or sorted(letters)
    return lambda seed, _more: readable[(seed >> 9) % len(readable)]
