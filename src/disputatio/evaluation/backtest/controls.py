"""Controls of a backtest: the same dates mirrored and blind, and tests for leaks of the future.

mirrored    on reflected prices a month that rose has fallen. A forecaster that reads prices changes its mind. One that
            says the same on both does not read them
blind       an analyst by rules must make the same forecast without names and dates. A model that does not has
            recognised something; its own arm shows how much that explains

Leaks are tested on the knowledge bases that the records keep:

truncation  data that end on the day give exactly the debated knowledge base, byte for byte poison      so do data in
which everything after the day is garbage lags        no shown row could be known only later, by a lag table that the
sources do not use forged      an injected leak: every close claims to have been known one session earlier. Truncation
must detect it forged lags an injected leak: earnings, macroeconomic series and closes claim no lag. The lag table must
detect each open        an injected leak: the source returns what is known tomorrow. The builder must refuse it

Small leaks do not show in accuracy, so these tests compare bytes. A rule that peeks at the next day's close is no
better than always saying up; ``peek_ahead`` shows its accuracy beside the tests that detect it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date

import numpy as np
from numpy.typing import NDArray

from disputatio.engine.market_setup import knowledge_row
from disputatio.evaluation.backtest.archive import Archive, PriceSeries
from disputatio.evaluation.backtest.forecasts import DateRecord, read_call
from disputatio.evaluation.backtest.labels import Label
from disputatio.evaluation.statistics.intervals import Rate, rate
from disputatio.formats.market import LENSES
from disputatio.kernel import JsonObject
from disputatio.market.sources.builder import build
from disputatio.market.sources.errors import LookAheadError
from disputatio.market.sources.moments import NEW_YORK, resolve_moment, second_at
from disputatio.market.sources.port import View
from disputatio.market.sources.rows import Rows, sort_rows
from disputatio.market.sources.series_catalogue import earliest_known_all

ONE_SIDED = 0.9
"""The share of equal calls from which a forecaster counts as one-sided."""
_FEWEST = 10


@dataclass(frozen=True, slots=True)
class MirroredResult:
    """One forecaster on original and reflected data, over the dates on which it forecast on both."""

    name: str
    says_up: Rate
    says_up_mirrored: Rate
    changed: Rate
    right: Rate
    right_mirrored: Rate

    @property
    def one_sided(self) -> bool:
        """Whether it says the same on nearly every date, mirrored or not."""
        one, other = self.says_up.value, self.says_up_mirrored.value
        if one is None or other is None or self.says_up.of < _FEWEST:
            return False
        return min(one, other) >= ONE_SIDED or max(one, other) <= 1 - ONE_SIDED

    def as_json(self) -> JsonObject:
        """The shares."""
        names = ("says_up", "says_up_mirrored", "changed", "right", "right_mirrored")
        return {
            "name": self.name,
            **{name: getattr(self, name).as_json() for name in names},
            "one_sided": self.one_sided,
        }


@dataclass(frozen=True, slots=True)
class BlindResult:
    """Forecasts with and without names and dates: on how many dates they are the same."""

    same: Rate
    largest: float

    def as_json(self) -> JsonObject:
        """The share, and the largest difference of two probabilities."""
        return {"same_forecast": self.same.as_json(), "largest_difference": round(self.largest, 6)}


def check_mirrored(
    plain: Sequence[DateRecord],
    reflected: Sequence[DateRecord],
    observed: Mapping[date, bool],
    came_mirrored: Mapping[date, bool],
) -> tuple[MirroredResult, ...]:
    """Compare each lens and the whole debate on both data. The mappings say which dates rose, on either data."""
    by_day = {row.day: row for row in plain}
    days = [row.day for row in reflected if row.day in by_day and row.day in observed and row.day in came_mirrored]
    other = {row.day: row for row in reflected}
    readers: dict[str, Callable[[DateRecord], float | None]] = {"debate": lambda row: row.p}
    readers |= {lens: lambda row, lens=lens: row.forecasts.get(lens) for lens in LENSES}  # type: ignore[misc]
    found = []
    for name, read in readers.items():
        pairs = [
            (one, two, observed[day], came_mirrored[day])
            for day in days
            if (one := read_call(read(by_day[day]))) is not None and (two := read_call(read(other[day]))) is not None
        ]
        total = len(pairs)
        found.append(
            MirroredResult(
                name,
                rate(sum(one for one, _, _, _ in pairs), total),
                rate(sum(two for _, two, _, _ in pairs), total),
                rate(sum(one != two for one, two, _, _ in pairs), total),
                rate(sum(one == up for one, _, up, _ in pairs), total),
                rate(sum(two == up for _, two, _, up in pairs), total),
            )
        )
    return tuple(row for row in found if row.says_up.of)


def check_blind(plain: Sequence[DateRecord], blind: Sequence[DateRecord]) -> BlindResult | None:
    """Compare forecasts on the dates that both arms have; None without any."""
    by_day = {row.day: row for row in plain}
    pairs = [(by_day[row.day], row) for row in blind if row.day in by_day]
    gaps = [abs(one.p - two.p) for one, two in pairs if one.p is not None and two.p is not None]
    if not pairs:
        return None
    same = sum(dict(one.forecasts) == dict(two.forecasts) for one, two in pairs)
    return BlindResult(rate(same, len(pairs)), max(gaps, default=0.0))


_GARBAGE = 12_345.678
_NEXT_SESSIONS_S = 5 * 86_400


@dataclass(frozen=True, slots=True)
class LeakCheck:
    """One test: on how many ``dates`` it ran, and on how many it passed (``as_it_must``)."""

    name: str
    about: str
    dates: int
    as_it_must: int

    @property
    def holds(self) -> bool:
        """Whether it passed on every date."""
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
    """All tests, and the accuracy of a rule that peeks one day ahead."""

    checks: tuple[LeakCheck, ...]
    peek: Rate
    always_up: Rate

    @property
    def holds(self) -> bool:
        """Whether every test passed."""
        return all(row.holds for row in self.checks)

    def as_json(self) -> JsonObject:
        """The tests and the peeking rule."""
        return {
            "holds": self.holds,
            "checks": [row.as_json() for row in self.checks],
            "planted_peek": {"accuracy": self.peek.as_json(), "always_up": self.always_up.as_json()},
        }


def check_leaks(archive: Archive, records: Sequence[DateRecord], labels: Sequence[Label], every: int) -> LeakReport:
    """Test every ``every``-th of ``records``, all of the plain arm, on the ``archive`` they ran on."""
    chosen = records[::every] if every else []
    leaky = archive.changed(forge_dates)
    found = [
        ("truncation", "data cut at the day give the same knowledge base, byte for byte", _truncation(archive)),
        ("poison", "garbage after the day changes no byte of it", _poison(archive)),
        (
            "forged dates",
            "injected: closes that claim to be known a session early are detected",
            _forgery(archive, leaky),
        ),
        ("open leak", "injected: a source that shows tomorrow is refused", _open_leak(archive)),
        ("lags", "nothing is known before its publication, by an independent table of lags", _lags_kept(archive)),
        ("forged lags", "injected: earnings and series known on the day they are about are detected", _lags(archive)),
    ]
    checks = tuple(LeakCheck(name, about, len(chosen), sum(test(row) for row in chosen)) for name, about, test in found)
    prices = archive.prices()
    known = [row for row in labels if row.up is not None]
    right = sum(peek_ahead(prices, row.decided) == row.up for row in known)
    return LeakReport(checks, rate(right, len(known)), rate(sum(bool(row.up) for row in known), len(known)))


_Test = Callable[[DateRecord], bool]


def _truncation(archive: Archive) -> _Test:
    return lambda record: _hash_of(record.day, cut_archive(archive, record.day)) == record.knowledge


def _poison(archive: Archive) -> _Test:
    return lambda record: _hash_of(record.day, poison_archive(archive, record.day)) == record.knowledge


def _forgery(archive: Archive, leaky: Archive) -> _Test:
    def noticed(record: DateRecord) -> bool:
        honest = cut_archive(archive, record.day).changed(forge_dates)
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
    """Forge each kind of series alone, so that a detected one cannot hide an undetected one."""
    planted: dict[str, list[tuple[Rows, NDArray[np.int64]]]] = {}
    for key, rows in archive.rows.items():
        without = forge_dates(key, rows) if key.startswith("index:") else remove_lags(key, rows)
        if without is not rows and not rows.is_empty:
            planted.setdefault(key.partition(":")[0], []).append((without, _earliest(key, without)))

    def noticed(record: DateRecord) -> bool:
        # After the last vintage of a series none of its rows is early, so nothing is injected on that day.
        open_to_it = [rows for rows in planted.values() if any(_can_be_early(*row, record.day) for row in rows)]
        return all(any(_knows_early(*row, record.day) for row in rows) for rows in open_to_it)

    return noticed


def _earliest(key: str, rows: Rows) -> NDArray[np.int64]:
    """The earliest moment each row could be known, by the lag table."""
    vintages = None if rows.vintages is None else rows.vintages.tolist()
    return np.asarray(earliest_known_all(key, rows.days.tolist(), vintages), dtype=np.int64)


def _knows_early(rows: Rows, earliest: NDArray[np.int64], day: date) -> bool:
    """Whether a row is shown on the evening of ``day`` that could not be known by then."""
    cut_off, _ = resolve_moment(day)
    return bool(np.any((rows.available <= cut_off) & (earliest > cut_off)))


def _can_be_early(rows: Rows, earliest: NDArray[np.int64], day: date) -> bool:
    """Whether a row about a day up to ``day`` is published after it."""
    return bool(np.any((rows.days <= day.isoformat()) & (earliest > resolve_moment(day)[0])))


def _hash_of(day: date, archive: Archive) -> str:
    return str(knowledge_row(build(day, archive))[0]["text"])


def select_until(rows: Rows, day: date) -> NDArray[np.bool_]:
    """Whether each row is about a day, and in a vintage, up to ``day``. It ignores when the row was known."""
    by_day: NDArray[np.bool_] = rows.days <= day.isoformat()
    return by_day if rows.vintages is None else by_day & (rows.vintages <= day.isoformat()[:7])


def cut_archive(archive: Archive, day: date) -> Archive:
    """Remove everything that happened, or was published, after ``day``."""

    def kept(_: str, rows: Rows) -> Rows:
        mine = select_until(rows, day)
        return replace(
            rows,
            days=rows.days[mine],
            available=rows.available[mine],
            columns={name: values[mine] for name, values in rows.columns.items()},
            vintages=None if rows.vintages is None else rows.vintages[mine],
        )

    return archive.changed(kept)


def poison_archive(archive: Archive, day: date) -> Archive:
    """Replace every value after ``day`` by garbage."""

    def spoiled(_: str, rows: Rows) -> Rows:
        later = ~select_until(rows, day)
        return replace(rows, columns={name: np.where(later, _GARBAGE, row) for name, row in rows.columns.items()})

    return archive.changed(spoiled)


def forge_dates(key: str, rows: Rows) -> Rows:
    """Inject a leak: each session of an index claims to have been known when the one before it was."""
    if not key.startswith("index:") or rows.available.size < 2:
        return rows
    return replace(rows, available=np.concatenate([rows.available[:1], rows.available[:-1]]))


def remove_lags(key: str, rows: Rows) -> Rows:
    """Inject a leak: data published later claim to have been known at the end of the day they are about."""
    if not key.startswith(("earnings", "macro:")):
        return rows
    ends = [second_at(day, "00:00", NEW_YORK) for day in rows.days.tolist()]
    return sort_rows(replace(rows, available=np.asarray(ends, dtype=np.int64)))


class _Tomorrow:
    """An injected leak: an archive whose views end days later than they claim."""

    def __init__(self, archive: Archive) -> None:
        self._archive = archive
        self.name, self.catalogue = archive.name, archive.catalogue

    def at(self, cut_archive: int, day: str) -> View:
        return self._archive.at(cut_archive + _NEXT_SESSIONS_S, day)


def peek_ahead(prices: PriceSeries, day: date) -> bool | None:
    """An injected leak as a rule: up if the next session's close is above that of ``day``."""
    place = prices.place(day)
    if place is None or place + 1 >= len(prices.closes):
        return None
    return prices.closes[place + 1] > prices.closes[place]
