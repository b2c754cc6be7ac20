"""The plan of a backtest: everything that could be chosen to make it look better, fixed beforehand in one file.

The file is committed before the run, and its SHA-256 is in the report, so later changes show. Two plans are packaged:
``packages``, for the history in installed packages, and ``market``, for a folder of data with every section of a
knowledge base.
"""

from __future__ import annotations

import hashlib
import tomllib
from dataclasses import dataclass, fields, replace
from datetime import date
from importlib.resources import files
from pathlib import Path
from typing import Any

from disputatio.errors import InvalidInputError
from disputatio.evaluation.backtest.forecasts import FORMULAS
from disputatio.evaluation.backtest.labels import Entry, Tie
from disputatio.kernel import JsonObject

PLAN_SCHEMA = "disputatio/backtest-plan"
VERSION = 1
TESTS = ("mcnemar_mid_p", "mcnemar_exact")
DATES = {"week": "week_end", "month": "month_end", "quarter": "quarter_end"}
"""The decision dates of each horizon. A window ends where the next one begins."""
HORIZONS = ("next_decision", *DATES)
BENCHMARKS = ("always_up", "climatology", "average_200", "vix_below_20")
PACKAGED = ("packages", "market")
_KEYS = {"schema", "version", "note"}
_LEAST = {
    "balanced_after": 1,
    "first_window": 2,
    "window": 1,
    "embargo": 0,
    "controls_every": 0,
    "leaks_every": 0,
    "seed": 0,
}
"""The whole numbers of a plan, with their minimum."""


@dataclass(frozen=True, slots=True)
class BacktestPlan:
    """What is fixed before a backtest.

    Attributes:
        name: of the plan.
        subject: the series that is predicted.
        first, last: the first and the last decision month, as their first days.
        dates: which sessions are decision dates: ``week_end``, ``month_end`` or ``quarter_end``.
        horizon: where the return ends: ``next_decision``, so windows do not overlap. A plan may name ``week``,
            ``month`` or ``quarter`` in place of ``dates``.
        entry: when the position is taken.
        tie: how to label a return of exactly zero.
        primary_test: the test of the primary comparison.
        primary_against: its benchmark.
        balanced_after: how many returns must be known for the balanced label.
        first_window, window, embargo: of the search for weights, in decision dates.
        controls_every: every n-th date also runs mirrored and blind; 0 for none.
        leaks_every: every n-th date is tested for leaks; 0 for none.
        formula: the formula for the probability of up.
        seed: of every resampling.
        sha256: of the file.
    """

    name: str
    subject: str
    first: date
    last: date
    dates: str = "month_end"
    horizon: str = "next_decision"
    entry: Entry = Entry.NEXT_CLOSE
    tie: Tie = Tie.DOWN
    primary_test: str = "mcnemar_mid_p"
    primary_against: str = "always_up"
    balanced_after: int = 60
    first_window: int = 60
    window: int = 12
    embargo: int = 1
    controls_every: int = 6
    leaks_every: int = 24
    formula: str = "equal_weights"
    seed: int = 0
    sha256: str = ""

    @property
    def asks_for(self) -> str:
        """The horizon of the question: ``week``, ``month`` or ``quarter``."""
        return next(horizon for horizon, dates in DATES.items() if dates == self.dates)

    @property
    def decides_by_mid_p(self) -> bool:
        """Whether McNemar's mid-p value decides every comparison, not the exact one."""
        return self.primary_test != "mcnemar_exact"

    def as_json(self) -> JsonObject:
        """The plan in the report, with its hash."""
        body = {row.name: getattr(self, row.name) for row in fields(self)}
        return {name: value.isoformat() if isinstance(value, date) else value for name, value in body.items()}


