"""Read sources from files, bytes or standard input.

A source is read once into the text that seats, judges and the citation check see. What is invisible in the original
(HTML comments, hidden elements, control and zero-width characters) is removed. Ids are made from names.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from disputatio.errors import InvalidInputError
from disputatio.evidence.extraction import decode, extract
from disputatio.evidence.html_text import ExtractedText
from disputatio.evidence.json_text import read_json
from disputatio.evidence.sources import Source, read_json_source
from disputatio.motion import LONGEST_RAW_EVIDENCE, Evidence, clean, one_line, read_evidence, too_long
from disputatio.motion.motion import SourceKind, is_source_id

if TYPE_CHECKING:
    from disputatio.evidence.reading_process import SourceReader

MAX_SOURCE_BYTES = 32 * 1024 * 1024
"""The largest file read. Its text may have ``MAX_EVIDENCE_CHARS`` characters."""

MAX_SOURCES = 200
STANDARD_INPUT = "-"
"""The path that means standard input."""

_MAX_ID_CHARS = 40
MAX_INLINE_MARKDOWN_BYTES = 20_000
"""Shorter Markdown is read in this process, which takes at most about a second."""

_MARKUP, _MARKUP_RAW = re.compile("<[A-Za-z/!?]"), re.compile(b"<[A-Za-z/!?]")

_BY_SUFFIX = {
    ".md": SourceKind.MARKDOWN,
    ".markdown": SourceKind.MARKDOWN,
    ".html": SourceKind.HTML,
    ".htm": SourceKind.HTML,
    ".xhtml": SourceKind.HTML,
    ".pdf": SourceKind.PDF,
    ".json": SourceKind.JSON,
}


def read_source(
    raw: str | bytes,
    name: str,
    *,
    kind: SourceKind | None = None,
    source_id: str | None = None,
    reader: SourceReader | None = None,
) -> Source:
    """Read the source in ``raw``.

    A separate process reads PDF, HTML, and Markdown that is long or holds HTML (see ``reading_process``).

    Args:
        raw: text, or the bytes of a file.
        name: its file name, used for title, id and, by its ending, kind.
        kind: its format; by default detected from the ending of ``name``, then the content.
        source_id: by default made from ``name``.
        reader: reads in a separate process; by default one for this file alone.

    Raises:
        InvalidInputError: it is unreadable, empty, encrypted, damaged, too long, or takes too much time or memory.
    """
    what = f"The source {one_line(name, 80) or 'without a name'}"
    if len(raw) > MAX_SOURCE_BYTES:
        raise InvalidInputError(
            f"{what} is too large: {len(raw):,} bytes, and {MAX_SOURCE_BYTES:,} are the most.",
            "Give the part that concerns the motion.",
        )
    if isinstance(raw, str) and len(raw) > LONGEST_RAW_EVIDENCE:
        raise too_long(what, f"{len(raw):,} characters")
    kind = kind or _detect_kind(raw, name)
    source_id = source_id or _make_id(name)
    # A name may have no visible characters.
    title = one_line(Path(name).name or name, 120) or source_id
    if kind is SourceKind.JSON:
        return read_json_source(decode(raw, kind, what), source_id, title, what)
    page = _extract(raw, kind, what, reader)
    if not page.text.strip():
        shown = " visible" if kind in {SourceKind.HTML, SourceKind.MARKDOWN} else ""
        raise InvalidInputError(f"{what} has no{shown} text.", "Leave it out, or give one with content.")
    title = one_line(page.title, 120) or title if kind is not SourceKind.TEXT else title
    evidence = read_evidence(source_id, title, page.text)
    return Source(source_id, title, evidence.text, kind)


def read_sources(
    given: Iterable[str | Path | Source | Evidence], standard_input: BinaryIO | None = None
) -> list[Source]:
    """Read all sources, each with an id of its own.

    Args:
        given: paths, ``-`` for standard input, or sources already read, which keep their ids.
        standard_input: read for ``-``; by default the process's own.

    Raises:
        InvalidInputError: one cannot be read, two have the same id, or there are too many.
    """
    items = list(given)
    check_source_count(len(items))
    ready = [_check_given(item) if isinstance(item, Evidence | Source) else item for item in items]
    taken: set[str] = set()
    for item in ready:
        if isinstance(item, Source):
            if item.source_id in taken:
                raise InvalidInputError(f"Two sources have the id {item.source_id}.", "Give each its own.")
            taken.add(item.source_id)
    sources = []
    with _open_reader(ready) as reader:
        for item in ready:
            if isinstance(item, Source):
                sources.append(item)
                continue
            name, raw = _read_bytes(item, standard_input)
            source_id = _make_unique(_make_id(name), taken)
            taken.add(source_id)
            sources.append(read_source(raw, name, source_id=source_id, reader=reader))
    return sources


def _open_reader(items: Iterable[str | Path | Source]) -> AbstractContextManager[SourceReader | None]:
    """Open one process for all files; none if there are no files."""
    if all(isinstance(item, Source) for item in items):
        return nullcontext()
    from disputatio.evidence.reading_process import SourceReader

    return SourceReader()


def check_source_count(sources: int) -> None:
    """Check the number of sources.

    Raises:
        InvalidInputError: there are more than ``MAX_SOURCES``.
    """
    if sources > MAX_SOURCES:
        raise InvalidInputError(f"{sources} sources are given, and {MAX_SOURCES} are the most.", "Leave some out.")


def _check_given(item: Evidence | Source) -> Source:
    """Check a caller's source. Its id appears in prompts and addresses; its text is cleaned like a file's."""
    if not is_source_id(item.source_id):
        raise InvalidInputError(
            f"The source id {one_line(item.source_id, 60)!r} cannot be used.",
            "Give a short one of letters, digits, hyphens, underscores and full stops.",
        )
    if isinstance(item, Source):
        return item
    return Source.of(read_evidence(item.source_id, item.title, item.text))


def _read_bytes(path: str | Path, standard_input: BinaryIO | None) -> tuple[str, bytes]:
    if str(path) == STANDARD_INPUT:
        return "standard input", (standard_input or sys.stdin.buffer).read(MAX_SOURCE_BYTES + 1)
    try:
        with Path(path).open("rb") as file:
            return Path(path).name, file.read(MAX_SOURCE_BYTES + 1)
    except (OSError, ValueError) as error:
        cause = (getattr(error, "strerror", None) or str(error) or "unknown cause").lower()
        raise InvalidInputError(
            f"The source {one_line(str(path), 200)} cannot be read: {cause}.",
            "Give the path of a text, Markdown, HTML, PDF or JSON file.",
        ) from None


def _make_id(name: str) -> str:
    stem = (
        Path(name).stem
        if Path(name).suffix.lower() in {*_BY_SUFFIX, ".txt", ".text", ".log", ".csv"}
        else Path(name).name
    )
    plain = re.sub("-{2,}", "-", "".join(char if char.isalnum() or char in "-_" else "-" for char in clean(stem)))
    return plain.strip("-_")[:_MAX_ID_CHARS].strip("-_") or "source"


def _make_unique(source_id: str, taken: set[str]) -> str:
    number, unique = 1, source_id
    while unique in taken:
        number += 1
        unique = f"{source_id}-{number}"
    return unique


def _detect_kind(raw: str | bytes, name: str) -> SourceKind:
    start = raw[:1024] if isinstance(raw, bytes) else raw[:1024].encode("utf-8", "replace")
    if b"%PDF-" in start and isinstance(raw, bytes):
        return SourceKind.PDF
    by_suffix = _BY_SUFFIX.get(Path(name).suffix.lower())
    if by_suffix is not None:
        return by_suffix
    opening = start.lstrip(b"\xef\xbb\xbf \t\r\n").lower()
    if opening.startswith((b"<!doctype html", b"<html")):
        return SourceKind.HTML
    if opening.startswith((b"{", b"[")) and not Path(name).suffix:
        try:
            read_json(raw if isinstance(raw, str) else raw.decode("utf-8-sig"), name)
        except (InvalidInputError, UnicodeDecodeError):
            return SourceKind.TEXT
        return SourceKind.JSON
    return SourceKind.TEXT


def _extract(raw: str | bytes, kind: SourceKind, what: str, reader: SourceReader | None) -> ExtractedText:
    """Extract title and text, in a separate process if that may be costly."""
    if kind is SourceKind.TEXT or (kind is SourceKind.MARKDOWN and _is_simple(raw)):
        return extract(raw, kind, what)
    if reader is not None:
        return reader.extract(raw, kind, what)
    from disputatio.evidence.reading_process import SourceReader

    with SourceReader() as own:
        return own.extract(raw, kind, what)


def _is_simple(raw: str | bytes) -> bool:
    """Whether Markdown is short and holds no HTML."""
    return len(raw) <= MAX_INLINE_MARKDOWN_BYTES and not (
        _MARKUP.search(raw) if isinstance(raw, str) else _MARKUP_RAW.search(raw)
    )
