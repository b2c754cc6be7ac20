"""The text of a PDF, page after page. Pictures of text are not read, and neither is what is drawn as a picture."""

from __future__ import annotations

import io
import logging
from typing import TYPE_CHECKING

from disputatio.errors import InvalidInputError
from disputatio.evidence.html_text import Page

if TYPE_CHECKING:
    from pypdf import PdfReader

MOST_PAGES = 2_000


def read_pdf(raw: bytes, what: str, most_chars: int) -> Page:
    """The title and the text of a PDF; pages are parted by an empty line. Stops soon after ``most_chars`` characters.

    Raises:
        InvalidInputError: it is encrypted, damaged, has no text, too many pages or too much in it, or the library that
            reads PDF is not installed; ``what`` names the source.
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
        return _read(pypdf.PdfReader(io.BytesIO(raw)), what, most_chars)
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


def _read(reader: PdfReader, what: str, most_chars: int) -> Page:
    from pypdf.errors import DependencyError

    if reader.is_encrypted:
        try:
            opened = bool(reader.decrypt(""))
        except (DependencyError, NotImplementedError):
            opened = False
        if not opened:
            raise InvalidInputError(f"{what} is encrypted and asks for a password.", "Save it without one.")
    if len(reader.pages) > MOST_PAGES:
        raise InvalidInputError(
            f"{what} has {len(reader.pages):,} pages, and {MOST_PAGES:,} are the most.",
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
    return Page(str(title or ""), "\n\n".join(filter(None, pages)))
