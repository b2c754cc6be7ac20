"""Reads one value, from text or from a file's own types, and says what is allowed where it cannot.

Numbers that are paid or added up are read as exact decimals, never through binary floats.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any, TypeAlias
from urllib.parse import urlsplit

from disputatio.config.settings import RuleValue
from disputatio.failures import InvalidInputError
from disputatio.motion import one_line
from disputatio.participants.call import OutputMode
from disputatio.participants.providers import parse_seat_value, provider_named, shown
from disputatio.participants.reasoning import EFFORTS
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
task_type = text("a kind of decision in small letters, such as contract or contract-risk", r"[a-z][a-z0-9_-]{0,39}")
preset = text("the name of a preset, such as contract", r"[a-z][a-z0-9_-]{0,59}")
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
        value = Decimal(repr(float(value)))
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


def question(key: str, given: Given) -> str:
    """What a judge is asked about a criterion: one line of up to 300 characters."""
    words = _plain(given)
    if not words or len(words) > _LONGEST_QUESTION or not words.isprintable():
        raise bad(
            key, given, f"one line of text, up to {_LONGEST_QUESTION} characters, that a judge answers from 1 to 10"
        )
    return words


_LONGEST_QUESTION = 300


def points(key: str, given: Given) -> Decimal:
    """Points on the judges' scale, exact."""
    number = _number(given)
    if number is None or not 0 <= number <= 9:
        raise bad(key, given, "a number of points from 0 to 9, such as 0.5")
    return number


def share(key: str, given: Given) -> Decimal:
    """How much a judge counts, exact; only the proportions matter."""
    number = _number(given)
    if number is None or not 0 <= number <= 1_000_000:
        raise bad(key, given, "a number of 0 or more, such as 2")
    return number


PANEL_METHODS = {
    "mean": "mean",
    "median": "median",
    "majority": "majority",
    "weighted": "weighted mean",
    "weighted-vote": "weighted vote",
}
"""What people type, and what the panel calls it."""


def panel_method(key: str, given: Given) -> str:
    """One of the ways in which several judges become one."""
    word = (_plain(given) or "").lower()
    if word not in PANEL_METHODS:
        raise bad(key, given, f"one of {', '.join(PANEL_METHODS)}")
    return PANEL_METHODS[word]


DECISION_RULES = ("threshold_vote", "majority", "super-majority", "unanimity", "weighted")


def decision_rule(key: str, given: Given) -> str:
    """One of the rules by which a panel decides."""
    word = (_plain(given) or "").lower()
    if word not in DECISION_RULES:
        raise bad(key, given, f"one of {', '.join(DECISION_RULES)}")
    return word


def part_of_one(key: str, given: Given) -> Fraction:
    """A share from 0 to 1, exact: ``2/3`` or ``0.75``."""
    word = str(given.value).strip() if not isinstance(given.value, bool) else ""
    exact = re.fullmatch(r"[0-9]{1,9}(?:/[1-9][0-9]{0,8}|\.[0-9]{1,9})?", word)
    if exact is None or not 0 <= Fraction(word) <= 1:
        raise bad(key, given, "a share from 0 to 1, such as 2/3 or 0.75")
    return Fraction(word)


_MOST_NAMES = 100
_DEBATER = re.compile(r"[a-z][a-z0-9_]{0,31}")
_OPTION = re.compile(r"\w(?:[\w -]{0,38}\w)?")


def _between_commas(given: Given) -> list[str]:
    if isinstance(given.value, list) and all(isinstance(word, str) for word in given.value):
        return [" ".join(word.split()) for word in given.value]
    plain = _plain(given)
    return [" ".join(word.split()) for word in plain.split(",")] if plain else []


def _named_once(key: str, given: Given, names: list[str], allowed: str) -> tuple[str, ...]:
    known: set[str] = set()
    for name in names:
        if name.casefold() in known:
            raise bad(key, given, allowed, f"{shown(name)} is there twice. ")
        known.add(name.casefold())
    return tuple(names)


def _none_of_them(wrong: str | None) -> str:
    return "" if wrong is None else f"{shown(wrong)} cannot be one. "


def debaters(key: str, given: Given) -> tuple[str, ...]:
    """The names of debaters, in the order in which they speak; each is a seat."""
    allowed = (
        f"1 to {_MOST_NAMES} different names of small letters, digits and _ between commas, such as ada,bo,cleo; "
        "the name all is taken"
    )
    names = [name.lower() for name in _between_commas(given)]
    wrong = next((name for name in names if name == "all" or not _DEBATER.fullmatch(name)), None)
    if not 1 <= len(names) <= _MOST_NAMES or wrong is not None:
        raise bad(key, given, allowed, _none_of_them(wrong))
    return _named_once(key, given, names, allowed)