def load_plan(name: str, subject: str | None = None, horizon: str | None = None) -> BacktestPlan:
    """Load the packaged plan called ``name``, or the file of that name.

    Another subject or horizon makes another plan, with another name and hash.

    Args:
        name: of the plan.
        subject: what is predicted instead of the plan's subject.
        horizon: ``week``, ``month`` or ``quarter`` instead of the plan's dates.

    Raises:
        InvalidInputError: as `read_plan`; or there is no such horizon.
    """
    if name in PACKAGED:
        found = _plan(files(__package__).joinpath("plans", f"{name}.toml").read_bytes(), f"the plan {name}")
    else:
        found = read_plan(Path(name).expanduser())
    if horizon is not None:
        _one_of("--horizon", "it", horizon, tuple(DATES))
    dates = found.dates if horizon is None else DATES[horizon]
    other = replace(found, subject=found.subject if subject is None else subject, dates=dates)
    if other == found:
        return found
    sha256 = hashlib.sha256(f"{found.sha256} {other.subject} {dates}".encode()).hexdigest()
    name = f"{other.subject}, one {other.asks_for} ahead (after the plan {found.name!r})"
    return replace(other, name=name, sha256=sha256)


def read_plan(path: Path) -> BacktestPlan:
    """Read a plan from a TOML file.

    Raises:
        InvalidInputError: it cannot be read, is not a plan, or has an unknown key or value.
    """
    try:
        return _plan(path.read_bytes(), str(path))
    except OSError as error:
        raise InvalidInputError(
            f"{path} cannot be read: {(error.strerror or 'unknown cause').lower()}.",
            f"Give a file, or one of the plans of the package: {', '.join(PACKAGED)}.",
        ) from None


def _plan(raw: bytes, path: str) -> BacktestPlan:
    try:
        body: dict[str, Any] = tomllib.loads(raw.decode("utf-8"))
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise InvalidInputError(f"{path} is not TOML: {error}.", "docs/how-to/backtest.md shows a plan.") from None
    if body.get("schema") != PLAN_SCHEMA or body.get("version") != VERSION:
        raise InvalidInputError(
            f"{path} is not a backtest plan that this version reads.",
            f'A plan begins with schema = "{PLAN_SCHEMA}" and version = {VERSION}.',
        )
    known = {row.name for row in fields(BacktestPlan)} - {"sha256"}
    strange = sorted(set(body) - known - _KEYS)
    missing = sorted({"name", "subject", "first", "last"} - set(body))
    if strange or missing:
        what = f"has the unknown key {strange[0]}" if strange else f"lacks the key {missing[0]}"
        raise InvalidInputError(f"{path} {what}.", f"Keys are: {', '.join(sorted(known))}.")
    values = {name: value for name, value in body.items() if name in known}
    for name, words in (("entry", Entry), ("tie", Tie)):
        if name in values:
            values[name] = words(_one_of(path, name, values[name], [row.value for row in words]))
    for name, allowed in (
        ("primary_test", TESTS),
        ("primary_against", BENCHMARKS),
        ("dates", tuple(DATES.values())),
        ("horizon", HORIZONS),
        ("formula", FORMULAS),
    ):
        if name in values:
            _one_of(path, name, values[name], allowed)
    if values.get("horizon") in DATES:
        values |= _dated(path, values["horizon"], values.get("dates"))
    _check_plain(path, values)
    return BacktestPlan(**values, sha256=hashlib.sha256(raw).hexdigest())


def _dated(path: str, horizon: str, dates: str | None) -> dict[str, str]:
    """The decision dates of the plan's horizon."""
    if dates not in {None, DATES[horizon]}:
        raise InvalidInputError(f"{path}: the horizon is a {horizon}, and dates is {dates!r}.", "Give one of them.")
    return {"dates": DATES[horizon], "horizon": "next_decision"}


def _check_plain(path: str, values: dict[str, Any]) -> None:
    """Check numbers, texts and days of a plan."""
    for name, least in _LEAST.items():
        number = values.get(name, least)
        if isinstance(number, bool) or not isinstance(number, int) or number < least:
            raise InvalidInputError(f"{path}: {name} is {number!r}.", f"Give a whole number of {least} or more.")
    for name in ("name", "subject"):
        if not isinstance(values[name], str) or not values[name].strip():
            raise InvalidInputError(f"{path}: {name} is not a text.", "Put it in quotation marks.")
    first, last = values["first"], values["last"]
    if type(first) is not date or type(last) is not date or first > last:
        raise InvalidInputError(f"{path}: first and last are not two days in order.", "Write first = 1999-03-01.")


def _one_of(path: str, name: str, value: object, allowed: Any) -> str:
    if value not in allowed:
        raise InvalidInputError(f"{path}: {name} is {value!r}.", f"Allowed are: {', '.join(allowed)}.")
    return str(value)
