"""Read one value from text or a file's own types, and say what is allowed if that fails.

Numbers that are paid or added up are exact decimals, never binary floats.
"""

from __future__ import annotations

import re
import shlex
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from urllib.parse import urlsplit

from disputatio.errors import InvalidInputError
from disputatio.options.reading import Given, bad_value, exact, number, stripped_text, text
from disputatio.participants.call import OutputMode
from disputatio.participants.model_seat import Price
from disputatio.participants.providers import parse_seat_value, provider_named
from disputatio.participants.reasoning import EFFORTS
from disputatio.record.database import store_url

# In YAML 1.1, "no" without quotes is false. It is also the tag of Norwegian.
language = text(
    "the name or tag of a language, up to 60 letters, such as English, German or zh-Hans",
    r"(?=.{1,60}\Z)[^\W\d_][\w \-().,']*",
)
variable_name = text("the name of an environment variable, such as MY_KEY", r"[A-Za-z_][A-Za-z0-9_]{0,99}")
rubric_name = text("the name of a rubric", r"[a-z][a-z0-9_-]{0,59}")


_MOST_USD = Decimal(1_000_000_000)
_NOTHING = Decimal(0)

money = exact("a positive amount of US dollars without a currency sign, such as 0.50", _NOTHING, _MOST_USD, above=True)
rate = exact("US dollars per million tokens, 0 or more, such as 0.25", _NOTHING, _MOST_USD)
criterion_weight = exact(
    "a weight above 0 and at most 1; the weights of all criteria add up to 1", _NOTHING, Decimal(1), above=True
)
points = exact("a number of points from 0 to 9, such as 0.5", _NOTHING, Decimal(9))


def price(key: str, given: Given) -> Price:
    """``INPUT/OUTPUT`` or ``INPUT/OUTPUT/CACHED``, each in US dollars per million tokens."""
    parts = (stripped_text(given) or "").split("/")
    rates = [number(Given(part, given.source, given.directory)) for part in parts]
    known = [each for each in rates if each is not None and 0 <= each <= _MOST_USD]
    if len(parts) not in {2, 3} or len(known) != len(parts):
        raise bad_value(
            key, given, "INPUT/OUTPUT or INPUT/OUTPUT/CACHED in US dollars per million tokens, such as 0.5/1.5"
        )
    return Price(*known)


def question(key: str, given: Given) -> str:
    """The question of a criterion: one line of up to 300 characters."""
    words = stripped_text(given)
    if not words or len(words) > _LONGEST_QUESTION or not words.isprintable():
        raise bad_value(
            key, given, f"one line of text, up to {_LONGEST_QUESTION} characters, that a judge answers from 1 to 10"
        )
    return words


_LONGEST_QUESTION = 300


def mode(key: str, given: Given) -> OutputMode:
    """One of the structured-output modes."""
    word = (stripped_text(given) or "").lower()
    structured = [each.value for each in OutputMode if each is not OutputMode.TEXT]
    if word not in structured:
        raise bad_value(key, given, f"one of {', '.join(structured)}")
    return OutputMode(word)


def reasoning_effort(key: str, given: Given) -> str | int:
    """One of the efforts, or a number of tokens."""
    word = (stripped_text(given) or "").lower()
    if word in EFFORTS:
        return word
    tokens = number(given)
    if tokens is None or tokens != tokens.to_integral_value() or not 1 <= tokens <= _MOST_REASONING:
        raise bad_value(key, given, f"one of {', '.join(EFFORTS)}, or a number of tokens from 1 to {_MOST_REASONING:,}")
    return int(tokens)


_MOST_REASONING = 1_000_000


def provider(key: str, given: Given) -> str:
    """The name of a provider, as the table spells it."""
    word = stripped_text(given)
    if not word:
        raise bad_value(key, given, "the name of a provider")
    return provider_named(word, source=given.source).name


def seat_value(key: str, given: Given) -> str:
    """``PROVIDER:MODEL``, checked but not split."""
    word = stripped_text(given)
    if not word:
        raise bad_value(key, given, "PROVIDER:MODEL, such as openai:gpt-5 or embedded")
    value = parse_seat_value(word, source=given.source)
    if value.base_url is not None:
        url(key, Given(value.base_url, given.source, given.directory))
    return word


def model(key: str, given: Given) -> str:
    """A model's name. The provider checks it later."""
    word = stripped_text(given)
    if not word:
        raise bad_value(key, given, "the name of a model, in quotes where it looks like a number")
    return word


