"""Measures as a store keeps them beside a record: small JSON, in which what has its default is left out."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import MISSING, fields
from decimal import Decimal
from typing import Any, Final

from disputatio.metrics.measures import Measures
from disputatio.record.history import Status
from disputatio.record.store import DebateRow, Summary
from disputatio.record.text import canonical, read_json

MEASURES_VERSION: Final = 1
"""Of the rules in ``measures``. Raise it when a record comes to another measure: what stores keep is then stale."""

_LISTED: Final = frozenset({"debate", "opened_at"})
"""What the list of debates says already."""
_DEFAULTS: Final[Mapping[str, Any]] = {
    row.name: row.default for row in fields(Measures) if row.default is not MISSING and row.name not in _LISTED
}
_NAMES: Final = tuple(row.name for row in fields(Measures) if row.name not in _LISTED)
_READ: Final[Mapping[str, Callable[[Any], Any]]] = {
    "status": Status,
    "usd": Decimal,
    "estimated_usd": Decimal,
    "models": frozenset,
    "latencies": tuple,
    "strengths": tuple,
    "claimed": tuple,
}


def summary_of(measures: Measures, head: str) -> Summary:
    """The summary of a record whose last event has the hash ``head``."""
    values = {name: getattr(measures, name) for name in _NAMES}
    body = {name: _plain(value) for name, value in values.items() if _differs(name, value)}
    return Summary(measures.debate, head, MEASURES_VERSION, canonical(body))


def measures_in(body: str, row: DebateRow) -> Measures | None:
    """The measures in the body of a summary of the debate in ``row``; None where it does not hold them."""
    try:
        values = read_json(body)
        given: dict[str, Any] = {
            name: value if value is None else _READ.get(name, _same)(value) for name, value in values.items()
        }
        return Measures(debate=row.id, opened_at=row.opened_at, **given)
    except (ValueError, TypeError, ArithmeticError, AttributeError):
        return None


def _same(value: Any) -> Any:
    return value


def _differs(name: str, value: Any) -> bool:
    return name not in _DEFAULTS or value != _DEFAULTS[name]


def _plain(value: Any) -> Any:
    if isinstance(value, Status):
        return value.value
    if isinstance(value, Decimal):
        return str(value)
    if isinstance(value, frozenset):
        return sorted(value)
    return list(value) if isinstance(value, tuple) else value
