"""Extract the text of a file, before cleaning. Only ``reading_process`` calls the costly readers.

From PDF only real text is read, no pictures. Markdown is CommonMark with tables, read as a reader of the rendered page
sees it.
"""

from __future__ import annotations

import codecs
import io
import logging
import re
from typing import TYPE_CHECKING

from disputatio.errors import InvalidInputError
from disputatio.evidence.html_text import ExtractedText, read_html
from disputatio.motion import MAX_EVIDENCE_CHARS
from disputatio.motion.motion import SourceKind

if TYPE_CHECKING:
    from pypdf import PdfReader


from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from markdown_it.rules_core import StateCore
    from markdown_it.token import Token

_CHARSET = re.compile(rb"""charset\s{0,9}=\s{0,9}["']?\s{0,9}([A-Za-z0-9_.:-]{2,40})""", re.IGNORECASE)
_BYTE_ORDER_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_NAMES = """
utf-8 utf-16-le utf-16-be ascii cp866 koi8-r koi8-u mac-roman mac-cyrillic cp874 tis-620 gbk gb2312 gb18030 big5
big5hkscs euc_jp iso2022_jp shift_jis cp932 euc_kr cp949 iso8859-1 iso8859-2 iso8859-3 iso8859-4 iso8859-5 iso8859-6
iso8859-7 iso8859-8 iso8859-9 iso8859-10 iso8859-11 iso8859-13 iso8859-14 iso8859-15 iso8859-16 cp1250 cp1251 cp1252
cp1253 cp1254 cp1255 cp1256 cp1257 cp1258
"""
_PAGE_ENCODINGS = frozenset(_NAMES.split())
"""The encodings that a page may name (WHATWG Encoding Standard), by their Python names.

Python knows others; some take quadratic time (punycode) or read escapes as characters.
"""


def extract(raw: str | bytes, kind: SourceKind, what: str) -> ExtractedText:
    """Extract the title, which may be empty, and the text of ``raw``, which is not JSON.

    Raises:
        InvalidInputError: it cannot be read; ``what`` names it.
    """
    if kind is SourceKind.PDF:
        if isinstance(raw, str):
            raise InvalidInputError(
                f"{what} is said to be a PDF, but is text.",
                "Give the bytes of the file; in an order, as `content` in base64.",
            )
        return read_pdf(raw, what, MAX_EVIDENCE_CHARS)
    text = decode(raw, kind, what)
    if kind is SourceKind.HTML:
        return read_html(text, what)
    if kind is SourceKind.MARKDOWN:
        return read_markdown(text, what)
    return ExtractedText("", text)


def decode(raw: str | bytes, kind: SourceKind, what: str) -> str:
    """Decode ``raw``, with line feeds for line ends.

    Raises:
        InvalidInputError: it is not text in UTF-8, in the encoding of its byte order mark, or in the one a page names.
    """
    if isinstance(raw, str):
        return raw.replace("\r\n", "\n").replace("\r", "\n")
    encoding = next((name for mark, name in _BYTE_ORDER_MARKS if raw.startswith(mark)), "utf-8")
    named = _CHARSET.search(raw[:4096]) if kind is SourceKind.HTML and encoding == "utf-8" else None
    for name in (encoding, _find_page_encoding(named.group(1).decode("ascii")) if named else ""):
        try:
            if name:
                return raw.decode(name).replace("\r\n", "\n").replace("\r", "\n")
        except UnicodeError:
            continue
    said = f" or as {named.group(1).decode('ascii')}, as it says" if named else ""
    raise InvalidInputError(
        f"{what} is not text: it cannot be read as {encoding.upper().removesuffix('-SIG')}{said}.",
        "Save it as UTF-8, or give a PDF file with the ending .pdf.",
    )


def _find_page_encoding(name: str) -> str:
    """Return Python's name of an encoding of the web, or an empty text."""
    try:
        found = codecs.lookup(name).name
    except LookupError:
        return ""
    return found if found in _PAGE_ENCODINGS else ""


MAX_PAGES = 2_000


def read_pdf(raw: bytes, what: str, most_chars: int) -> ExtractedText:
    """Read a PDF's title and text, with an empty line between pages. Stop soon after ``most_chars`` characters.

    Raises:
        InvalidInputError: it is encrypted, damaged, empty, too large, or pypdf is not installed; ``what`` names it.
    """
    try:
        import pypdf
    except ImportError:
        raise InvalidInputError(
            f"{what} is a PDF, and the library that reads PDF is not installed.",
            "Install it with: pip install 'disputatio[evidence]'.",
        ) from None
    logging.getLogger("pypdf").setLevel(logging.CRITICAL)  # it reports every oddity of a file it reads well
    from pypdf.errors import LimitReachedError

    try:
        return _read_pages(pypdf.PdfReader(io.BytesIO(raw)), what, most_chars)
    except (InvalidInputError, MemoryError):
        raise
    except LimitReachedError:
        raise InvalidInputError(
            f"{what} unfolds into more than is read of one file.",
            "Give the pages that bear on the motion, or its text.",
        ) from None
    except Exception as error:  # noqa: BLE001  (a damaged file makes the library raise whatever its parser stumbles over)
        raise InvalidInputError(
            f"{what} cannot be read as a PDF: it is damaged or incomplete ({type(error).__name__}).",
            "Save it again, or give its text.",
        ) from None


