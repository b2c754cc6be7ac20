"""Building a knowledge base: from what the sources knew at one moment, and from nothing else.

There is no default day. The builder reads a view that the sources cut at the moment, checks that no row in it could
only be known later, and computes from those rows alone: the same base comes out whether the sources know the future or
not, byte by byte.
"""

from __future__ import annotations

from datetime import date, datetime, time
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo

from disputatio.errors import InvalidInputError
from disputatio.market.knowledge import Failed, KnowledgeBase, Meta, Missing
from disputatio.market.sources.moments import NEW_YORK, cut_at, days_between, written
from disputatio.market.sources.port import Catalogue, MarketSources

if TYPE_CHECKING:
    from disputatio.market.sources.view_reader import Desk


from pathlib import Path

from disputatio.market.sources.port import Fallback

_OPENS, _CLOSES = time(9, 30), time(16)


def build(as_of: date | datetime, sources: MarketSources, *, generated_at: datetime | None = None) -> KnowledgeBase:
    """The market as it was known at ``as_of``.

    Args:
        as_of: a day, which means its end in New York, or a moment with its time zone.
        sources: where the data come from.
        generated_at: when this is done; None for the moment itself, so that history built twice is equal.

    Raises:
        InvalidInputError: if the sources know no price of the debated index at that moment, or only old ones.
        LookAheadError: if the sources hand out what could not be known then.
    """
    from disputatio.market.sources.fundamentals import fundamentals, macro
    from disputatio.market.sources.quotes import global_market, history, index_quote, sectors, sentiment, technicals
    from disputatio.market.sources.view_reader import Desk

    cut, day = cut_at(as_of)
    catalogue = sources.catalogue
    desk = Desk(sources.at(cut, day), cut, day)
    _check_subject(desk, catalogue)
    quotes = {key: index_quote(desk, key, name) for key, name in catalogue.indices.items()}
    subject = quotes[catalogue.subject]
    held = sectors(desk, catalogue, subject.returns["20d"])
    name = catalogue.indices[catalogue.subject]
    parts: dict[str, Any] = {
        "indices": quotes,
        "technicals": {key: technicals(desk, key, row) for key, row in catalogue.indices.items()},
        "sectors": held,
        "fundamentals": fundamentals(desk, catalogue.subject, name, held),
        "macro": macro(desk),
        "sentiment": sentiment(desk, subject, held),
        "global_markets": {key: global_market(quotes[key]) for key in catalogue.global_markets if key in quotes},
        "history": history(desk, catalogue.subject, name),
    }
    unkept = [f"These sources do not keep: {', '.join(desk.unkept)}."] if desk.unkept else []
    meta = Meta(
        as_of=written(cut),
        day=day,
        generated_at=written(cut if generated_at is None else int(generated_at.timestamp())),
        market_status=_status(desk, cut, subject.price.observed_at),
        subject=catalogue.subject,
        subject_name=name,
        data_sources=(sources.name,),
        warnings=(*unkept, *desk.warnings),
    )
    return KnowledgeBase(meta=meta, **parts)


def _check_subject(desk: Desk, catalogue: Catalogue) -> None:
    """Refuse a day on which nothing is known of the index that is debated."""
    from disputatio.market.sources.view_reader import STALE_SESSIONS

    name = catalogue.indices[catalogue.subject]
    rows = desk.rows(f"index:{catalogue.subject}", name)
    if isinstance(rows, (Missing, Failed)):
        raise InvalidInputError(
            f"Nothing can be built as of {desk.day}: {name}: {rows.reason}.",
            "Try again later, or name another --source, such as live+csv:FOLDER."
            if isinstance(rows, Failed)
            else "Choose a later day, or another --source.",
        )
    last = str(rows.days[-1])
    if days_between(last, desk.day) > STALE_SESSIONS:
        raise InvalidInputError(
            f"Nothing can be built as of {desk.day}: the last session of {name} at hand is {last}.",
            f"Choose a day up to {last}, or another --source.",
        )


def _status(desk: Desk, cut: int, last: str) -> str:
    """Whether New York was open at that moment, as far as the sessions at hand tell."""
    local = datetime.fromtimestamp(cut, ZoneInfo(NEW_YORK))
    if local.weekday() > 4:
        return "weekend"
    if last == desk.day or local.time() < _OPENS:
        return "closed"
    return "open" if local.time() < _CLOSES else "no session"


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
