"""Read the motion and evidence texts, and name the kinds of sources."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum

from disputatio.errors import InvalidInputError
from disputatio.motion.text import clean, one_line

MAX_MOTION_CHARS = 4_000
MAX_EVIDENCE_CHARS = 400_000
LONGEST_RAW_EVIDENCE = 8 * MAX_EVIDENCE_CHARS
"""Longer texts are refused before cleaning. In characters, or bytes of a file."""
_BINARY_SHARE = 0.02
_QUESTION_MARKS = ("?", "\uff1f", "\u061f", "\u037e")
_OPTIONS = re.compile(
    r"(?:[\s,](?:or|oder|ou|eller|czy|\u0438\u043b\u0438)\s+(?!not\b|nicht\b|non\b|pas\b|no\b|later\b|more\b|less\b|fewer\b)"
    r"|\u8fd8\u662f|\u6216(?!\u4e0d)|\u305d\u308c\u3068\u3082)[^?]*[?\uff1f]",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Motion:
    """The proposition or question under debate. ``language`` is a name or tag, such as ``German``."""

    text: str
    language: str = "English"

    @property
    def is_question(self) -> bool:
        """Whether it ends with a question mark, of any script."""
        return self.text.rstrip("\"'\u201d\u2019\u00bb)] ").endswith(_QUESTION_MARKS)

    @property
    def offers_options(self) -> bool:
        """Whether it is a question that cannot be answered with yes, such as "Postgres, MySQL or MongoDB?".

        Knows the word for "or" in a few languages. "Or not" at the end asks for yes or no.
        """
        return self.is_question and _OPTIONS.search(self.text) is not None


@dataclass(frozen=True, slots=True)
class Evidence:
    """A text that every seat may read. ``source_id`` is short and unique in the debate."""

    source_id: str
    title: str
    text: str


def _decode(raw: str | bytes, what: str) -> str:
    if isinstance(raw, bytes):
        try:
            raw = raw.decode("utf-8-sig")
        except UnicodeDecodeError:
            raise InvalidInputError(
                f"{what} is not text: it cannot be read as UTF-8.", "Give it as plain UTF-8 text."
            ) from None
    strange = sum(1 for char in raw[:10_000] if (char < " " and char not in "\t\n\r\x1b\f") or char == "\ufffd")
    if "\x00" in raw or strange > _BINARY_SHARE * max(len(raw[:10_000]), 1):
        raise InvalidInputError(f"{what} looks like binary data, not text.", "Give it as plain UTF-8 text.")
    return raw


def read_motion(raw: str | bytes, language: str = "English") -> Motion:
    """Return the motion in ``raw``, cleaned and on one line.

    Raises:
        InvalidInputError: it is empty, binary, or longer than ``MAX_MOTION_CHARS`` characters.
    """
    if len(raw) > 8 * MAX_MOTION_CHARS:
        size = f"{len(raw):,} {'bytes' if isinstance(raw, bytes) else 'characters'}"
        raise InvalidInputError(
            f"The motion is too long: {size}, but at most {MAX_MOTION_CHARS:,} characters are allowed.",
            "State the question in a sentence or two and give long texts with --evidence PATH.",
        )
    text = one_line(_decode(raw, "The motion"))
    if not any(char.isalnum() for char in text):
        raise InvalidInputError(
            "The motion is empty: there is nothing to debate.",
            'Give a question or proposition, such as: disputatio debate "We should adopt microservices".',
        )
    if len(text) > MAX_MOTION_CHARS:
        raise InvalidInputError(
            f"The motion is too long: {len(text):,} characters, but at most {MAX_MOTION_CHARS:,} are allowed.",
            "State the question in a sentence or two and give long texts with --evidence PATH.",
        )
    return Motion(text, one_line(language, 60) or "English")


def read_evidence(source_id: str, title: str, raw: str | bytes) -> Evidence:
    """Return the evidence text in ``raw``, cleaned.

    Raises:
        InvalidInputError: it is empty, binary, or longer than ``MAX_EVIDENCE_CHARS`` characters.
    """
    what = f"The evidence {one_line(title, 80)}"
    if len(raw) > LONGEST_RAW_EVIDENCE:
        raise too_long(what, f"{len(raw):,} {'bytes' if isinstance(raw, bytes) else 'characters'}")
    text = clean(_decode(raw, what)).strip()
    if not text:
        raise InvalidInputError(f"{what} is empty.", "Leave it out, or give a text file with content.")
    if len(text) > MAX_EVIDENCE_CHARS:
        raise too_long(what, f"{len(text):,} characters")
    return Evidence(source_id, one_line(title, 120), text)


def too_long(what: str, size: str) -> InvalidInputError:
    """Return the error for a text of ``size``, such as ``400,001 characters``."""
    return InvalidInputError(
        f"{what} is too long: {size}, but at most {MAX_EVIDENCE_CHARS:,} characters are allowed.",
        "Give the part that concerns the motion.",
    )


class SourceKind(StrEnum):
    """What a source was read from."""

    TEXT = "text"
    MARKDOWN = "markdown"
    HTML = "html"
    PDF = "pdf"
    JSON = "json"


_GIVEN_ID = re.compile(r"[^\W_][\w.-]{0,59}")


def is_source_id(text: str) -> bool:
    """Whether ``text`` is a legal source id: up to 60 letters, digits, hyphens, underscores and full stops."""
    return _GIVEN_ID.fullmatch(text) is not None
