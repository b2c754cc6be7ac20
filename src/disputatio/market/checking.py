"""Check evidence items against the knowledge base.

An item names its basis, a pointer or an expression over pointers, and states value, unit and module. The check computes
the value again and returns one finding:

- ``verified``: value, unit, sign and module agree, and the sentence about it does not contradict it;
- ``wrong``, with the fault and the true value;
- ``not in slice``: the base has it, but the seat does not see it;
- ``not in base``: there is no such pointer, or it has no value;
- ``inferred``: marked so by the analyst, or based on a number without a source. A fault takes precedence.

The true value, rounded to the item's digits, must be the stated one, and rounding may move it by at most 5 per cent, so
0.7 is not cited as 1.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum
from fractions import Fraction
from typing import NamedTuple

from disputatio.kernel import JsonObject
from disputatio.market.claim_text import StatedValue, find_mentions, find_numbers, parse_unit, parse_value
from disputatio.market.directions import ClaimSubject, check_directions
from disputatio.market.expressions import (
    BASIS_POINTS,
    NUMBER,
    UNKNOWN,
    Evaluation,
    Unresolved,
    evaluate,
    find_pointers,
    format_decimal,
    format_value,
    is_pointer,
)
from disputatio.market.knowledge import Datum, KnowledgeBase, Known, Share, Unit, collect_data
from disputatio.market.slices import Slice

MAX_ROUNDING_ERROR = Fraction(1, 20)
"""The largest relative change by rounding."""


class Fault(StrEnum):
    """What is wrong with an item."""

    FORM = "form"
    VALUE = "value"
    SIGN = "sign"
    ROUNDING = "rounding"
    UNIT = "unit"
    DIRECTION = "direction"
    SERIES = "series"
    SOURCE = "source"


class EvidenceItem(NamedTuple):
    """A value that an analyst cites.

    Attributes:
        basis: a pointer, or an expression over pointers.
        value: as stated: ``+18.8``, ``4,850``, ``7/10``, ``above``; it may include the unit.
        unit: in any usual spelling; may be empty.
        source: the module, such as ``fundamentals``, or several joined by ``,`` or ``+``; may be empty.
        inferred: whether the analyst marks it as inferred.
    """

    basis: str
    value: str
    unit: str = ""
    source: str = ""
    inferred: bool = False

    def as_json(self) -> JsonObject:
        """Return the recorded form."""
        return {
            "basis": self.basis,
            "value": self.value,
            "unit": self.unit,
            "source": self.source,
            "inferred": self.inferred,
        }


@dataclass(frozen=True, slots=True)
class Verified:
    """The base supports the item."""


@dataclass(frozen=True, slots=True)
class Wrong:
    """The base contradicts the item; ``reason`` is a clause."""

    fault: Fault
    reason: str


@dataclass(frozen=True, slots=True)
class NotInSlice:
    """The base has it, but the seat does not see it."""

    pointer: str


@dataclass(frozen=True, slots=True)
class NotInBase:
    """The base does not have it; ``reason`` is a clause."""

    reason: str


@dataclass(frozen=True, slots=True)
class Inferred:
    """The analyst concluded it; ``reason`` is a clause."""

    reason: str


Finding = Verified | Wrong | NotInSlice | NotInBase | Inferred

_STATUS: dict[type, str] = {
    Verified: "verified",
    Wrong: "wrong",
    NotInSlice: "not in slice",
    NotInBase: "not in base",
    Inferred: "inferred",
}


class CheckedItem(NamedTuple):
    """An item and its finding.

    Attributes:
        item: as given.
        finding: the result.
        true_value: the value of the basis with its unit; empty if there is none or the seat does not see it.
        pointers: the pointers of the basis.
    """

    item: EvidenceItem
    finding: Finding
    true_value: str = ""
    pointers: tuple[str, ...] = ()

    @property
    def status(self) -> str:
        """``verified``, ``wrong``, ``not in slice``, ``not in base`` or ``inferred``."""
        return _STATUS[type(self.finding)]

    @property
    def is_sound(self) -> bool:
        """Whether it is verified."""
        return type(self.finding) is Verified

    def describe(self) -> str:
        """Return status and reason, such as ``wrong: the base says 18.2 points, the item 28.2``."""
        finding = self.finding
        if isinstance(finding, NotInSlice):
            return f"{self.status}: this seat does not see {finding.pointer}"
        return self.status if isinstance(finding, Verified) else f"{self.status}: {finding.reason}"

    def as_json(self) -> JsonObject:
        """Return the recorded form; equal checks give equal JSON."""
        return {
            **self.item.as_json(),
            "status": self.status,
            "fault": self.finding.fault.value if isinstance(self.finding, Wrong) else "",
            "statement": self.describe(),
            "true_value": self.true_value,
            "pointers": list(self.pointers),
        }


def check_items(
    base: KnowledgeBase, part: Slice, items: Iterable[EvidenceItem], claim: str = ""
) -> tuple[CheckedItem, ...]:
    """Check ``items`` one by one; see `check_item`."""
    return tuple([check_item(base, part, item, claim) for item in items])


def check_item(base: KnowledgeBase, part: Slice, item: EvidenceItem, claim: str = "") -> CheckedItem:
    """Check ``item`` against ``base``.

    Args:
        base: the whole knowledge base.
        part: what the seat sees of it.
        item: the cited value.
        claim: the sentence about the item, or an empty text. Its words of direction and the series it names must agree.
    """
    data = collect_data(base)
    pointers = find_pointers(item.basis)
    for pointer in pointers:
        if pointer in data and pointer not in part.data:
            return CheckedItem(item, NotInSlice(pointer), pointers=pointers)
    found = evaluate(data, item.basis)
    if isinstance(found, Unresolved):
        if item.inferred and not found.pointer and not found.pointers:
            return CheckedItem(item, Inferred("the analyst says so; nothing in the base gives it"))
        return CheckedItem(item, _classify_unresolved(found), pointers=found.pointers)
    true_value = format_value(found)
    finding: Finding | None = _find_fault(item, found, true_value) or _check_claim(claim, item, found, data, part)
    if finding is None and found.own_numbers:
        finding = Inferred(f"{_join_numbers(found.own_numbers)} is not from the base")
    if finding is None and item.inferred:
        finding = Inferred(f"the analyst marks it so; the base gives {true_value}")
    return CheckedItem(item, finding or Verified(), true_value, found.pointers)


def _join_numbers(numbers: Sequence[str]) -> str:
    return " and ".join(dict.fromkeys(numbers))


def _classify_unresolved(found: Unresolved) -> Wrong | NotInBase:
    return NotInBase(found.reason) if found.pointer or not found.pointers else Wrong(Fault.FORM, found.reason)


def _find_fault(item: EvidenceItem, found: Evaluation, true_value: str) -> Wrong | None:
    """Check value, sign, unit and module."""
    stated = parse_value(item.value)
    unit = parse_unit(item.unit)
    if unit is None:
        return Wrong(Fault.UNIT, f"'{item.unit[:30]}' is no unit that is known here")
    if isinstance(stated, StatedValue) and stated.unit and unit and stated.unit != unit:
        return Wrong(Fault.UNIT, f"it states two units, {stated.unit} and {unit}")
    if isinstance(found.value, str):
        wrong = _check_label(item, found.value, unit, true_value)
    else:
        wrong = _check_number(item, found, stated, unit, true_value)
    if wrong is not None:
        return wrong
    sections = {pointer.partition(".")[0] for pointer in found.pointers}
    named = {row.strip().casefold() for row in re.split(r"[,+&]|\band\b", item.source) if row.strip()}
    if named and named != sections:
        return Wrong(Fault.SOURCE, f"it stands in {' and '.join(sorted(sections))}, not in {item.source[:40]}")
    return None


def _check_label(item: EvidenceItem, label: str, unit: str, true_value: str) -> Wrong | None:
    if unit not in {"", Unit.LABEL.value}:
        return Wrong(Fault.UNIT, f"the base holds the word '{label}', which has no unit")
    said = "_".join(re.split(r"[\s_-]+", item.value.strip().casefold()))
    return None if said == label.casefold() else _value_differs(Fault.VALUE, true_value, item)


def _value_differs(fault: Fault, true_value: str, item: EvidenceItem) -> Wrong:
    return Wrong(fault, f"the base says {true_value}, the item {' '.join(f'{item.value} {item.unit}'.split())[:60]}")


def _check_number(
    item: EvidenceItem, found: Evaluation, stated: StatedValue | Share | str, unit: str, true_value: str
) -> Wrong | None:
    value = found.value
    if isinstance(stated, str):
        return Wrong(Fault.FORM, f"'{item.value[:40]}' states no number; the base says {true_value}")
    if isinstance(stated, Share):
        if unit not in {"", Unit.SHARE.value}:
            return Wrong(Fault.UNIT, f"a share such as {stated} is not in {unit}")
        same = stated == value if isinstance(value, Share) else False
        return None if same else _value_differs(Fault.VALUE, true_value, item)
    unit = stated.unit or unit
    if isinstance(value, Share) and unit == Unit.SHARE.value and stated.decimals == 0:
        return None if stated.value == value.part else _value_differs(Fault.VALUE, true_value, item)
    exact = Fraction(value.part, value.whole) if isinstance(value, Share) else Fraction(value)
    # A number of the analyst's own hides the unit; such an item is inferred at best.
    own = bool(found.own_numbers)
    scale = 1 if own else _find_scale(NUMBER if isinstance(value, Share) else found.unit, unit)
    if scale is None:
        return Wrong(Fault.UNIT, f"the base says {true_value}, the item is in {_name_unit(unit)}")
    return _check_rounding(exact * scale, stated, item, true_value)


def _name_unit(unit: str) -> str:
    return {"%": "per cent", "pp": "percentage points", "bp": "basis points", NUMBER: "times"}.get(unit, unit)


def _find_scale(unit: str, stated: str) -> int | None:
    """Return the factor from ``unit`` to ``stated``; None if they are incompatible."""
    rates = {Unit.PERCENT.value, Unit.PERCENTAGE_POINTS.value}
    if stated in {"", unit} or (unit == NUMBER and stated == Unit.SHARE.value):
        return 1
    if (unit == NUMBER and stated == Unit.PERCENT.value) or (unit in rates and stated == BASIS_POINTS):
        return 100
    return None


def _check_rounding(exact: Fraction, stated: StatedValue, item: EvidenceItem, true_value: str) -> Wrong | None:
    half = Fraction(1, 2 * 10**stated.decimals)
    if abs(exact - stated.value) > half:
        swapped = exact != 0 and abs(exact + stated.value) <= half
        return _value_differs(Fault.SIGN if swapped else Fault.VALUE, true_value, item)
    if abs(exact - stated.value) > MAX_ROUNDING_ERROR * abs(exact):
        return Wrong(Fault.ROUNDING, f"{item.value[:30]} is too coarse for {true_value}")
    return None


def _check_claim(
    claim: str, item: EvidenceItem, found: Evaluation, data: Mapping[str, Datum], part: Slice
) -> Wrong | None:
    """Check the direction and the series in the sentence about the item."""
    if not claim.strip():
        return None
    about = ClaimSubject(item.basis, found, data, part)
    stated = parse_value(item.value)
    if other := _find_other_series(claim, stated, about):
        return Wrong(Fault.SERIES, f"the sentence calls it '{other}', the item is {item.basis[:80]}")
    if why := check_directions(claim, stated, about):
        return Wrong(Fault.DIRECTION, why)
    return None


_BETWEEN = re.compile(
    r"(?:['\u2019]s)?(?:\s*[(:=,]|\s+(?:is|was|at|of|stands|now|level|value|still|currently|only|sits|the)\b)*\s*"
)


def _find_other_series(claim: str, stated: StatedValue | Share | str, about: ClaimSubject) -> str:
    """Return the name right before the item's number if it belongs to another series, else an empty text."""
    for said in find_numbers(claim):
        same = said.figure == stated or (
            isinstance(stated, StatedValue)
            and isinstance(said.figure, StatedValue)
            and stated.value == said.figure.value
        )
        if not same:
            continue
        before = claim[: said.start]
        named = [
            row
            for row in find_mentions(before, tuple(about.part.names.items()))
            if _BETWEEN.fullmatch(before[row.end :])
        ]
        if named and not any(row.fits(about.found.pointers, difference=about.is_change) for row in named):
            return before[named[0].start : named[0].end]
    return ""


