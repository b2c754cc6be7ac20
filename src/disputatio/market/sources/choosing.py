"""A source by the words of ``--source``."""

from __future__ import annotations

from pathlib import Path

from disputatio.errors import InvalidInputError
from disputatio.market.sources.port import Fallback, MarketSources

_CSV = "csv:"
_USUAL = "GSPC"


def open_source(text: str, subject: str | None = None) -> MarketSources:
    """The source that ``text`` names: ``packages``, ``live``, ``csv:FOLDER``, or two of them joined by ``+``.

    Of two, the second stands in where the first has nothing or fails, and the knowledge base says so.

    Args:
        text: what people write.
        subject: the key of what is debated; the S&P 500 for None. Only a folder may have another.

    Raises:
        InvalidInputError: if it names none, what it needs is not there, or it has no such subject.
    """
    first, plus, second = text.strip().partition("+")
    if subject is not None and subject != _USUAL:
        if not text.strip().casefold().startswith(_CSV):
            raise InvalidInputError(
                f"{text.strip()[:40]} knows the S&P 500 as a subject, and not {subject[:40]}.",
                "Put its prices into a folder as index_KEY.csv, and give --source csv:FOLDER.",
            )
        return _one_source(text.strip(), subject)
    if plus and first.strip().casefold() in {"live", "packages"}:
        return Fallback(open_source(first), open_source(second))
    return _one_source(text.strip())


def _one_source(plain: str, subject: str = _USUAL) -> MarketSources:
    if plain.casefold().startswith(_CSV) and plain[len(_CSV) :].strip():
        needs_extra()
        from disputatio.market.sources.csv_folder import csv_folder

        return csv_folder(Path(plain[len(_CSV) :].strip()).expanduser(), subject)
    if plain.casefold() == "packages":
        needs_extra()
        from disputatio.market.sources.packages import installed_packages

        return installed_packages()
    if plain.casefold() == "live":
        needs_extra()
        from disputatio.market.sources.live import live

        return live()
    raise InvalidInputError(
        f"There is no source {plain[:40]!r}.",
        "There are: packages (history that installed packages bring), live (Yahoo Finance and FRED), csv:FOLDER, and "
        "live+csv:FOLDER, where the folder stands in for what live sources lack.",
    )


def needs_extra() -> None:
    """Refuse where numpy is not installed.

    Raises:
        InvalidInputError: with how to install it.
    """
    try:
        import numpy  # noqa: F401
    except ImportError:
        raise InvalidInputError(
            "Building a knowledge base needs numpy, which is not installed.",
            "Install the extra: pip install 'disputatio[market]'. Reading one needs nothing more.",
        ) from None
