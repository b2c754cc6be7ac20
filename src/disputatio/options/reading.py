"""Reads one value, from text or from a file's own types, and says what is allowed where it cannot.

Numbers that are paid or added up are read as exact decimals, never through binary floats.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any, TypeAlias
from urllib.parse import urlsplit

from disputatio.errors import InvalidInputError
from disputatio.errors.quoting import shown

RuleValue: TypeAlias = bool | int | Decimal | str


@dataclass(frozen=True, slots=True)
class Given:
    """A value as it was given, and by whom. It may be a key, so it is not shown.

    ``directory`` is where paths in the value start from.
    """

    value: object = field(repr=False)
    source: str
    directory: Path = field(default=Path())


Reader: TypeAlias = Callable[[str, Given], Any]


def bad(key: str, given: Given, allowed: str, hint: str = "") -> InvalidInputError:
    """The error for a value of ``key`` that cannot be used."""
    return InvalidInputError(
        f"{key} is {shown(given.value)} (from {given.source}), which cannot be used.",
        f"{hint}Allowed is {allowed}.",
    )


def plain(given: Given) -> str | None:
    """The text given, without blanks around it; None where it is no text."""
    return given.value.strip() if isinstance(given.value, str) else None


def text(allowed: str, pattern: str) -> Reader:
    """Text that matches ``pattern`` as a whole."""

    def read(key: str, given: Given) -> str:
        value = plain(given)
        if value is None or not re.fullmatch(pattern, value):
            quotes = "Put it in quotes. " if value is None else ""
            raise bad(key, given, allowed, quotes)
        return value

    return read


def any_text(key: str, given: Given) -> str:
    """Text that is not empty."""
    word = plain(given)
    if not word:
        raise bad(key, given, "text")
    return word


def number(given: Given) -> Decimal | None:
    """The exact number given, or None. Booleans are no numbers, and neither are infinities."""
    value = given.value
    if isinstance(value, bool):
        return None
    if isinstance(value, str):
        exact = re.fullmatch(r"[+-]?(?:[0-9]{1,30}(?:\.[0-9]{0,30})?|\.[0-9]{1,30})", value.strip())
        return Decimal(exact[0]) if exact else None
    if isinstance(value, float):
        value = Decimal(repr(float(value)))
    if isinstance(value, int):
        value = Decimal(value)
    if not isinstance(value, Decimal) or not value.is_finite() or abs(value.adjusted()) > 30:
        return None
    return value


def count(minimum: int, maximum: int, of: str = "a whole number") -> Reader:
    """A whole number from ``minimum`` to ``maximum``."""

    def read(key: str, given: Given) -> int:
        found = number(given)
        if found is None or found != found.to_integral_value() or not minimum <= found <= maximum:
            raise bad(key, given, f"{of} from {minimum} to {maximum}")
        return int(found)

    return read


def measure(minimum: float, maximum: float, of: str = "a number") -> Reader:
    """A number from ``minimum`` to ``maximum``, as a float."""

    def read(key: str, given: Given) -> float:
        found = number(given)
        if found is None or not minimum <= found <= maximum:
            raise bad(key, given, f"{of} from {minimum} to {maximum}")
        return float(found)

    return read


def exact(allowed: str, minimum: Decimal, maximum: Decimal, *, above: bool = False) -> Reader:
    """An exact number from ``minimum``, or where ``above`` from just above it, to ``maximum``."""

    def read(key: str, given: Given) -> Decimal:
        found = number(given)
        if found is None or not minimum <= found <= maximum or (above and found == minimum):
            raise bad(key, given, allowed)
        return found

    return read


weight = exact("a number of 0 or more, such as 2", Decimal(0), Decimal(1_000_000))
"""What a vote or a judge counts; only the proportions matter."""


def choice(*words: str) -> Reader:
    """One of ``words``, in small or large letters."""

    def read(key: str, given: Given) -> str:
        word = (plain(given) or "").lower()
        if word not in words:
            raise bad(key, given, f"one of {', '.join(words)}")
        return word

    return read


_TRUE = frozenset({"true", "yes", "on", "1"})
_FALSE = frozenset({"false", "no", "off", "0"})


def flag(key: str, given: Given) -> bool:
    """True or false, also as yes and no, on and off, 1 and 0."""
    word = str(given.value).strip().lower()
    if isinstance(given.value, bool | int | str) and word in _TRUE | _FALSE:
        return word in _TRUE
    raise bad(key, given, "true or false")


def share(key: str, given: Given) -> Fraction:
    """A share from 0 to 1, exact: ``2/3`` or ``0.75``."""
    word = str(given.value).strip() if not isinstance(given.value, bool) else ""
    form = re.fullmatch(r"[0-9]{1,9}(?:/[1-9][0-9]{0,8}|\.[0-9]{1,9})?", word)
    if form is None or not 0 <= Fraction(word) <= 1:
        raise bad(key, given, "a share from 0 to 1, such as 2/3 or 0.75")
    return Fraction(word)


def names(allowed: str, pattern: str, fewest: int, most: int, *, small: bool = False) -> Reader:
    """Different names, between commas or as a list, each of which matches ``pattern``.

    Args:
        allowed: what may be given, for the message.
        pattern: a regular expression for the whole of a name.
        fewest: the fewest names.
        most: the most names.
        small: whether they are turned into small letters.
    """

    def read(key: str, given: Given) -> tuple[str, ...]:
        found = [name.lower() if small else name for name in between_commas(given)]
        wrong = next((name for name in found if not re.fullmatch(pattern, name)), None)
        if not fewest <= len(found) <= most or wrong is not None:
            raise bad(key, given, allowed, none_of_them(wrong))
        return named_once(key, given, found, allowed)

    return read


def between_commas(given: Given) -> list[str]:
    """The words given, between commas or as a list, each on one line; nothing where they are neither."""
    if isinstance(given.value, list | tuple) and all(isinstance(word, str) for word in given.value):
        return [" ".join(word.split()) for word in given.value]
    word = plain(given)
    return [" ".join(part.split()) for part in word.split(",")] if word else []


def named_once(key: str, given: Given, found: list[str], allowed: str) -> tuple[str, ...]:
    """``found`` as a tuple.

    Raises:
        InvalidInputError: a name is there twice.
    """
    known: set[str] = set()
    for name in found:
        if name.casefold() in known:
            raise bad(key, given, allowed, f"{shown(name)} is there twice. ")
        known.add(name.casefold())
    return tuple(found)


def none_of_them(wrong: str | None) -> str:
    """The hint that names the word which cannot be one."""
    return "" if wrong is None else f"{shown(wrong)} cannot be one. "


def escalation(key: str, given: Given) -> str:
    """``person``, the name of a format, or the address of a callback, which no message shows."""
    word = plain(given) or ""
    allowed = "person, the name of a format such as structured, or an address that begins with http:// or https://"
    if "://" in word:
        try:
            parts = urlsplit(word)
            host, _ = parts.hostname, parts.port
        except ValueError:
            host = None
        scheme = word.partition("://")[0].lower()
        if scheme not in {"http", "https"} or not host or not word.isprintable() or " " in word:
            raise bad(key, Given(f"{scheme}://...", given.source, given.directory), allowed)
        return word
    if not re.fullmatch(r"[a-z][a-z0-9_-]{0,59}", word):
        raise bad(key, given, allowed)
    return word


def file_path(key: str, given: Given) -> str:
    """The path of a TOML or YAML file, from where it was given."""
    word = plain(given) or ""
    path = given.directory / Path(word).expanduser()
    if not word or path.suffix.lower() not in {".toml", ".yaml", ".yml"} or not path.is_file():
        raise bad(key, given, "the path of a file that ends in .toml, .yaml or .yml")
    return str(path)


def like(default: RuleValue, key: str, given: Given) -> RuleValue:
    """A value of the same type as ``default``."""
    if isinstance(default, bool):
        return flag(key, given)
    found = number(given)
    if isinstance(default, int):
        if found is None or found != found.to_integral_value():
            raise bad(key, given, f"a whole number, such as {default}")
        return int(found)
    if isinstance(default, Decimal):
        if found is None:
            raise bad(key, given, f"a number, such as {default}")
        return found
    word = plain(given)
    if not word:
        raise bad(key, given, f"text, such as {default}")
    return word