def url(key: str, given: Given) -> str:
    """The address of a server, without a slash at its end. It may end with the version of Azure's API."""
    word, _, version = (stripped_text(given) or "").partition("?api-version=")
    ending = f"?api-version={api_version(key, replace(given, value=version))}" if version else ""
    try:
        parts = urlsplit(word)
        host, _ = parts.hostname, parts.port
    except ValueError:
        raise bad_value(key, given, "an address such as http://localhost:8000/v1") from None
    if "@" in parts.netloc or parts.query or parts.fragment:
        # Records and screens show the address, and these parts can hold a secret.
        raise bad_value(key, given, "an address without user, password, question mark or #; a key goes in LLM_API_KEY")
    if parts.scheme not in {"http", "https"} or not host or not word.isprintable() or " " in word:
        raise bad_value(key, given, "an address such as http://localhost:8000/v1")
    return word.rstrip("/") + ending


def api_version(key: str, given: Given) -> str:
    """A version of Azure's API."""
    word = stripped_text(given) or ""
    if not re.fullmatch(r"\d{4}-\d\d-\d\d(?:-preview)?|preview|latest", word):
        raise bad_value(key, given, "a version such as 2024-10-21 or 2025-04-01-preview")
    return word


def store(key: str, given: Given) -> str:
    """The URL of a store. A plain path becomes the URL of an SQLite file."""
    word = stripped_text(given)
    allowed = "sqlite:///PATH, postgresql://USER@HOST/DATABASE, or the path of a file"
    if not word or not word.isprintable():
        raise bad_value(key, given, allowed)
    url = store_url(word, given.directory)
    if url is None:
        # A store's URL can hold a password, so the message shows only its scheme.
        scheme = word.partition("://")[0]
        raise bad_value(key, Given(f"{scheme}://...", given.source, given.directory), allowed)
    return url


_MOST_PERSONA_CHARS = 8_000


def persona(key: str, given: Given) -> str:
    """A description, or ``@PATH`` of a text file that holds it."""
    allowed = f"text of up to {_MOST_PERSONA_CHARS:,} characters, or @PATH of a UTF-8 text file"
    word = stripped_text(given)
    if word is None:
        raise bad_value(key, given, allowed)
    if word.startswith("@"):
        path = given.directory / Path(word[1:].strip()).expanduser()
        try:
            word = path.read_text(encoding="utf-8-sig").strip()
        except (OSError, UnicodeDecodeError, ValueError) as failure:
            reason = "is not UTF-8 text" if isinstance(failure, ValueError) else "cannot be read"
            raise bad_value(key, given, allowed, f"The file {reason}. ") from None
    if not word or len(word) > _MOST_PERSONA_CHARS or "\x00" in word:
        raise bad_value(key, given, allowed)
    return word


_TOOL_WORD = re.compile(r"[A-Za-z][A-Za-z0-9_-]*(?:\.[A-Za-z0-9_./-]+)?")


def _words(given: Given) -> list[str] | None:
    """Words between commas, or a list of them; None if the value is neither."""
    if isinstance(given.value, list | tuple) and all(isinstance(word, str) for word in given.value):
        return [word.strip() for word in given.value]
    word = stripped_text(given)
    return [part for part in re.split(r"[,\s]+", word) if part] if word else None


def tool_words(key: str, given: Given) -> tuple[str, ...]:
    """The names of a seat's tools: ``search``, ``calculate``, an MCP server or one of its tools; or ``none``."""
    words = _words(given)
    if not words or not all(_TOOL_WORD.fullmatch(word) for word in words) or ("none" in words and len(words) > 1):
        raise bad_value(
            key, given, "a list of search, calculate, SERVER or SERVER.TOOL, such as search,calculate; or none"
        )
    return () if words == ["none"] else tuple(dict.fromkeys(words))


def variable_names(key: str, given: Given) -> tuple[str, ...]:
    """The names of environment variables, between commas or as a list."""
    words = _words(given)
    if not words:
        raise bad_value(key, given, "a list of environment variables, such as MY_TOKEN,MY_REGION")
    return tuple(variable_name(key, Given(word, given.source, given.directory)) for word in dict.fromkeys(words))


def server_address(key: str, given: Given) -> str:
    """The command or the URL of an MCP server. It may hold a secret, so no message shows it."""
    word = stripped_text(given) or ""
    try:
        parts = urlsplit(word) if re.match(r"https?://", word, re.IGNORECASE) else None
        fitting = bool(parts.hostname) if parts else bool(shlex.split(word))
    except ValueError:
        fitting = False
    if not fitting:
        raise InvalidInputError(
            f"{key} (from {given.source}) is neither a command nor an address.",
            "Allowed is a command with its arguments, or an address that begins with http:// or https://.",
        )
    return word


def key_text(given: Given) -> str:
    """A key, without blanks around it.

    Raises:
        InvalidInputError: it cannot be sent in a header. The message never holds the key.
    """
    word = stripped_text(given) or ""
    if not re.fullmatch(r"[\x21-\x7e]+", word):
        raise InvalidInputError(
            f"The key in {given.source} is not a key: it contains blanks, line breaks or foreign letters.",
            "Copy it again from the provider's page, without quotes or a word such as Bearer before it.",
        )
    return word
