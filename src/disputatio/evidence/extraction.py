"""The text of a file of any kind, before it is cleaned. What may be costly is called by ``reading_process`` alone."""

from __future__ import annotations

import codecs
import re

from disputatio.errors import InvalidInputError
from disputatio.evidence.html_text import Page, read_html
from disputatio.evidence.markdown_text import read_markdown
from disputatio.evidence.pdf_text import read_pdf
from disputatio.motion import MAX_EVIDENCE_CHARS
from disputatio.motion.source_kind import SourceKind

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
"""What a page may say that it is written in: the encodings of the web (WHATWG Encoding Standard), as Python calls them.

Python knows more, some of which take a time that is the square of the length (punycode) or read escapes as characters.
"""


def extract(raw: str | bytes, kind: SourceKind, what: str) -> Page:
    """The title, empty where there is none, and the text of ``raw``, which is of any kind but JSON.

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
    return Page("", text)


def decode(raw: str | bytes, kind: SourceKind, what: str) -> str:
    """``raw`` as text with line feeds for line ends.

    Raises:
        InvalidInputError: it is no text in UTF-8, in the encoding of its byte order mark, or in the one a page names.
    """
    if isinstance(raw, str):
        return raw.replace("\r\n", "\n").replace("\r", "\n")
    encoding = next((name for mark, name in _BYTE_ORDER_MARKS if raw.startswith(mark)), "utf-8")
    named = _CHARSET.search(raw[:4096]) if kind is SourceKind.HTML and encoding == "utf-8" else None
    for name in (encoding, _page_encoding(named.group(1).decode("ascii")) if named else ""):
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


def _page_encoding(name: str) -> str:
    """Python's name for an encoding of the web, empty where ``name`` is none."""
    try:
        found = codecs.lookup(name).name
    except LookupError:
        return ""
    return found if found in _PAGE_ENCODINGS else ""
