"""Checks a value that is cited by a JSON pointer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal

from disputatio.evidence.edges import shown
from disputatio.evidence.figures import figures, first_difference
from disputatio.evidence.findings import Finding, Match, Reason, Span, Status
from disputatio.evidence.json_text import Missing, Value, at_pointer
from disputatio.evidence.quantities import (
    AS_GIVEN,
    Quantity,
    Tolerance,
    number_as_quantity,
    read_quantity,
    stated_unit,
)
from disputatio.evidence.sources import Source
from disputatio.evidence.words import Atoms, normalise
from disputatio.motion.source_kind import SourceKind


def find_value(source: Source, pointer: str, value: object, tolerance: Tolerance = AS_GIVEN) -> Finding:
    """Whether ``source`` has ``value`` at ``pointer``.

    Args:
        source: a JSON source.
        pointer: an RFC 6901 pointer.
        value: what the citation says stands there: a number, a text (which may be a number with its unit), true, false
            or null.
        tolerance: how far a number may be off.
    """
    if source.kind is not SourceKind.JSON:
        return _missing(f"the source {source.source_id} is no JSON, so nothing in it has a pointer")
    there = at_pointer(source.value, pointer)
    if isinstance(there, Missing):
        return _missing(there.why)
    span = source.places.get(pointer)
    spans = (span,) if span is not None else ()
    if isinstance(there, Mapping) or (isinstance(there, Sequence) and not isinstance(there, str)):
        kind = "an object" if isinstance(there, Mapping) else "a list"
        return Finding(
            Status.UNVERIFIED,
            Match.NONE,
            Reason.VALUE_DIFFERS,
            f"{kind} stands at {pointer or 'the top'}; cite one value of it",
        )
    return _compared(source, pointer, there, value, spans, tolerance)


def _missing(why: str) -> Finding:
    return Finding(Status.UNVERIFIED, Match.NONE, Reason.NO_SUCH_VALUE, why)


def _compared(
    source: Source,
    pointer: str,
    there: Value,
    value: object,
    spans: tuple[Span, ...],
    tolerance: Tolerance,
) -> Finding:
    cited, own = _quantity(value), _quantity(there)
    if cited is not None and own is not None:
        said = stated_unit(pointer, at_pointer(source.value, pointer.rpartition("/")[0]) if pointer else None)
        units_agree = cited.unit == own.unit or (not own.unit and cited.unit == said != "")
        if units_agree and cited.agrees_with(own, tolerance):
            match = Match.EXACT if cited.value == own.value else Match.NORMALISED
            return Finding(Status.VERIFIED, match, spans=spans, similarity=100.0)
        return _differs(Reason.NUMBER_DIFFERS, _with_unit(there, own, said), value, spans)
    if _same(there, value):
        exact = there == value
        return Finding(Status.VERIFIED, Match.EXACT if exact else Match.NORMALISED, spans=spans, similarity=100.0)
    reason = Reason.NUMBER_DIFFERS if own is not None else Reason.VALUE_DIFFERS
    return _differs(reason, shown(_spoken(there)), value, spans)


def _differs(reason: Reason, there: str, value: object, spans: tuple[Span, ...]) -> Finding:
    detail = f"the source says {there}, the citation {shown(_spoken(value))}"
    return Finding(Status.UNVERIFIED, Match.NONE, reason, detail, spans)


def _quantity(value: object) -> Quantity | None:
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float | Decimal):
        finite = not isinstance(value, float) or value - value == 0
        return number_as_quantity(value) if finite else None
    return read_quantity(value) if isinstance(value, str) else None


def _same(there: Value, value: object) -> bool:
    """Whether two values that are not both numbers are equal: of one kind, and texts after normalisation."""
    if isinstance(there, str) and isinstance(value, str):
        return there == value or (
            bool(normalise(there)) and normalise(there) == normalise(value) and _figures_agree(there, value)
        )
    if isinstance(value, str):
        return value in {"true", "false", "null"} and value == _spoken(there)
    return type(there) is type(value) and there == value


def _figures_agree(one: str, other: str) -> bool:
    found = [figures(atoms, 0, len(atoms) - 1) for atoms in (Atoms.of(one), Atoms.of(other))]
    return first_difference(*found) is None


def _with_unit(there: Value, own: Quantity, said: str) -> str:
    return f"{_spoken(there)} ({said})" if said and not own.unit else _spoken(there)


def _spoken(value: object) -> str:
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    return str(value)