def build_item(part: Slice, basis: str, digits: int | None = None) -> EvidenceItem:
    """Build a correct item for ``basis``, with value, unit and module.

    Args:
        part: what the seat sees.
        basis: a pointer or an expression.
        digits: after the point. None keeps all digits of a cited value and two of a computed one, more if two are too
            coarse.

    Raises:
        ValueError: if the basis has no value in the slice.
    """
    found = evaluate(part.data, basis)
    if isinstance(found, Unresolved):
        raise ValueError(found.reason)
    source = " + ".join(dict.fromkeys(pointer.partition(".")[0] for pointer in found.pointers))
    if not isinstance(found.value, Fraction):
        return EvidenceItem(basis, str(found.value), "", source)
    unit = "" if found.unit in {NUMBER, UNKNOWN} else found.unit
    if digits is None:
        digits = None if len(found.pointers) == 1 and basis.strip() == found.pointers[0] else 2
        while digits is not None and digits < 12 and _rounding_error(found.value, digits) > MAX_ROUNDING_ERROR:
            digits += 1
    return EvidenceItem(basis, format_decimal(found.value, digits), unit, source)


def _rounding_error(value: Fraction, digits: int) -> Fraction:
    return abs(Fraction(format_decimal(value, digits)) / value - 1) if value else Fraction(0)


