"""Reads one value, from text or from a file's own types, and says what is allowed where it cannot.

Numbers that are paid or added up are read as exact decimals, never through binary floats.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import Any, TypeAlias
from urllib.parse import urlsplit

from disputatio.config.settings import RuleValue
from disputatio.failures import InvalidInputError
from disputatio.participants.call import OutputMode
from disputatio.participants.providers import parse_seat_value, provider_named, shown
from disputatio.participants.seating import Price


@dataclass(frozen=True, slots=True)
class Given:
    """A value as it was given, and by whom. It may be a key, so it is not shown.

    ``directory`` is where paths in the value start from.
    """

    value: object = field(repr=False)
    source: str
    directory: Path


Reader: TypeAlias = Callable[[str, Given], Any]


def bad(key: str, given: Given, allowed: str, hint: str = "") -> InvalidInputError:
    """The error for a value of ``key`` that cannot be used."""
    return InvalidInputError(
        f"{key} is {shown(given.value)} (from {given.source}), which cannot be used.",
        f"{hint}Allowed is {allowed}.",
    )


def _plain(given: Given) -> str | None:
    return given.value.strip() if isinstance(given.value, str) else None


def text(allowed: str, pattern: str) -> Reader:
    """Text that matches ``pattern`` as a whole."""

    def read(key: str, given: Given) -> str:
        value = _plain(given)
        if value is None or not re.fullmatch(pattern, value):
            quotes = "Put it in quotes. " if value is None else ""
            raise bad(key, given, allowed, quotes)
        return value

    return read


# "no" without quotes is false in YAML 1.1, and is also the tag of Norwegian.
language = text(
    "the name or tag of a language, up to 60 letters, such as English, German or zh-Hans",
    r"(?=.{1,60}\Z)[^\W\d_][\w \-().,']*",
)
variable_name = text("the name of an environment variable, such as MY_KEY", r"[A-Za-z_][A-Za-z0-9_]{0,99}")
rubric_name = text("the name of a rubric", r"[a-z][a-z0-9_-]{0,59}")


def _number(given: Given) -> Decimal | None:
    """The exact number given, or None. Booleans are no numbers, and neither are infinities."""
    value = given.value
    if isinstance(value, bool):
        return None
    if isinstance(value, str):
        exact = re.fullmatch(r"[+-]?(?:[0-9]{1,30}(?:\.[0-9]{0,30})?|\.[0-9]{1,30})", value.strip())
        return Decimal(exact[0]) if exact else None
    if isinstance(value, float):
        value = Decimal(repr(value))
    if isinstance(value, int):
        value = Decimal(value)
    if not isinstance(value, Decimal) or not value.is_finite() or abs(value.adjusted()) > 30:
        return None
    return value


def count(minimum: int, maximum: int, of: str = "a whole number") -> Reader:
    """A whole number from ``minimum`` to ``maximum``."""

    def read(key: str, given: Given) -> int:
        number = _number(given)
        if number is None or number != number.to_integral_value() or not minimum <= number <= maximum:
            raise bad(key, given, f"{of} from {minimum} to {maximum}")
        return int(number)

    return read


def measure(minimum: float, maximum: float, of: str) -> Reader:
    """A number from ``minimum`` to ``maximum``, as a float."""

    def read(key: str, given: Given) -> float:
        number = _number(given)
        if number is None or not minimum <= number <= maximum:
            raise bad(key, given, f"{of} from {minimum} to {maximum}")
        return float(number)

    return read


_MOST_USD = Decimal(1_000_000_000)


def money(key: str, given: Given) -> Decimal:
    """A positive amount of US dollars, exact."""
    number = _number(given)
    if number is None or not 0 < number <= _MOST_USD:
        raise bad(key, given, "a positive amount of US dollars without a currency sign, such as 0.50")
    return number


def rate(key: str, given: Given) -> Decimal:
    """US dollars per million tokens, exact; 0 declares that it costs nothing."""
    number = _number(given)
    if number is None or not 0 <= number <= _MOST_USD:
        raise bad(key, given, "US dollars per million tokens, 0 or more, such as 0.25")
    return number


def price(key: str, given: Given) -> Price:
    """``INPUT/OUTPUT`` or ``INPUT/OUTPUT/CACHED``, each in US dollars per million tokens."""
    parts = (_plain(given) or "").split("/")
    rates = [_number(Given(part, given.source, given.directory)) for part in parts]
    exact = [each for each in rates if each is not None and 0 <= each <= _MOST_USD]
    if len(parts) not in {2, 3} or len(exact) != len(parts):
        raise bad(key, given, "INPUT/OUTPUT or INPUT/OUTPUT/CACHED in US dollars per million tokens, such as 0.5/1.5")
    return Price(*exact)


def weight(key: str, given: Given) -> Decimal:
    """The share of a criterion in a rubric, more than 0 and at most 1, exact."""
    number = _number(given)
    if number is None or not 0 < number <= 1:
        raise bad(key, given, "a weight above 0 and at most 1; the weights of all criteria add up to 1")
    return number


_TRUE = frozenset({"true", "yes", "on", "1"})
_FALSE = frozenset({"false", "no", "off", "0"})


def flag(key: str, given: Given) -> bool:
    """True or false, also as yes and no, on and off, 1 and 0."""
    word = str(given.value).strip().lower()
    if isinstance(given.value, bool | int | str) and word in _TRUE | _FALSE:
        return word in _TRUE
    raise bad(key, given, "true or false")


def mode(key: str, given: Given) -> OutputMode:
    """One of the structured-output modes."""
    word = (_plain(given) or "").lower()
    structured = [each.value for each in OutputMode if each is not OutputMode.TEXT]
    if word not in structured:
        raise bad(key, given, f"one of {', '.join(structured)}")
    return OutputMode(word)


def provider(key: str, given: Given) -> str:
    """The name of a provider, as the table spells it."""
    word = _plain(given)
    if not word:
        raise bad(key, given, "the name of a provider")
    return provider_named(word, source=given.source).name


def seat_value(key: str, given: Given) -> str:
    """``PROVIDER:MODEL``, checked but not yet taken apart."""
    word = _plain(given)
    if not word:
        raise bad(key, given, "PROVIDER:MODEL, such as openai:gpt-5 or embedded")
    value = parse_seat_value(word, source=given.source)
    if value.base_url is not None:
        url(key, Given(value.base_url, given.source, given.directory))
    return word


def model(key: str, given: Given) -> str:
    """A model's name; what the provider knows is checked with the provider."""
    word = _plain(given)
    if not word:
        raise bad(key, given, "the name of a model, in quotes where it looks like a number")
    return word