def _read_pages(reader: PdfReader, what: str, most_chars: int) -> ExtractedText:
    from pypdf.errors import DependencyError

    if reader.is_encrypted:
        try:
            opened = bool(reader.decrypt(""))
        except (DependencyError, NotImplementedError):
            opened = False
        if not opened:
            raise InvalidInputError(f"{what} is encrypted and asks for a password.", "Save it without one.")
    if len(reader.pages) > MAX_PAGES:
        raise InvalidInputError(
            f"{what} has {len(reader.pages):,} pages, and {MAX_PAGES:,} are the most.",
            "Give the pages that bear on the motion.",
        )
    pages: list[str] = []
    length = 0
    for page in reader.pages:
        pages.append(page.extract_text().strip())
        length += len(pages[-1])
        if length > most_chars:
            break
    if not any(char.isalnum() for page in pages for char in page):
        raise InvalidInputError(
            f"{what} has no text in it; its pages may be scanned pictures.",
            "Run a text recognition (OCR) over it first, or give its text.",
        )
    title = reader.metadata.title if reader.metadata else None
    return ExtractedText(str(title or ""), "\n\n".join(filter(None, pages)))


MAX_MARKDOWN_DEPTH = 100
"""Levels of nested quotations and lists; a list counts twice. The parser recurses for each."""

_MAX_INLINE_DEPTH = 20
"""The default of the library."""


def read_markdown(text: str, what: str) -> ExtractedText:
    """Read the title (the first heading, if any) and the visible text of Markdown.

    Raises:
        InvalidInputError: it is nested deeper than ``MAX_MARKDOWN_DEPTH``, or holds HTML that cannot be read.
    """
    from markdown_it import MarkdownIt

    reader = MarkdownIt("commonmark", {"maxNesting": MAX_MARKDOWN_DEPTH}).enable(["table", "strikethrough"])
    reader.core.ruler.before("inline", "bound what stands within a line", _limit_inline_depth)
    tokens = reader.parse(_strip_front_matter(text))
    if any(token.nesting == 1 and token.level + 1 >= MAX_MARKDOWN_DEPTH for token in tokens):
        # The parser silently drops deeper levels.
        raise InvalidInputError(
            f"{what} is nested deeper than {MAX_MARKDOWN_DEPTH - 1} levels.", "Give the part that concerns the motion."
        )
    title = next((_render_inline(after) for before, after in pairwise(tokens) if before.type == "heading_open"), "")
    if any(_is_markup(token) for token in tokens):
        # Raw HTML can hide text, so read the page as a browser shows it.
        return ExtractedText(title, read_html(reader.renderer.render(tokens, reader.options, {}), what).text)
    return ExtractedText(title, _render_tokens(tokens))


def _limit_inline_depth(state: StateCore) -> None:
    """Read deeper brackets and stars as text: searching for their ends costs time at each level."""
    state.md.options.maxNesting = _MAX_INLINE_DEPTH


def _strip_front_matter(text: str) -> str:
    """Remove the settings that some sites put between two lines of dashes at the top."""
    if not text.startswith("---\n"):
        return text
    end = text.find("\n---\n", 3)
    return text[end + 5 :] if 0 < end < 4_000 else text


def _is_markup(token: Token) -> bool:
    if token.type == "html_block":
        content = token.content.strip()
        return not (content.startswith("<!--") and content.endswith("-->") and content.count("<!--") == 1)
    return any(child.type == "html_inline" and not child.content.startswith("<!--") for child in token.children or ())


def _render_inline(token: Token) -> str:
    said = {"softbreak": "\n", "hardbreak": "\n"}
    kept = ("text", "code_inline")
    return "".join(child.content if child.type in kept else said.get(child.type, "") for child in token.children or ())


def _render_tokens(tokens: Sequence[Token]) -> str:
    out: list[str] = []
    numbers: list[int | None] = []
    cells: list[str] | None = None
    label = ""
    for token in tokens:
        if token.type in {"ordered_list_open", "bullet_list_open"}:
            start = token.attrGet("start")
            numbers.append((int(start) if start is not None else 1) if token.type[0] == "o" else None)
        elif token.type in {"ordered_list_close", "bullet_list_close"}:
            numbers.pop()
            out.append("")
        elif token.type == "list_item_open" and (number := numbers[-1]) is not None:
            label = f"{number}. "
            numbers[-1] = number + 1
        elif token.type == "tr_open":
            cells = []
        elif token.type == "tr_close" and cells is not None:
            out.append(" | ".join(cells))
            cells = None
        elif token.type == "inline" and cells is not None:
            cells.append(_render_inline(token))
        elif token.type in {"inline", "fence", "code_block"}:
            out.append(label + (_render_inline(token) if token.type == "inline" else token.content.rstrip("\n")))
            label = ""
        elif token.type in {"heading_close", "paragraph_close", "table_close"} and not token.hidden:
            out.append("")
    return "\n".join(out).strip()
