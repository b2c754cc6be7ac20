"""Reads sources from files, bytes or standard input.

A source is read once into the text that everybody sees: the seats, the judge and the check of citations. What a reader
of the original would not see (HTML comments, hidden elements, control and zero-width characters) is not in it. Ids are
given by code, from the name.
"""

from __future__ import annotations

import codecs
import re
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import BinaryIO

from disputatio.evidence.html_text import Page, read_html
from disputatio.evidence.json_text import read_json
from disputatio.evidence.markdown_text import read_markdown
from disputatio.evidence.pdf_text import read_pdf
from disputatio.evidence.sources import Source, SourceKind, json_source
from disputatio.failures import InvalidInputError
from disputatio.motion import MAX_EVIDENCE_CHARS, Evidence, clean, one_line, read_evidence

MAX_SOURCE_BYTES = 32 * 1024 * 1024
"""The largest file that is read; what comes out of it may have ``MAX_EVIDENCE_CHARS`` characters."""

MAX_SOURCES = 200
STANDARD_INPUT = "-"
"""The path that stands for standard input."""

_LONGEST_ID = 40
_CHARSET = re.compile(rb"""charset\s*=\s*["']?\s*([A-Za-z0-9_.:-]{2,40})""", re.IGNORECASE)
_BYTE_ORDER_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)

_BY_SUFFIX = {
    ".md": SourceKind.MARKDOWN,
    ".markdown": SourceKind.MARKDOWN,
    ".html": SourceKind.HTML,
    ".htm": SourceKind.HTML,
    ".xhtml": SourceKind.HTML,
    ".pdf": SourceKind.PDF,
    ".json": SourceKind.JSON,
}


def read_source(raw: str | bytes, name: str, *, kind: SourceKind | None = None, source_id: str | None = None) -> Source:
    """The source in ``raw``.

    Args:
        raw: the content; text, or the bytes of a file.
        name: its file name, for its title, its id and, by its ending, its kind.
        kind: what it is; where not given, the ending of ``name`` and then the content say so.
        source_id: its id; where not given, made from ``name``.

    Raises:
        InvalidInputError: it cannot be read, is empty, encrypted, damaged, or too long; one sentence says which.
    """
    what = f"The source {one_line(name, 80) or 'without a name'}"
    if len(raw) > MAX_SOURCE_BYTES:
        raise InvalidInputError(
            f"{what} is too large: {len(raw):,} bytes, and {MAX_SOURCE_BYTES:,} are the most.",
            "Give the part that bears on the motion.",
        )
    kind = kind or _kind(raw, name)
    source_id = source_id or _id_from(name)
    title = one_line(Path(name).name or name, 120)
    if kind is SourceKind.JSON:
        return json_source(_decoded(raw, kind, what), source_id, title, what)
    page = _page(raw, kind, what)
    if not page.text.strip():
        shown = " visible" if kind in {SourceKind.HTML, SourceKind.MARKDOWN} else ""
        raise InvalidInputError(f"{what} has no{shown} text.", "Leave it out, or give one with content.")
    title = one_line(page.title, 120) or title if kind is not SourceKind.TEXT else title
    evidence = read_evidence(source_id, title, page.text)
    return Source(source_id, title, evidence.text, kind)


def read_sources(
    given: Iterable[str | Path | Source | Evidence], standard_input: BinaryIO | None = None
) -> list[Source]:
    """Every source in ``given``, with ids of its own.

    Args:
        given: paths, ``-`` for standard input, or sources already read (their ids are kept).
        standard_input: where ``-`` is read from; the process's own where not given.

    Raises:
        InvalidInputError: one of them cannot be read, two have the same id, or there are too many.
    """
    items = list(given)
    if len(items) > MAX_SOURCES:
        raise InvalidInputError(f"{len(items)} sources are given, and {MAX_SOURCES} are the most.", "Leave some out.")
    ready = [_given(item) if isinstance(item, Evidence | Source) else item for item in items]
    taken: set[str] = set()
    for item in ready:
        if isinstance(item, Source):
            if item.source_id in taken:
                raise InvalidInputError(f"Two sources have the id {item.source_id}.", "Give each its own.")
            taken.add(item.source_id)
    sources = []
    for item in ready:
        if isinstance(item, Source):
            sources.append(item)
            continue
        name, raw = _read(item, standard_input)
        source_id = _unique(_id_from(name), taken)
        taken.add(source_id)
        sources.append(read_source(raw, name, source_id=source_id))
    return sources


_GIVEN_ID = re.compile(r"[^\W_][\w.-]{0,59}")


def _given(item: Evidence | Source) -> Source:
    """A source that a caller made. Its id stands in prompts and addresses; a text is cleaned like that of a file."""
    if not _GIVEN_ID.fullmatch(item.source_id):
        raise InvalidInputError(
            f"The source id {one_line(item.source_id, 60)!r} cannot be used.",
            "Give a short one of letters, digits, hyphens, underscores and full stops.",
        )
    if isinstance(item, Source):
        return item
    return Source.of(read_evidence(item.source_id, item.title, item.text))


def _read(path: str | Path, standard_input: BinaryIO | None) -> tuple[str, bytes]:
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


def _id_from(name: str) -> str:
    stem = (
        Path(name).stem
        if Path(name).suffix.lower() in {*_BY_SUFFIX, ".txt", ".text", ".log", ".csv"}
        else Path(name).name
    )
    plain = re.sub("-{2,}", "-", "".join(char if char.isalnum() or char in "-_" else "-" for char in clean(stem)))
    return plain.strip("-")[:_LONGEST_ID].strip("-") or "source"


def _unique(source_id: str, taken: set[str]) -> str:
    number, unique = 1, source_id
    while unique in taken:
        number += 1
        unique = f"{source_id}-{number}"
    return unique


def _kind(raw: str | bytes, name: str) -> SourceKind:
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


def _page(raw: str | bytes, kind: SourceKind, what: str) -> Page:
    if kind is SourceKind.PDF:
        if isinstance(raw, str):
            raise InvalidInputError(f"{what} is said to be a PDF, but is text.", "Give it as bytes, or as text.")
        return read_pdf(raw, what, MAX_EVIDENCE_CHARS)
    text = _decoded(raw, kind, what)
    if kind is SourceKind.HTML:
        return read_html(text, what)
    if kind is SourceKind.MARKDOWN:
        return read_markdown(text, what)
    return Page("", text)


def _decoded(raw: str | bytes, kind: SourceKind, what: str) -> str:
    if isinstance(raw, str):
        return raw.replace("\r\n", "\n").replace("\r", "\n")
    encoding = next((name for mark, name in _BYTE_ORDER_MARKS if raw.startswith(mark)), "utf-8")
    named = _CHARSET.search(raw[:4096]) if kind is SourceKind.HTML and encoding == "utf-8" else None
    for name in (encoding, named.group(1).decode("ascii") if named else ""):
        try:
            if name and codecs.lookup(name).name not in {"base64", "hex", "zlib", "bz2", "rot13", "uu", "quopri"}:
                return raw.decode(name).replace("\r\n", "\n").replace("\r", "\n")
        except (UnicodeError, LookupError):
            continue
    said = f" or as {named.group(1).decode('ascii')}, as it says" if named else ""
    raise InvalidInputError(
        f"{what} is not text: it cannot be read as {encoding.upper().removesuffix('-SIG')}{said}.",
        "Save it as UTF-8, or give a PDF file with the ending .pdf.",
    )