def options(key: str, given: Given) -> tuple[str, ...]:
    """What a panel may vote for."""
    allowed = "two or more different options of letters, digits, spaces and - between commas, such as adopt,reject"
    names = _between_commas(given)
    wrong = next((name for name in names if not _OPTION.fullmatch(name)), None)
    if not 2 <= len(names) <= _MOST_NAMES or wrong is not None:
        raise bad(key, given, allowed, _none_of_them(wrong))
    return _named_once(key, given, names, allowed)


_MOST_POSITIONS, _LONGEST_POSITION = 5, 300


def positions(key: str, given: Given) -> tuple[str, ...]:
    """The positions of a review, each a sentence; as one text they are parted by semicolons."""
    allowed = f"2 to {_MOST_POSITIONS} different sentences of 10 to {_LONGEST_POSITION} characters"
    rows = given.value if isinstance(given.value, list) else str(given.value).split(";")
    texts = [one_line(row) for row in rows if isinstance(row, str) and row.strip()]
    if not 2 <= len(texts) <= _MOST_POSITIONS or not all(10 <= len(row) <= _LONGEST_POSITION for row in texts):
        wrong = next((row for row in texts if not 10 <= len(row) <= _LONGEST_POSITION), None)
        raise bad(key, given, allowed, _none_of_them(wrong))
    return _named_once(key, given, texts, allowed)


def escalation(key: str, given: Given) -> str:
    """``person``, the name of a format, or the address of a callback, which no message shows."""
    word = _plain(given) or ""
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
    word = _plain(given) or ""
    path = given.directory / Path(word).expanduser()
    if not word or path.suffix.lower() not in {".toml", ".yaml", ".yml"} or not path.is_file():
        raise bad(key, given, "the path of a file that ends in .toml, .yaml or .yml")
    return str(path)


personality = text("the name of a personality, such as logical, or none", r"[\w-]{1,60}")

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


def reasoning_effort(key: str, given: Given) -> str | int:
    """One of the efforts, or a number of tokens."""
    word = (_plain(given) or "").lower()
    if word in EFFORTS:
        return word
    number = None if isinstance(given.value, bool) else _number(given)
    if number is None or number != number.to_integral_value() or not 1 <= number <= _MOST_REASONING:
        raise bad(key, given, f"one of {', '.join(EFFORTS)}, or a number of tokens from 1 to {_MOST_REASONING:,}")
    return int(number)


_MOST_REASONING = 1_000_000


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
    """The address of a server, without a slash at its end. It may end with the version of Azure's API."""
    word, _, version = (_plain(given) or "").partition("?api-version=")
    ending = f"?api-version={api_version(key, replace(given, value=version))}" if version else ""
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
    return word.rstrip("/") + ending


def api_version(key: str, given: Given) -> str:
    """A version of Azure's API."""
    word = _plain(given) or ""
    if not re.fullmatch(r"\d{4}-\d\d-\d\d(?:-preview)?|preview|latest", word):
        raise bad(key, given, "a version such as 2024-10-21 or 2025-04-01-preview")
    return word


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


_TOOL_WORD = re.compile(r"[A-Za-z][A-Za-z0-9_-]*(?:\.[A-Za-z0-9_./-]+)?")


def _words(given: Given) -> list[str] | None:
    """Words between commas, or a list of them; None where it is neither."""
    if isinstance(given.value, list) and all(isinstance(word, str) for word in given.value):
        return [word.strip() for word in given.value]
    plain = _plain(given)
    return [word for word in re.split(r"[,\s]+", plain) if word] if plain else None


def tool_words(key: str, given: Given) -> tuple[str, ...]:
    """What a seat's tools are called: ``search``, ``calculate``, an MCP server or one of its tools; or ``none``."""
    words = _words(given)
    if not words or not all(_TOOL_WORD.fullmatch(word) for word in words) or ("none" in words and len(words) > 1):
        raise bad(key, given, "a list of search, calculate, SERVER or SERVER.TOOL, such as search,calculate; or none")
    return () if words == ["none"] else tuple(dict.fromkeys(words))


def variable_names(key: str, given: Given) -> tuple[str, ...]:
    """The names of environment variables, between commas or as a list."""
    words = _words(given)
    if not words:
        raise bad(key, given, "a list of environment variables, such as MY_TOKEN,MY_REGION")
    return tuple(variable_name(key, Given(word, given.source, given.directory)) for word in dict.fromkeys(words))


def server_address(key: str, given: Given) -> str:
    """The command or the URL of an MCP server. It may hold a secret, so no message shows it."""
    word = _plain(given) or ""
    try:
        parts = urlsplit(word) if re.match(r"https?://", word, re.IGNORECASE) else None
        fitting = bool(parts.hostname) if parts else bool(shlex.split(word))
    except ValueError:
        fitting = False
    if not fitting:
        raise InvalidInputError(
            f"{key} (from {given.source}) is no command and no address.",
            "Allowed is a command with its arguments, or an address that begins with http:// or https://.",
        )
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
