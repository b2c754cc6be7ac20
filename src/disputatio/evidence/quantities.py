"""Compares a cited value with the value of a source: numbers as numbers, with their unit and a stated tolerance.

The default tolerance: the source's number, rounded to the digits that the citation gives, is the cited one; ``3.84``
may be cited as ``3.8`` and 1,234,567 as ``1.2 million``. Zero is never cited by rounding: only a zero is zero.

A unit must be said on both sides or on neither. Where the source gives a bare number, the unit may stand in its key
(``change_pct``, ``latency_ms``) or beside it (``"unit": "h"``), and then the citation may say it or leave it out.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal

from disputatio.evidence.figures import figures
from disputatio.evidence.units import unit_of
from disputatio.evidence.words import Atoms

_KEY_UNITS = {"pct": "%", "percent": "%", "perc": "%"}


@dataclass(frozen=True, slots=True)
class Tolerance:
    """How far a cited number may be from the source's, besides rounding to the digits given.

    Args:
        absolute: in the unit of the number.
        relative: as a share of the source's number: 0.01 is one per cent.
    """

    absolute: Decimal = Decimal(0)
    relative: Decimal = Decimal(0)

    def __str__(self) -> str:
        """The tolerance in words."""
        parts = ["rounded to the digits given"]
        if self.absolute:
            parts.append(f"or within {self.absolute}")
        if self.relative:
            parts.append(f"or within {(self.relative * 100).normalize():f} %")
        return " ".join(parts)


AS_GIVEN = Tolerance()
"""The default: equal after rounding to the digits given."""


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number with its unit; ``places`` counts the digits given behind the decimal point (negative before it)."""

    value: Decimal
    unit: str = ""
    places: int = 0

    def agrees_with(self, source: Quantity, tolerance: Tolerance = AS_GIVEN) -> bool:
        """Whether this cited quantity is the ``source``'s, under ``tolerance``. Units are compared by the caller."""
        difference = abs(self.value - source.value)
        if difference == 0:
            return True
        allowed = max(tolerance.absolute, tolerance.relative * abs(source.value))
        if allowed and difference <= allowed:
            return True
        return self.value != 0 and difference <= Decimal(5).scaleb(-self.places - 1)


def read_quantity(text: str) -> Quantity | None:
    """The quantity that ``text`` is, whole; None where it is anything else or has bounds (``at least 5``)."""
    atoms = Atoms.of(text.strip())
    if not len(atoms):
        return None
    found = figures(atoms, 0, len(atoms) - 1)
    if len(found) != 1 or found[0].value is None or found[0].bound:
        return None
    figure = found[0]
    if figure.first != 0 or figure.last != len(atoms) - 1:
        return None
    return Quantity(figure.value or Decimal(0), figure.unit, figure.places)


def number_as_quantity(value: float | Decimal) -> Quantity:
    """A number of JSON as a quantity without a unit; a float is taken by its shortest decimal form."""
    exact = value if isinstance(value, Decimal) else Decimal(str(value))
    exponent = exact.as_tuple().exponent
    return Quantity(exact, "", -exponent if isinstance(exponent, int) else 0)


def stated_unit(pointer: str, around: object) -> str:
    """The unit that the key at the end of ``pointer``, or a ``unit`` beside it, says; empty where none is said."""
    key = pointer.rsplit("/", 1)[-1]
    last = re.split(r"[_\s-]", key)[-1]
    if last in _KEY_UNITS:
        return _KEY_UNITS[last]
    if last != key and (unit := unit_of(last)) is not None:
        return unit
    beside = around.get("unit", around.get("units")) if isinstance(around, Mapping) else None
    return (unit_of(beside) or beside) if isinstance(beside, str) else ""
