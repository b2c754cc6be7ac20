"""Whether anything of the future reaches a debate. Held up against the knowledge bases that the records keep.

truncation  data that end on the day give the very knowledge base that was debated, to the byte
poison      so do data in which everything after the day is garbage
lags        no row that was shown could be known later than on that evening, by a lag table that the sources do not use
forged      a planted leak: every close claims to have been known one session earlier. The truncation test has to notice
forged lags a planted leak: earnings, macroeconomic series and closes claim no lag. The lag table has to notice each
open        a planted leak: the source hands out what is known tomorrow. The builder has to refuse it

Small leaks hide in accuracies, which is why these tests look at bytes: a rule that peeks at the next day's close is no
better than always saying up, and ``peek`` shows its accuracy beside the tests that catch it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import date

import numpy as np
from numpy.typing import NDArray

from disputatio.engine.market_setup import knowledge_row
from disputatio.evaluation.backtest.archive import Archive
from disputatio.evaluation.backtest.labels import Label
from disputatio.evaluation.backtest.prices import PriceSeries
from disputatio.evaluation.backtest.reading import DateRecord
from disputatio.evaluation.intervals import Rate, rate
from disputatio.kernel import JsonObject
from disputatio.market.sources.builder import build
from disputatio.market.sources.errors import LookAheadError
from disputatio.market.sources.moments import NEW_YORK, cut_at, moment
from disputatio.market.sources.port import View
from disputatio.market.sources.rows import Rows, ordered
from disputatio.market.sources.series_catalogue import all_known_from

_GARBAGE = 12_345.678
_NEXT_SESSIONS_S = 5 * 86_400


@dataclass(frozen=True, slots=True)
class LeakCheck:
    """One test: on how many ``dates`` it was made, and on how many it came out as it must."""

    name: str
    about: str
    dates: int
    as_it_must: int

    @property
    def holds(self) -> bool:
        """Whether it came out as it must on every date."""
        return self.dates == self.as_it_must

    def as_json(self) -> JsonObject:
        """The test and its result."""
        return {
            "name": self.name,
            "about": self.about,
            "dates": self.dates,
            "as_it_must": self.as_it_must,
            "holds": self.holds,
        }


@dataclass(frozen=True, slots=True)
class LeakReport:
    """All tests, and what a rule that peeks one day ahead would get."""

    checks: tuple[LeakCheck, ...]
    peek: Rate
    always_up: Rate

    @property
    def holds(self) -> bool:
        """Whether every test came out as it must."""
        return all(row.holds for row in self.checks)

    def as_json(self) -> JsonObject:
        """The tests and the planted peek."""
        return {
            "holds": self.holds,
            "checks": [row.as_json() for row in self.checks],
            "planted_peek": {"accuracy": self.peek.as_json(), "always_up": self.always_up.as_json()},
        }


def leak_report(archive: Archive, records: Sequence[DateRecord], labels: Sequence[Label], every: int) -> LeakReport:
    """Test every ``every``-th of ``records``, all of the plain arm, on ``archive``, which they were held on."""
    chosen = records[::every] if every else []
    leaky = archive.changed(forged)
    found = [
        ("truncation", "data cut at the day give the debated knowledge base, to the byte", _truncation(archive)),
        ("poison", "garbage after the day changes no byte of it", _poison(archive)),
        (
            "forged dates",
            "planted: closes that claim to be known a session early are noticed",
            _forgery(archive, leaky),
        ),
        ("open leak", "planted: a source that shows tomorrow is refused", _open_leak(archive)),
        ("lags", "nothing is known before its publication, by a table of lags of its own", _lags_kept(archive)),
        ("forged lags", "planted: earnings and series known on the day they are about are noticed", _lags(archive)),
    ]
    checks = tuple(LeakCheck(name, about, len(chosen), sum(test(row) for row in chosen)) for name, about, test in found)
    prices = archive.prices()
    known = [row for row in labels if row.up is not None]
    right = sum(peeks(prices, row.decided) == row.up for row in known)
    return LeakReport(checks, rate(right, len(known)), rate(sum(bool(row.up) for row in known), len(known)))


_Test = Callable[[DateRecord], bool]


def _truncation(archive: Archive) -> _Test:
    return lambda record: _hash_of(record.day, cut(archive, record.day)) == record.knowledge


def _poison(archive: Archive) -> _Test:
    return lambda record: _hash_of(record.day, poisoned(archive, record.day)) == record.knowledge


def _forgery(archive: Archive, leaky: Archive) -> _Test:
    def noticed(record: DateRecord) -> bool:
        honest = cut(archive, record.day).changed(forged)
        return _hash_of(record.day, leaky) != _hash_of(record.day, honest)

    return noticed


def _open_leak(archive: Archive) -> _Test:
    def refused(record: DateRecord) -> bool:
        try:
            build(record.day, _Tomorrow(archive))
        except LookAheadError:
            return True
        return False

    return refused


def _lags_kept(archive: Archive) -> _Test:
    earliest = {key: _earliest(key, rows) for key, rows in archive.rows.items()}
    return lambda record: not any(_knows_early(rows, earliest[key], record.day) for key, rows in archive.rows.items())


def _lags(archive: Archive) -> _Test:
    """Each kind of series is forged alone: one that is noticed must not hide one that is not."""
    planted: dict[str, list[tuple[Rows, NDArray[np.int64]]]] = {}
    for key, rows in archive.rows.items():
        without = forged(key, rows) if key.startswith("index:") else lagless(key, rows)
        if without is not rows and not rows.is_empty:
            planted.setdefault(key.partition(":")[0], []).append((without, _earliest(key, without)))

    def noticed(record: DateRecord) -> bool:
        # After the last vintage of a series nothing of it is early any more, so nothing is planted on that day.
        open_to_it = [rows for rows in planted.values() if any(_can_be_early(*row, record.day) for row in rows)]
        return all(any(_knows_early(*row, record.day) for row in rows) for rows in open_to_it)

    return noticed


def _earliest(key: str, rows: Rows) -> NDArray[np.int64]:
    """From when on each row could be known, by the lag table."""
    vintages = None if rows.vintages is None else rows.vintages.tolist()
    return np.asarray(all_known_from(key, rows.days.tolist(), vintages), dtype=np.int64)


def _knows_early(rows: Rows, earliest: NDArray[np.int64], day: date) -> bool:
    """Whether a row is shown on the evening of ``day`` that could not be known by then."""
    cut_off, _ = cut_at(day)
    return bool(np.any((rows.available <= cut_off) & (earliest > cut_off)))


def _can_be_early(rows: Rows, earliest: NDArray[np.int64], day: date) -> bool:
    """Whether a row about a day up to ``day`` is published after it."""
    return bool(np.any((rows.days <= day.isoformat()) & (earliest > cut_at(day)[0])))


def _hash_of(day: date, archive: Archive) -> str:
    return str(knowledge_row(build(day, archive))[0]["text"])


def happened_by(rows: Rows, day: date) -> NDArray[np.bool_]:
    """Whether each row is about a day, and in a vintage, up to ``day``. It does not read when the row was known."""
    by_day: NDArray[np.bool_] = rows.days <= day.isoformat()
    return by_day if rows.vintages is None else by_day & (rows.vintages <= day.isoformat()[:7])


def cut(archive: Archive, day: date) -> Archive:
    """``archive`` without anything that happened, or was published, after ``day``."""

    def kept(_: str, rows: Rows) -> Rows:
        mine = happened_by(rows, day)
        return replace(
            rows,
            days=rows.days[mine],
            available=rows.available[mine],
            columns={name: values[mine] for name, values in rows.columns.items()},
            vintages=None if rows.vintages is None else rows.vintages[mine],
        )

    return archive.changed(kept)


def poisoned(archive: Archive, day: date) -> Archive:
    """``archive`` with garbage in the place of every value after ``day``."""

    def spoiled(_: str, rows: Rows) -> Rows:
        later = ~happened_by(rows, day)
        return replace(rows, columns={name: np.where(later, _GARBAGE, row) for name, row in rows.columns.items()})

    return archive.changed(spoiled)


def forged(key: str, rows: Rows) -> Rows:
    """A planted leak: each session of an index claims to have been known when the one before it was."""
    if not key.startswith("index:") or rows.available.size < 2:
        return rows
    return replace(rows, available=np.concatenate([rows.available[:1], rows.available[:-1]]))


def lagless(key: str, rows: Rows) -> Rows:
    """A planted leak: what is published later claims to have been known at the end of the day that it is about."""
    if not key.startswith(("earnings", "macro:")):
        return rows
    ends = [moment(day, "00:00", NEW_YORK) for day in rows.days.tolist()]
    return ordered(replace(rows, available=np.asarray(ends, dtype=np.int64)))


class _Tomorrow:
    """A planted leak: an archive whose views end days later than they say."""

    def __init__(self, archive: Archive) -> None:
        self._archive = archive
        self.name, self.catalogue = archive.name, archive.catalogue

    def at(self, cut: int, day: str) -> View:
        return self._archive.at(cut + _NEXT_SESSIONS_S, day)


def peeks(prices: PriceSeries, day: date) -> bool | None:
    """A planted leak as a rule: up where the close of the session after ``day`` is above that of ``day``."""
    place = prices.place(day)
    if place is None or place + 1 >= len(prices.closes):
        return None
    return prices.closes[place + 1] > prices.closes[place]
