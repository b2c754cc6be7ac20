"""A provider's own words, made fit for one line on a person's screen.

Text from a server is data from a stranger: it may hold terminal escapes, directional overrides, a whole web
page, or the key that was sent. Nothing of a response body reaches a message except through here.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Mapping
from typing import Final

LONGEST: Final = 200
"""Characters of a provider's text that a message quotes at most."""

_KEY_SHAPES = re.compile(
    r"""\b(?:sk|pk|gsk|xai|key|rk)[-_][A-Za-z0-9*_.\-]{6,}   # OpenAI and its likes, also half-masked echoes
      | \bAIza[A-Za-z0-9*_\-]{6,}                             # Google
      | \bA[KS]IA[A-Z0-9]{12,}                                # Amazon
      | (?<=[Bb]earer\s)\S{8,}
      | (?<=://)[^/@\s]+(?=@)                                  # a name and password in an address
      | (?<=[?&]key=)[^&\s]+
    """,
    re.VERBOSE,
)
_TITLE = re.compile(r"<title[^>]*>(.*?)</title>", re.IGNORECASE | re.DOTALL)
_DEEPEST: Final = 8
_UNPRINTABLE: Final = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})


def one_line(text: str, secret: str | None = None, longest: int = LONGEST) -> str:
    """``text`` as one line of at most ``longest`` characters, without keys and unprintable characters.

    Args:
        text: anything a server sent.
        secret: the key in use; wherever it stands in ``text``, ``[key]`` stands instead.
        longest: how many characters it may have.
    """
    # Far more than is kept: a huge body must not cost a huge regular expression search.
    text = text[: longest * 20]
    text = "".join(" " if unicodedata.category(c) in _UNPRINTABLE else c for c in text)
    # A placeholder such as "x" or "none" is no secret and may be part of any word.
    if secret and len(secret) >= 8:
        text = text.replace(secret, "[key]")
    text = " ".join(_KEY_SHAPES.sub("[key]", text).split())
    return text if len(text) <= longest else text[: longest - 1].rstrip() + "…"


def words_in(body: object) -> str:
    """The sentence in an error body that is meant for people, or "" where none is found.

    Knows the bodies of OpenAI and its likes (``error.message``), OpenRouter (the upstream's words in
    ``error.metadata.raw``), FastAPI servers (``detail``), Bedrock (``Error.Message``), and web pages.
    """
    return _words(body, _DEEPEST)


def codes_in(body: object) -> frozenset[str]:
    """The machine-readable words of an error body (``code``, ``type``, ``status``), in lower case."""
    if isinstance(body, str | bytes):
        body = _parsed(body)
    codes: set[str] = set()
    for _ in range(_DEEPEST):
        if not isinstance(body, Mapping):
            break
        values = (body.get(key) for key in ("code", "Code", "type", "status"))
        codes.update(value.lower() for value in values if isinstance(value, str))
        codes.update(str(value) for value in (body.get("code"),) if isinstance(value, int) and abs(value) < 10**6)
        body = body.get("error", body.get("Error"))
    return frozenset(codes)


def _words(body: object, depth: int) -> str:
    if depth == 0:
        # No provider nests its errors like this; somebody wants to see a parser fall.
        return ""
    match body:
        case bytes():
            return _words(body.decode(errors="replace"), depth)
        case str():
            return _words_in_text(body, depth)
        case Mapping():
            return _words_in_object(body, depth)
        case [first, *_]:
            return _words(first, depth - 1)
        case _:
            return ""


def _words_in_text(text: str, depth: int) -> str:
    parsed = _parsed(text)
    if isinstance(parsed, Mapping | list):
        return _words(parsed, depth - 1)
    if "<html" in text[:2000].lower() or "<!doctype" in text[:200].lower():
        title = _TITLE.search(text[:20_000])
        return f'a web page titled "{" ".join(title[1].split())}"' if title else "a web page"
    return text


def _words_in_object(body: Mapping[object, object], depth: int) -> str:
    for key in ("error", "Error", "message", "Message", "detail", "msg", "error_description"):
        if words := _words(body.get(key), depth - 1):
            metadata = body.get("metadata")
            raw = _words(metadata.get("raw"), depth - 1) if isinstance(metadata, Mapping) else ""
            return f"{words}: {raw}" if raw else words
    return ""


def _parsed(text: str | bytes) -> object:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None