@dataclass(frozen=True, slots=True)
class UngroundedNumber:
    """A number that nothing supports, and its place in the text."""

    text: str
    start: int
    end: int


def find_ungrounded_numbers(text: str, checked: Sequence[CheckedItem], part: Slice) -> tuple[UngroundedNumber, ...]:
    """Return the numbers of ``text`` that no verified item and no value of the slice supports after rounding.

    Signs are not compared, because words carry them (3.2 % below). Periods, years and parts of names are ignored.

    Args:
        text: a claim, a reasoning, a stance.
        checked: the items that support it.
        part: what the seat sees.
    """
    said = find_numbers(text)
    if not said:
        return ()
    grounds = _collect_grounds(checked, part)
    return tuple(
        UngroundedNumber(text[row.start : row.end], row.start, row.end)
        for row in said
        if not _is_grounded(row.figure, grounds)
    )


def _collect_grounds(checked: Sequence[CheckedItem], part: Slice) -> list[Decimal | Fraction | Share]:
    found: list[Decimal | Fraction | Share] = []
    for datum in part.data.values():
        value = datum.content.value if isinstance(datum.content, Known) else ""
        if not isinstance(value, str):
            found.append(value)
    for row in checked:
        if row.is_sound and not is_pointer(row.item.basis):
            evaluation = evaluate(part.data, row.item.basis)
            if isinstance(evaluation, Evaluation) and not isinstance(evaluation.value, str):
                found.append(evaluation.value)
    return found


def _is_grounded(figure: StatedValue | Share, grounds: Sequence[Decimal | Fraction | Share]) -> bool:
    if isinstance(figure, Share):
        return figure in grounds
    return any(_is_same(figure, ground) for ground in grounds)


def _is_same(figure: StatedValue, ground: Decimal | Fraction | Share) -> bool:
    if isinstance(ground, Share):
        share = Fraction(ground.part, ground.whole)
        return any(_rounds_to(figure, value) for value in (Fraction(ground.part), share, share * 100))
    # Most values are far apart, so compare in floating point first.
    half = 0.51 * 10.0**-figure.decimals
    if abs(abs(float(ground)) - abs(float(figure.value))) > half:
        return False
    return _rounds_to(figure, Fraction(ground))


def _rounds_to(figure: StatedValue, value: Fraction) -> bool:
    """Whether ``value``, without its sign, rounds to the figure and not too coarsely."""
    off = abs(abs(value) - abs(figure.value))
    return off <= Fraction(1, 2 * 10**figure.decimals) and off <= MAX_ROUNDING_ERROR * abs(value)
