"""Knowledge bases as JSON, without loss of digits.

The JSON follows the schema by names. A datum is an object with ``value`` (a number, a label, or ``7/10`` for a share;
else null), ``unit``, ``observed_at``, ``available_at``, ``source``, and, if there is one, ``vintage``. Without a value,
``missing`` or ``failed`` holds the reason. Numbers have at most 15 digits, which doubles keep.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from decimal import Decimal
from typing import Any, TypeVar, cast

from disputatio.errors import InvalidInputError
from disputatio.kernel import Json, JsonObject
from disputatio.market.knowledge import (
    SCHEMA_VERSION,
    Breadth,
    Content,
    Datum,
    Failed,
    Fundamentals,
    GlobalMarket,
    IndexQuote,
    KnowledgeBase,
    Known,
    MacroSeries,
    Meta,
    Missing,
    PriceEarnings,
    PriceHistory,
    Sector,
    Sentiment,
    Share,
    Technicals,
    Unit,
)

_T = TypeVar("_T")


def as_json(base: KnowledgeBase) -> JsonObject:
    """Return ``base`` as JSON; equal bases give equal JSON."""
    return {"schema_version": SCHEMA_VERSION, **cast("JsonObject", _to_json(base))}


def from_json(given: object) -> KnowledgeBase:
    """Read a knowledge base from JSON; the inverse of `as_json`.

    Raises:
        InvalidInputError: if it has another schema version, or is not a knowledge base.
    """
    if not isinstance(given, Mapping):
        raise InvalidInputError("This is no knowledge base: its JSON is not an object.", _BUILD_STEP)
    version = given.get("schema_version")
    if version != SCHEMA_VERSION or isinstance(version, bool):
        found = "states no schema version" if version is None else f"has schema version {str(version)[:20]}"
        raise InvalidInputError(
            f"The knowledge base {found}; this version of disputatio reads version {SCHEMA_VERSION}.", _BUILD_STEP
        )
    try:
        return _read_base({key: row for key, row in given.items() if key != "schema_version"})
    except _MalformedError as error:
        raise InvalidInputError(f"The knowledge base is malformed: {error}.", _BUILD_STEP) from None


_BUILD_STEP = "Build it again: disputatio market build --as-of DATE --out FILE."


class _MalformedError(Exception):
    """What is wrong, as a clause that begins with the place."""


_PLAIN = frozenset({float, str, type(None)})


def _to_json(node: Any) -> Json:
    if isinstance(node, Datum):
        return _datum_to_json(node)
    if isinstance(node, Mapping):
        return {key: _to_json(row) for key, row in node.items()}
    if isinstance(node, tuple):
        # The lines of a history are long and have only plain values.
        return [row if row.__class__ in _PLAIN else _to_json(row) for row in node]
    if node is None or isinstance(node, str | bool | int | float):
        return cast("Json", node)
    # Cached, because `fields` builds a new tuple for each of many small nodes.
    return {name: _to_json(getattr(node, name)) for name in node.__dataclass_fields__}


def _datum_to_json(datum: Datum) -> JsonObject:
    content = datum.content
    row: dict[str, Json] = {"value": _value_to_json(content), "unit": datum.unit.value}
    if datum.observed_at:
        row["observed_at"] = datum.observed_at
    if datum.available_at:
        row["available_at"] = datum.available_at
    if datum.source:
        row["source"] = datum.source
    if datum.vintage:
        row["vintage"] = datum.vintage
    if isinstance(content, Missing):
        row["missing"] = content.reason
    elif isinstance(content, Failed):
        row["failed"] = content.reason
    return row


def _value_to_json(content: Content) -> Json:
    if not isinstance(content, Known):
        return None
    if isinstance(content.value, Decimal):
        return int(content.value) if content.value == content.value.to_integral_value() else float(content.value)
    return str(content.value)


def _read_object(given: object, place: str, names: Sequence[str]) -> Mapping[str, Any]:
    """Return ``given`` if it has exactly ``names``."""
    rows = _read_mapping(given, place)
    if lacking := [name for name in names if name not in rows]:
        raise _MalformedError(f"{place} lacks {', '.join(lacking)}")
    if strange := [str(name)[:40] for name in rows if name not in names]:
        raise _MalformedError(f"{place} has {', '.join(strange)}, which the schema does not know")
    return rows


def _read_mapping(given: object, place: str) -> Mapping[str, Any]:
    if not isinstance(given, Mapping) or not all(isinstance(key, str) for key in given):
        raise _MalformedError(f"{place} is not an object")
    return given


def _read_text(given: object, place: str) -> str:
    if not isinstance(given, str):
        raise _MalformedError(f"{place} is not a text")
    return given


def _read_texts(given: object, place: str) -> tuple[str, ...]:
    if not isinstance(given, list | tuple):
        raise _MalformedError(f"{place} is not a list")
    return tuple(_read_text(row, place) for row in given)


def _read_datum(given: object, place: str) -> Datum:
    row = _read_mapping(given, place)
    known = {"value", "unit", "observed_at", "available_at", "source", "vintage", "missing", "failed"}
    if strange := set(row) - known:
        raise _MalformedError(f"{place} has {min(strange)[:40]}, which the schema does not know")
    try:
        unit = Unit(str(row.get("unit")))
    except ValueError:
        raise _MalformedError(f"{place} has the unit {str(row.get('unit'))[:20]!r}, which is none") from None
    texts = {
        name: _read_text(row.get(name, ""), place) for name in ("observed_at", "available_at", "source", "vintage")
    }
    return Datum(_read_content(row, unit, place), unit, **texts)


def _read_content(row: Mapping[str, Any], unit: Unit, place: str) -> Content:
    reasons = [name for name in ("missing", "failed") if name in row]
    value = row.get("value")
    if value is None:
        if len(reasons) != 1:
            raise _MalformedError(f"{place} has no value and does not say whether it is missing or failed")
        reason = _read_text(row[reasons[0]], place)
        return Missing(reason) if reasons == ["missing"] else Failed(reason)
    if reasons:
        raise _MalformedError(f"{place} has a value and is {reasons[0]} as well")
    if unit in {Unit.LABEL, Unit.SHARE}:
        text = _read_text(value, place)
        return Known(text if unit is Unit.LABEL else _read_share(text, place))
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise _MalformedError(f"{place} is not a number")
    try:
        return Known(Decimal(repr(value)))
    except (ValueError, ArithmeticError):
        raise _MalformedError(f"{place} is a number that cannot be held") from None


def _read_share(text: str, place: str) -> Share:
    part, _, whole = text.partition("/")
    try:
        return Share(int(part), int(whole))
    except ValueError:
        raise _MalformedError(f"{place} is not a share such as 7/10") from None


def _read_rows(given: object, place: str, read: Callable[[object, str], _T]) -> dict[str, _T]:
    return {key: read(row, f"{place}.{key}") for key, row in _read_mapping(given, place).items()}


def _read_data(given: object, place: str) -> dict[str, Datum]:
    return _read_rows(given, place, _read_datum)


def _make_reader(kind: type[_T], **readers: Callable[[object, str], object]) -> Callable[[object, str], _T]:
    """Make a reader of ``kind``: named fields by their readers, all others as data."""

    def read(given: object, place: str) -> _T:
        names = [row.name for row in fields(cast("Any", kind))]
        rows = _read_object(given, place, names)
        return kind(**{name: readers.get(name, _read_datum)(rows[name], f"{place}.{name}") for name in names})

    return read


def _read_flag(given: object, place: str) -> bool:
    if not isinstance(given, bool):
        raise _MalformedError(f"{place} is neither true nor false")
    return given


def _read_lines(given: object, place: str) -> dict[str, tuple[float | None, ...]]:
    return _read_rows(given, place, _read_numbers)


def _read_numbers(given: object, place: str) -> tuple[float | None, ...]:
    if not isinstance(given, list | tuple):
        raise _MalformedError(f"{place} is not a list")
    for row in given:
        if row is not None and (isinstance(row, bool) or not isinstance(row, int | float)):
            raise _MalformedError(f"{place} is not a list of numbers")
    return tuple(given)


_TEXTS = ("as_of", "day", "generated_at", "market_status", "subject", "subject_name")
_META = _make_reader(
    Meta, **dict.fromkeys(_TEXTS, _read_text), data_sources=_read_texts, warnings=_read_texts, synthetic=_read_flag
)
_INDEX = _make_reader(IndexQuote, name=_read_text, returns=_read_data)
_TECHNICALS = _make_reader(Technicals, name=_read_text, ma_status=_read_data, ma_levels=_read_data, macd=_read_data)
_FUNDAMENTALS = _make_reader(Fundamentals, sp500_pe_approx=_make_reader(PriceEarnings))
_GLOBAL = _make_reader(GlobalMarket, name=_read_text, returns=_read_data)


def _read_base(given: Mapping[str, Any]) -> KnowledgeBase:
    rows = _read_object(given, "the knowledge base", [row.name for row in fields(KnowledgeBase)])
    base = KnowledgeBase(
        meta=_META(rows["meta"], "meta"),
        indices=_read_rows(rows["indices"], "indices", _INDEX),
        technicals=_read_rows(rows["technicals"], "technicals", _TECHNICALS),
        sectors=_read_rows(rows["sectors"], "sectors", _make_reader(Sector, name=_read_text)),
        fundamentals=_FUNDAMENTALS(rows["fundamentals"], "fundamentals"),
        macro=_read_rows(rows["macro"], "macro", _make_reader(MacroSeries, name=_read_text)),
        sentiment=_make_reader(Sentiment, sector_breadth=_make_reader(Breadth))(rows["sentiment"], "sentiment"),
        global_markets=_read_rows(rows["global_markets"], "global_markets", _GLOBAL),
        history=_make_reader(PriceHistory, days=_read_texts, lines=_read_lines)(rows["history"], "history"),
    )
    if base.meta.subject not in base.indices:
        raise _MalformedError(f"meta.subject is {base.meta.subject[:40]!r}, which is not among the indices")
    return base
