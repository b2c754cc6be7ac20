"""The lag table: from when on a row could be known at the earliest, by what it is about and not by what its file says.

    an index, a fund     the close of its exchange on that day, in its own time zone
    VIX                  16:15 in New York on that day
    earnings             four months after the end of the quarter
    daily rates          16:00 in New York on the next weekday
    other macro series   the last weekday of the vintage's month, 16:00 in New York; of a vintage that is a day, its
                         end. Without a vintage it cannot be told

Sources have rules of their own that say when a row was known. This table is written a second time, for the controls of
a backtest: a source, or a file behind it, that knows something earlier than the table is caught.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date

from disputatio.market.sources.moments import NEW_YORK, last_weekday_of_month, moment, months_later, next_weekday
from disputatio.market.sources.names import CLOSES, MACRO, NEW_YORK_CLOSE

NEVER = 1 << 62
"""A moment after all others: of a row whose lag cannot be told."""
_EARNINGS_MONTHS = 4


def known_from(key: str, day: str, vintage: str = "") -> int:
    """The UTC second from which on a row of ``key`` about ``day`` could be known; `NEVER` where nothing says it."""
    kind, _, name = key.partition(":")
    if kind in {"index", "sector"}:
        return moment(day, *CLOSES.get(name, NEW_YORK_CLOSE))
    if kind == "vix":
        return moment(day, *CLOSES["vix"])
    if kind == "earnings":
        return moment(_months_after(day, _EARNINGS_MONTHS), "00:00", NEW_YORK)
    if kind == "macro" and name in MACRO and not MACRO[name].months:
        return moment(next_weekday(day), "16:00", NEW_YORK)
    if kind == "macro" and len(vintage) == len("2008-10"):
        return moment(last_weekday_of_month(vintage), "16:00", NEW_YORK)
    return moment(vintage, "23:59:59", NEW_YORK) if kind == "macro" and vintage else NEVER


def all_known_from(key: str, days: Sequence[str], vintages: Sequence[str] | None) -> list[int]:
    """`known_from` for every row of a series."""
    told = vintages if vintages is not None else [""] * len(days)
    return [known_from(key, day, vintage) for day, vintage in zip(days, told, strict=True)]


def _months_after(day: str, months: int) -> str:
    """The same day so many months later, or the last of that month."""
    month = months_later(day[:7], months)
    last = (date.fromisoformat(f"{months_later(month, 1)}-01") - date.resolution).isoformat()
    return min(f"{month}{day[7:]}", last)