def url(key: str, given: Given) -> str:
    """The address of a server, without a slash at its end."""
    word = _plain(given) or ""
    try:
        parts = urlsplit(word)
        host, _ = parts.hostname, parts.port
    except ValueError:
        raise bad(key, given, "an address such as http://localhost:8000/v1") from None
    if "@" in parts.netloc or parts.query or parts.fragment:
        # The address goes into the record and onto the screen, and these places can hold a secret.
        raise bad(key, given, "an address without user, password, question mark or #; a key goes in LLM_API_KEY")
    if parts.scheme not in {"http", "https"} or not host or not word.isprintable() or " " in word:
        raise bad(key, given, "an address such as http://localhost:8000/v1")
    return word.rstrip("/")


_STORE_SCHEME = re.compile(r"(?:sqlite|postgresql)(?:\+[a-z0-9]+)?://", re.IGNORECASE)


def store(key: str, given: Given) -> str:
    """The URL of a store; a plain path becomes the URL of an SQLite file there."""
    word = _plain(given)
    allowed = "sqlite:///PATH, postgresql://USER@HOST/DATABASE, or the path of a file"
    if not word or not word.isprintable():
        raise bad(key, given, allowed)
    if _STORE_SCHEME.match(word):
        return word
    if "://" in word:
        # A store's URL can hold a password, so it is named by its scheme alone.
        scheme = word.partition("://")[0]
        raise bad(key, Given(f"{scheme}://...", given.source, given.directory), allowed)
    return sqlite_url(given.directory / Path(word).expanduser())


def sqlite_url(path: Path) -> str:
    """The URL of an SQLite file. An absolute POSIX path gives four slashes, as SQLAlchemy wants it."""
    return f"sqlite:///{path.as_posix()}"


_MOST_PERSONA_CHARS = 8_000


def persona(key: str, given: Given) -> str:
    """A description, or ``@PATH`` of a text file that holds it."""
    allowed = f"text of up to {_MOST_PERSONA_CHARS:,} characters, or @PATH of a UTF-8 text file"
    word = _plain(given)
    if word is None:
        raise bad(key, given, allowed)
    if word.startswith("@"):
        path = given.directory / Path(word[1:].strip()).expanduser()
        try:
            word = path.read_text(encoding="utf-8-sig").strip()
        except (OSError, UnicodeDecodeError, ValueError) as failure:
            reason = "is not UTF-8 text" if isinstance(failure, ValueError) else "cannot be read"
            raise bad(key, given, allowed, f"The file {reason}. ") from None
    if not word or len(word) > _MOST_PERSONA_CHARS or "\x00" in word:
        raise bad(key, given, allowed)
    return word


def key_text(given: Given) -> str:
    """A key, without blanks around it.

    Raises:
        InvalidInputError: it could not be sent as a header. The message never holds the key.
    """
    word = _plain(given) or ""
    if not re.fullmatch(r"[\x21-\x7e]+", word):
        raise InvalidInputError(
            f"The key in {given.source} is not a key: it has blanks, line breaks or foreign letters inside.",
            "Copy it again from the provider's page, without quotes or a word such as Bearer before it.",
        )
    return word


def like(default: RuleValue, key: str, given: Given) -> RuleValue:
    """A value of the same type as ``default``."""
    if isinstance(default, bool):
        return flag(key, given)
    number = _number(given)
    if isinstance(default, int):
        if number is None or number != number.to_integral_value():
            raise bad(key, given, f"a whole number, such as {default}")
        return int(number)
    if isinstance(default, Decimal):
        if number is None:
            raise bad(key, given, f"a number, such as {default}")
        return number
    word = _plain(given)
    if not word:
        raise bad(key, given, f"text, such as {default}")
    return word
