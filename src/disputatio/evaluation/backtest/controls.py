"""What the controls show: the same dates held mirrored and blind.

mirrored    on reflected prices a month that rose has fallen. Whoever reads prices changes its mind; whoever says the
            same on both was not reading them, and is right on one side as often as wrong on the other
blind       who argues by rules has to come to the very same forecast without names and dates. A model that does not had
            recognised something; how much that explains is a question for its own arm
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
"""The share of dates from which on a forecaster that says the same on both counts as one-sided."""
_FEWEST = 10


@dataclass(frozen=True, slots=True)
class MirroredResult:
    """One forecaster on data as they are and on reflected ones, over the dates on which it spoke on both."""

    name: str
    says_up: Rate
    says_up_mirrored: Rate
    changed: Rate
    right: Rate
    right_mirrored: Rate

    @property
    def one_sided(self) -> bool:
        """Whether it says the same of nearly every date, mirrored or not."""
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
    """Forecasts with and without names and dates: on how many dates both spoke, and on how many they are the same."""

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
    """Each lens, and the whole debate, on both; ``observed`` says which dates rose, on either data."""
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
    """Forecasts of both arms on the dates that both have; None without any."""
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


def check_leaks(archive: Archive, records: Sequence[DateRecord], labels: Sequence[Label], every: int) -> LeakReport:
    """Test every ``every``-th of ``records``, all of the plain arm, on ``archive``, which they were held on."""
    chosen = records[::every] if every else []
    leaky = archive.changed(forge_dates)
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
    """Each kind of series is forged alone: one that is noticed must not hide one that is not."""
    planted: dict[str, list[tuple[Rows, NDArray[np.int64]]]] = {}
    for key, rows in archive.rows.items():
        without = forge_dates(key, rows) if key.startswith("index:") else remove_lags(key, rows)
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
    """Whether each row is about a day, and in a vintage, up to ``day``. It does not read when the row was known."""
    by_day: NDArray[np.bool_] = rows.days <= day.isoformat()
    return by_day if rows.vintages is None else by_day & (rows.vintages <= day.isoformat()[:7])


def cut_archive(archive: Archive, day: date) -> Archive:
    """``archive`` without anything that happened, or was published, after ``day``."""

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
    """``archive`` with garbage in the place of every value after ``day``."""

    def spoiled(_: str, rows: Rows) -> Rows:
        later = ~select_until(rows, day)
        return replace(rows, columns={name: np.where(later, _GARBAGE, row) for name, row in rows.columns.items()})

    return archive.changed(spoiled)


def forge_dates(key: str, rows: Rows) -> Rows:
    """A planted leak: each session of an index claims to have been known when the one before it was."""
    if not key.startswith("index:") or rows.available.size < 2:
        return rows
    return replace(rows, available=np.concatenate([rows.available[:1], rows.available[:-1]]))


def remove_lags(key: str, rows: Rows) -> Rows:
    """A planted leak: what is published later claims to have been known at the end of the day that it is about."""
    if not key.startswith(("earnings", "macro:")):
        return rows
    ends = [second_at(day, "00:00", NEW_YORK) for day in rows.days.tolist()]
    return sort_rows(replace(rows, available=np.asarray(ends, dtype=np.int64)))


class _Tomorrow:
    """A planted leak: an archive whose views end days later than they say."""

    def __init__(self, archive: Archive) -> None:
        self._archive = archive
        self.name, self.catalogue = archive.name, archive.catalogue

    def at(self, cut_archive: int, day: str) -> View:
        return self._archive.at(cut_archive + _NEXT_SESSIONS_S, day)


def peek_ahead(prices: PriceSeries, day: date) -> bool | None:
    """A planted leak as a rule: up where the close of the session after ``day`` is above that of ``day``."""
    place = prices.place(day)
    if place is None or place + 1 >= len(prices.closes):
        return None
    return prices.closes[place + 1] > prices.closes[place]
