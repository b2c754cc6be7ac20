"""Build a knowledge base from what the sources knew at one moment.

There is no default day. The builder reads a view that ends at the moment, refuses rows known only later, and computes
from those rows alone. So the base is the same, byte by byte, whether or not the sources know the future.
"""

from __future__ import annotations

from datetime import date, datetime, time
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo

from disputatio.errors import InvalidInputError
from disputatio.market.knowledge import Failed, KnowledgeBase, Meta, Missing
from disputatio.market.sources.moments import NEW_YORK, count_days, format_moment, resolve_moment
from disputatio.market.sources.port import Catalogue, MarketSources

if TYPE_CHECKING:
    from disputatio.market.sources.view_reader import ViewReader


from pathlib import Path

from disputatio.market.sources.port import Fallback

_OPENS, _CLOSES = time(9, 30), time(16)


def build(as_of: date | datetime, sources: MarketSources, *, generated_at: datetime | None = None) -> KnowledgeBase:
    """Build the market as known at ``as_of``.

    Args:
        as_of: a day, which means its end in New York, or a moment with time zone.
        sources: of the data.
        generated_at: the time of building; None for ``as_of``, so that history built twice is equal.

    Raises:
        InvalidInputError: if the sources have no recent price of the debated index.
        LookAheadError: if the sources give data not yet known then.
    """
    from disputatio.market.sources.fundamentals import compute_fundamentals, compute_macro
    from disputatio.market.sources.quotes import (
        collect_history,
        compute_global_market,
        compute_index_quote,
        compute_sectors,
        compute_sentiment,
        compute_technicals,
    )
    from disputatio.market.sources.view_reader import ViewReader

    cut, day = resolve_moment(as_of)
    catalogue = sources.catalogue
    view_reader = ViewReader(sources.at(cut, day), cut, day)
    _check_subject(view_reader, catalogue)
    quotes = {key: compute_index_quote(view_reader, key, name) for key, name in catalogue.indices.items()}
    subject = quotes[catalogue.subject]
    held = compute_sectors(view_reader, catalogue, subject.returns["20d"])
    name = catalogue.indices[catalogue.subject]
    parts: dict[str, Any] = {
        "indices": quotes,
        "technicals": {key: compute_technicals(view_reader, key, row) for key, row in catalogue.indices.items()},
        "sectors": held,
        "fundamentals": compute_fundamentals(view_reader, catalogue.subject, name, held),
        "macro": compute_macro(view_reader),
        "sentiment": compute_sentiment(view_reader, subject, held),
        "global_markets": {
            key: compute_global_market(quotes[key]) for key in catalogue.global_markets if key in quotes
        },
        "history": collect_history(view_reader, catalogue.subject, name),
    }
    unkept = [f"These sources do not keep: {', '.join(view_reader.unkept)}."] if view_reader.unkept else []
    meta = Meta(
        as_of=format_moment(cut),
        day=day,
        generated_at=format_moment(cut if generated_at is None else int(generated_at.timestamp())),
        market_status=_market_status(view_reader, cut, subject.price.observed_at),
        subject=catalogue.subject,
        subject_name=name,
        data_sources=(sources.name,),
        warnings=(*unkept, *view_reader.warnings),
    )
    return KnowledgeBase(meta=meta, **parts)


def _check_subject(view_reader: ViewReader, catalogue: Catalogue) -> None:
    """Refuse a day without recent data of the debated index."""
    from disputatio.market.sources.view_reader import MAX_AGE_DAYS

    name = catalogue.indices[catalogue.subject]
    rows = view_reader.rows(f"index:{catalogue.subject}", name)
    if isinstance(rows, (Missing, Failed)):
        raise InvalidInputError(
            f"Nothing can be built as of {view_reader.day}: {name}: {rows.reason}.",
            "Try again later, or name another --source, such as live+csv:FOLDER."
            if isinstance(rows, Failed)
            else "Choose a later day, or another --source.",
        )
    last = str(rows.days[-1])
    if count_days(last, view_reader.day) > MAX_AGE_DAYS:
        raise InvalidInputError(
            f"Nothing can be built as of {view_reader.day}: the last session of {name} at hand is {last}.",
            f"Choose a day up to {last}, or another --source.",
        )


def _market_status(view_reader: ViewReader, cut: int, last: str) -> str:
    """Return whether New York was open at that moment, as far as the sessions show."""
    local = datetime.fromtimestamp(cut, ZoneInfo(NEW_YORK))
    if local.weekday() > 4:
        return "weekend"
    if last == view_reader.day or local.time() < _OPENS:
        return "closed"
    return "open" if local.time() < _CLOSES else "no session"


_CSV = "csv:"
_DEFAULT_SUBJECT = "GSPC"


def open_source(text: str, subject: str | None = None) -> MarketSources:
    """Open the source that ``text`` names: ``packages``, ``live``, ``csv:FOLDER``, or two joined by ``+``.

    The second source is used if the first has nothing or fails, and the base says so.

    Args:
        text: the option of the user.
        subject: the key of the subject; None for the S&P 500. Only a folder may have another.

    Raises:
        InvalidInputError: if the text names no source, a requirement is missing, or the source lacks the subject.
    """
    first, plus, second = text.strip().partition("+")
    if subject is not None and subject != _DEFAULT_SUBJECT:
        if not text.strip().casefold().startswith(_CSV):
            raise InvalidInputError(
                f"{text.strip()[:40]} knows the S&P 500 as a subject, and not {subject[:40]}.",
                "Put its prices into a folder as index_KEY.csv, and give --source csv:FOLDER.",
            )
        return _open_one_source(text.strip(), subject)
    if plus and first.strip().casefold() in {"live", "packages"}:
        return Fallback(open_source(first), open_source(second))
    return _open_one_source(text.strip())


def _open_one_source(plain: str, subject: str = _DEFAULT_SUBJECT) -> MarketSources:
    if plain.casefold().startswith(_CSV) and plain[len(_CSV) :].strip():
        require_numpy()
        from disputatio.market.sources.csv_folder import open_csv_folder

        return open_csv_folder(Path(plain[len(_CSV) :].strip()).expanduser(), subject)
    if plain.casefold() == "packages":
        require_numpy()
        from disputatio.market.sources.packages import open_installed_packages

        return open_installed_packages()
    if plain.casefold() == "live":
        require_numpy()
        from disputatio.market.sources.live import open_live_sources

        return open_live_sources()
    raise InvalidInputError(
        f"There is no source {plain[:40]!r}.",
        "There are: packages (history that installed packages bring), live (Yahoo Finance and FRED), csv:FOLDER, and "
        "live+csv:FOLDER, where the folder stands in for what live sources lack.",
    )


def require_numpy() -> None:
    """Check that numpy is installed.

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
