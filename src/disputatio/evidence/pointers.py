"""Check a value cited by a JSON pointer, with its unit and a tolerance.

By default the source's number must equal the cited one after rounding to the cited digits: ``3.84`` may be cited as
``3.8`` and 1,234,567 as ``1.2 million``. Only a zero may be cited as zero.

Both sides must give a unit, or neither. If the source gives a bare number, its key (``change_pct``, ``latency_ms``) or
a field beside it (``"unit": "h"``) may state the unit; the citation may then repeat or omit it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal

from disputatio.evidence.figures import find_figures, find_first_difference
from disputatio.evidence.findings import Finding, Match, Reason, Span, Status
from disputatio.evidence.json_text import Missing, Value, resolve_pointer
from disputatio.evidence.number_lexicon import find_unit
from disputatio.evidence.quotes import shorten
from disputatio.evidence.sources import Source
from disputatio.evidence.tokens import Tokens, normalise
from disputatio.motion.motion import SourceKind

_KEY_UNITS = {"pct": "%", "percent": "%", "perc": "%"}


@dataclass(frozen=True, slots=True)
class Tolerance:
    """How far a cited number may differ from the source's, besides rounding.

    Attributes:
        absolute: in the unit of the number.
        relative: as a share of the source's number; 0.01 is one per cent.
    """

    absolute: Decimal = Decimal(0)
    relative: Decimal = Decimal(0)

    def __str__(self) -> str:
        """Describe the tolerance."""
        parts = ["rounded to the digits given"]
        if self.absolute:
            parts.append(f"or within {self.absolute}")
        if self.relative:
            parts.append(f"or within {(self.relative * 100).normalize():f} %")
        return " ".join(parts)


DEFAULT_TOLERANCE = Tolerance()
"""Equal after rounding to the digits given."""


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number with its unit; ``places`` counts decimal digits (negative before the point)."""

    value: Decimal
    unit: str = ""
    places: int = 0

    def agrees_with(self, source: Quantity, tolerance: Tolerance = DEFAULT_TOLERANCE) -> bool:
        """Whether this cited number equals ``source`` under ``tolerance``. The caller compares units."""
        difference = abs(self.value - source.value)
        if difference == 0:
            return True
        allowed = max(tolerance.absolute, tolerance.relative * abs(source.value))
        if allowed and difference <= allowed:
            return True
        return self.value != 0 and difference <= Decimal(5).scaleb(-self.places - 1)


def parse_quantity(text: str) -> Quantity | None:
    """Parse ``text`` as one quantity; None if it is anything else or has a bound (``at least 5``)."""
    tokens = Tokens.of(text.strip())
    if not len(tokens):
        return None
    found = find_figures(tokens, 0, len(tokens) - 1)
    if len(found) != 1 or found[0].value is None or found[0].bound:
        return None
    figure = found[0]
    if figure.first != 0 or figure.last != len(tokens) - 1:
        return None
    return Quantity(figure.value or Decimal(0), figure.unit, figure.places)


def quantity_of_number(value: float | Decimal) -> Quantity:
    """Return a JSON number as a quantity without a unit; a float by its shortest decimal form."""
    exact = value if isinstance(value, Decimal) else Decimal(str(value))
    exponent = exact.as_tuple().exponent
    return Quantity(exact, "", -exponent if isinstance(exponent, int) else 0)


def find_stated_unit(pointer: str, around: object) -> str:
    """Return the unit stated by the last key of ``pointer`` or by a ``unit`` field beside it, else an empty text."""
    key = pointer.rsplit("/", 1)[-1]
    last = re.split(r"[_\s-]", key)[-1]
    if last in _KEY_UNITS:
        return _KEY_UNITS[last]
    if last != key and (unit := find_unit(last)) is not None:
        return unit
    beside = around.get("unit", around.get("units")) if isinstance(around, Mapping) else None
    return (find_unit(beside) or beside) if isinstance(beside, str) else ""


def check_value(source: Source, pointer: str, value: object, tolerance: Tolerance = DEFAULT_TOLERANCE) -> Finding:
    """Check that ``source`` has ``value`` at ``pointer``.

    Args:
        source: a JSON source.
        pointer: an RFC 6901 pointer.
        value: the claimed value: a number, a text (possibly a number with its unit), true, false or null.
        tolerance: how far a number may differ.
    """
    if source.kind is not SourceKind.JSON:
        return _no_such_value(f"the source {source.source_id} is no JSON, so nothing in it has a pointer")
    there = resolve_pointer(source.value, pointer)
    if isinstance(there, Missing):
        return _no_such_value(there.why)
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
    return _compare(source, pointer, there, value, spans, tolerance)


def _no_such_value(why: str) -> Finding:
    return Finding(Status.UNVERIFIED, Match.NONE, Reason.NO_SUCH_VALUE, why)


def _compare(
    source: Source, pointer: str, there: Value, value: object, spans: tuple[Span, ...], tolerance: Tolerance
) -> Finding:
    cited, own = _parse_value(value), _parse_value(there)
    if cited is not None and own is not None:
        said = find_stated_unit(pointer, resolve_pointer(source.value, pointer.rpartition("/")[0]) if pointer else None)
        units_agree = cited.unit == own.unit or (not own.unit and cited.unit == said != "")
        if units_agree and cited.agrees_with(own, tolerance):
            match = Match.EXACT if cited.value == own.value else Match.NORMALISED
            return Finding(Status.VERIFIED, match, spans=spans, similarity=100.0)
        return _value_differs(Reason.NUMBER_DIFFERS, _format_with_unit(there, own, said), value, spans)
    if _is_same(there, value):
        exact = there == value
        return Finding(Status.VERIFIED, Match.EXACT if exact else Match.NORMALISED, spans=spans, similarity=100.0)
    reason = Reason.NUMBER_DIFFERS if own is not None else Reason.VALUE_DIFFERS
    return _value_differs(reason, shorten(_format_value(there)), value, spans)


def _value_differs(reason: Reason, there: str, value: object, spans: tuple[Span, ...]) -> Finding:
    detail = f"the source says {there}, the citation {shorten(_format_value(value))}"
    return Finding(Status.UNVERIFIED, Match.NONE, reason, detail, spans)


def _parse_value(value: object) -> Quantity | None:
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float | Decimal):
        finite = not isinstance(value, float) or value - value == 0
        return quantity_of_number(value) if finite else None
    return parse_quantity(value) if isinstance(value, str) else None


def _is_same(there: Value, value: object) -> bool:
    """Whether two values that are not both numbers are of one type and equal, texts after normalisation."""
    if isinstance(there, str) and isinstance(value, str):
        return there == value or (
            bool(normalise(there)) and normalise(there) == normalise(value) and _have_same_figures(there, value)
        )
    if isinstance(value, str):
        return value in {"true", "false", "null"} and value == _format_value(there)
    return type(there) is type(value) and there == value


def _have_same_figures(one: str, other: str) -> bool:
    found = [find_figures(tokens, 0, len(tokens) - 1) for tokens in (Tokens.of(one), Tokens.of(other))]
    return find_first_difference(*found) is None


def _format_with_unit(there: Value, own: Quantity, said: str) -> str:
    return f"{_format_value(there)} ({said})" if said and not own.unit else _format_value(there)


def _format_value(value: object) -> str:
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    return str(value)
