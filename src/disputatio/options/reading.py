"""Read one value from text or a file's own types, and say what is allowed if that fails.

Numbers that are paid or added up are exact decimals, never binary floats. Also reads keys of a configuration file as
they are written in one line.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any, TypeAlias
from urllib.parse import urlsplit

from disputatio.errors import InvalidInputError
from disputatio.errors.quoting import quote

RuleValue: TypeAlias = bool | int | Decimal | str


@dataclass(frozen=True, slots=True)
class Given:
    """A value as given, with its source. ``repr`` does not show it, because it may be a key.

    ``directory`` is where paths in the value start from.
    """

    value: object = field(repr=False)
    source: str
    directory: Path = field(default=Path())


Reader: TypeAlias = Callable[[str, Given], Any]


def bad_value(key: str, given: Given, allowed: str, hint: str = "") -> InvalidInputError:
    """The error for an unusable value of ``key``."""
    return InvalidInputError(
        f"{key} is {quote(given.value)} (from {given.source}), which cannot be used.",
        f"{hint}Allowed is {allowed}.",
    )


def stripped_text(given: Given) -> str | None:
    """The given text without surrounding blanks; None if it is not text."""
    return given.value.strip() if isinstance(given.value, str) else None


def text(allowed: str, pattern: str) -> Reader:
    """Text that matches ``pattern`` as a whole."""

    def read(key: str, given: Given) -> str:
        value = stripped_text(given)
        if value is None or not re.fullmatch(pattern, value):
            quotes = "Put it in quotes. " if value is None else ""
            raise bad_value(key, given, allowed, quotes)
        return value

    return read


def number(given: Given) -> Decimal | None:
    """The exact number given, or None. Booleans and infinities are not numbers."""
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
            raise bad_value(key, given, f"{of} from {minimum} to {maximum}")
        return int(found)

    return read


def measure(minimum: float, maximum: float, of: str = "a number") -> Reader:
    """A number from ``minimum`` to ``maximum``, as a float."""

    def read(key: str, given: Given) -> float:
        found = number(given)
        if found is None or not minimum <= found <= maximum:
            raise bad_value(key, given, f"{of} from {minimum} to {maximum}")
        return float(found)

    return read


def exact(allowed: str, minimum: Decimal, maximum: Decimal, *, above: bool = False) -> Reader:
    """An exact number from ``minimum`` to ``maximum``; with ``above`` it must exceed ``minimum``."""

    def read(key: str, given: Given) -> Decimal:
        found = number(given)
        if found is None or not minimum <= found <= maximum or (above and found == minimum):
            raise bad_value(key, given, allowed)
        return found

    return read


weight = exact("a number of 0 or more, such as 2", Decimal(0), Decimal(1_000_000))
"""The weight of a vote or a judge; only the proportions matter."""


def choice(*words: str) -> Reader:
    """One of ``words``, in small or large letters."""

    def read(key: str, given: Given) -> str:
        word = (stripped_text(given) or "").lower()
        if word not in words:
            raise bad_value(key, given, f"one of {', '.join(words)}")
        return word

    return read


_TRUE = frozenset({"true", "yes", "on", "1"})
_FALSE = frozenset({"false", "no", "off", "0"})


def flag(key: str, given: Given) -> bool:
    """True or false, also as yes and no, on and off, 1 and 0."""
    word = str(given.value).strip().lower()
    if isinstance(given.value, bool | int | str) and word in _TRUE | _FALSE:
        return word in _TRUE
    raise bad_value(key, given, "true or false")


def share(key: str, given: Given) -> Fraction:
    """A share from 0 to 1, exact: ``2/3`` or ``0.75``."""
    word = str(given.value).strip() if not isinstance(given.value, bool) else ""
    form = re.fullmatch(r"[0-9]{1,9}(?:/[1-9][0-9]{0,8}|\.[0-9]{1,9})?", word)
    if form is None or not 0 <= Fraction(word) <= 1:
        raise bad_value(key, given, "a share from 0 to 1, such as 2/3 or 0.75")
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
        found = [name.lower() if small else name for name in split_names(given)]
        wrong = next((name for name in found if not re.fullmatch(pattern, name)), None)
        if not fewest <= len(found) <= most or wrong is not None:
            raise bad_value(key, given, allowed, bad_name_hint(wrong))
        return check_unique(key, given, found, allowed)

    return read


def split_names(given: Given) -> list[str]:
    """The given words, comma-separated or as a list, each on one line; empty if they are neither."""
    if isinstance(given.value, list | tuple) and all(isinstance(word, str) for word in given.value):
        return [" ".join(word.split()) for word in given.value]
    word = stripped_text(given)
    return [" ".join(part.split()) for part in word.split(",")] if word else []


def check_unique(key: str, given: Given, found: list[str], allowed: str) -> tuple[str, ...]:
    """``found`` as a tuple.

    Raises:
        InvalidInputError: a name appears twice.
    """
    known: set[str] = set()
    for name in found:
        if name.casefold() in known:
            raise bad_value(key, given, allowed, f"{quote(name)} appears twice. ")
        known.add(name.casefold())
    return tuple(found)


def bad_name_hint(wrong: str | None) -> str:
    """The hint that names the forbidden word."""
    return "" if wrong is None else f"{quote(wrong)} cannot be one. "


def escalation(key: str, given: Given) -> str:
    """``person``, the name of a format, or the address of a callback. No message shows the address."""
    word = stripped_text(given) or ""
    allowed = "person, the name of a format such as structured, or an address that begins with http:// or https://"
    if "://" in word:
        try:
            parts = urlsplit(word)
            host, _ = parts.hostname, parts.port
        except ValueError:
            host = None
        scheme = word.partition("://")[0].lower()
        if scheme not in {"http", "https"} or not host or not word.isprintable() or " " in word:
            raise bad_value(key, Given(f"{scheme}://...", given.source, given.directory), allowed)
        return word
    if not re.fullmatch(r"[a-z][a-z0-9_-]{0,59}", word):
        raise bad_value(key, given, allowed)
    return word


def file_path(key: str, given: Given) -> str:
    """The path of a TOML or YAML file, relative to where it was given."""
    word = stripped_text(given) or ""
    path = given.directory / Path(word).expanduser()
    if not word or path.suffix.lower() not in {".toml", ".yaml", ".yml"} or not path.is_file():
        raise bad_value(key, given, "the path of a file that ends in .toml, .yaml or .yml")
    return str(path)


def read_like(default: RuleValue, key: str, given: Given) -> RuleValue:
    """A value with the type of ``default``."""
    if isinstance(default, bool):
        return flag(key, given)
    found = number(given)
    if isinstance(default, int):
        if found is None or found != found.to_integral_value():
            raise bad_value(key, given, f"a whole number, such as {default}")
        return int(found)
    if isinstance(default, Decimal):
        if found is None:
            raise bad_value(key, given, f"a number, such as {default}")
        return found
    word = stripped_text(given)
    if not word:
        raise bad_value(key, given, f"text, such as {default}")
    return word


KeyPath: TypeAlias = tuple[str, ...]
"""A key by its levels."""


def dotted(path: KeyPath) -> str:
    """``path`` on one line, with quotes around names that need them, and without keys."""
    bare = (re.fullmatch(r"[\w-]+", part) for part in path)
    quoted = (quote(part) for part in path)
    return ".".join(
        name.strip("'") if is_bare else name.replace("'", '"') for is_bare, name in zip(bare, quoted, strict=True)
    )


def key_path(name: str, source: str) -> KeyPath:
    """Split a key that is written as in a TOML file: the inverse of ``dotted``.

    Raises:
        InvalidInputError: it is not a key.
    """
    node: object = {}
    try:
        if "\n" not in name and "#" not in name:
            node = tomllib.loads(f"{name} = 0")
    except tomllib.TOMLDecodeError:
        pass
    path: list[str] = []
    while isinstance(node, dict) and len(node) == 1:
        ((part, node),) = node.items()
        path.append(part)
    if not path or node != 0:
        raise InvalidInputError(
            f"{source} has the key {quote(name)}, which cannot be read.",
            "Write it as in a TOML file, with quotes around a name that has colons, such as "
            'price."openai:gpt-5".input=1.25.',
        )
    return tuple(path)
