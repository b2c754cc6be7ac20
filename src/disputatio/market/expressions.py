"""Evaluate pointers and arithmetic over them: exact fractions with units.

The language has ``+ - * /``, parentheses, ``abs min max mean percent_change(old, new)``, numbers and pointers such as
``indices.EXI.returns.20d``, in bounded size. A mistake gives a result with a reason, never an exception.

Units follow the arithmetic: a difference of two percentages is in percentage points, a ratio of equal units is a
number, a ratio times 100 is in per cent, per cent times 100 are basis points. Other mixtures have an unknown unit.

Numbers that change a scale (0, 1, 2, 4, 12, 100) are free. Any other number is the analyst's own; the evaluation lists
it, so that the result is not taken for the base's.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple

from disputatio.evidence.calculator import ExpressionError, ExpressionReader, tokenize
from disputatio.market.knowledge import Datum, Share, Unit

MAX_EXPRESSION_CHARS = 600
"""A rule over a figure of eleven sectors needs some 440 characters."""

SCALES = frozenset({0, 1, 2, 4, 12, 100})
"""Numbers that an expression may use freely, at most ``MAX_SCALES`` of them."""

MAX_SCALES = 3
NUMBER = "number"
"""The unit of ratios and multiples."""
BASIS_POINTS = "bp"
UNKNOWN = "unknown"

_MAX_DEPTH = 20
_POINTER = r"[A-Za-z_]\w*(?:\.\w+)+"
_TOKEN = re.compile(rf"\s*(?:({_POINTER})|(\d+(?:\.\d+)?|\.\d+)|([a-z_]+)|([-+*/(),]))")
_WHOLE_POINTER = re.compile(_POINTER)
_WRITTEN = str.maketrans({"\u00d7": "*", "\u00f7": "/", "\u2212": "-", "\u2013": "-", "\u00a0": " "})


class Evaluation(NamedTuple):
    """The value of a pointer or an expression.

    Attributes:
        value: an exact fraction; a share or label if the basis is one pointer to it.
        unit: a unit's text, or ``number``, ``bp`` or ``unknown``.
        pointers: every pointer, in order of appearance, without duplicates.
        own_numbers: numbers without a source, as written.
    """

    value: Fraction | Share | str
    unit: str
    pointers: tuple[str, ...]
    own_numbers: tuple[str, ...] = ()


class Unresolved(NamedTuple):
    """Why there is no value.

    Attributes:
        reason: a clause for people.
        pointer: the pointer without a value; empty if the expression is malformed.
        pointers: the pointers read so far.
    """

    reason: str
    pointer: str = ""
    pointers: tuple[str, ...] = ()


class _NoValueError(ExpressionError):
    """A pointer has no value."""

    def __init__(self, reason: str, pointer: str) -> None:
        super().__init__(reason)
        self.pointer = pointer


class _Term(NamedTuple):
    value: Fraction
    unit: str
    constant: bool = False


def is_pointer(basis: str) -> bool:
    """Whether ``basis`` is a single pointer."""
    return _WHOLE_POINTER.fullmatch(basis.strip()) is not None


# Cached: origin, visibility and value of a figure each need it.
@lru_cache(maxsize=1024)
def find_pointers(basis: str) -> tuple[str, ...]:
    """Return the pointers in ``basis`` in order, without duplicates, even if it is malformed."""
    return tuple(dict.fromkeys(_WHOLE_POINTER.findall(basis[:MAX_EXPRESSION_CHARS])))


def evaluate(data: Mapping[str, Datum], basis: str) -> Evaluation | Unresolved:
    """Evaluate ``basis`` over ``data``; safe on anything a model may write."""
    found = find_pointers(basis)
    if len(basis) > MAX_EXPRESSION_CHARS:
        return Unresolved(f"it has {len(basis)} characters, and {MAX_EXPRESSION_CHARS} are the most", "", found)
    try:
        if found and is_pointer(basis):
            return _evaluate_pointer(data, basis.strip())
        parser = _Parser(data, basis)
        term = parser.whole()
    except _NoValueError as mistake:
        return Unresolved(str(mistake), mistake.pointer, found)
    except ExpressionError as mistake:
        return Unresolved(str(mistake), "", found)
    if not found:
        return Unresolved("it names no value of the knowledge base")
    return Evaluation(term.value, term.unit, found, parser.own_numbers())


def _find_datum(data: Mapping[str, Datum], pointer: str) -> Datum:
    datum = data.get(pointer)
    if datum is None:
        raise _NoValueError(f"there is no {pointer[:80]}", pointer)
    if not datum.is_known:
        raise _NoValueError(f"{pointer} holds no value: {datum.why_not}", pointer)
    return datum


def _evaluate_pointer(data: Mapping[str, Datum], pointer: str) -> Evaluation:
    datum = _find_datum(data, pointer)
    if datum.number is not None:
        return Evaluation(Fraction(datum.number), _unit_name(datum.unit), (pointer,))
    value = datum.share if datum.share is not None else datum.label
    return Evaluation(value if value is not None else "", datum.unit.value, (pointer,))


def _unit_name(unit: Unit) -> str:
    return NUMBER if unit in {Unit.TIMES, Unit.SHARE} else unit.value


class _Parser(ExpressionReader[_Term]):
    """Collects the numbers without a source."""

    def __init__(self, data: Mapping[str, Datum], basis: str) -> None:
        super().__init__(tokenize(_TOKEN, basis if basis.isascii() else basis.translate(_WRITTEN)), _MAX_DEPTH)
        self._data = data
        self._constants: list[str] = []

    def whole(self) -> _Term:
        term = self._sum()
        if self._next():
            raise ExpressionError(f"'{self._next()[:40]}' is not expected there")
        return term

    def own_numbers(self) -> tuple[str, ...]:
        """The numbers that are not scales; all of them if there are too many scales."""
        own = [text for text in self._constants if Fraction(text) not in SCALES]
        return tuple(self._constants if len(self._constants) - len(own) > MAX_SCALES else own)

    def _added(self, left: _Term, right: _Term, sign: str) -> _Term:
        return _add(left, right, sign)

    def _negated(self, value: _Term) -> _Term:
        return _Term(-value.value, value.unit, value.constant)

    def _product(self) -> _Term:
        term = self._signed()
        while sign := self._take("*", "/"):
            other = self._signed()
            term = _multiply(term, other) if sign == "*" else _divide(term, other)
        return term

    def _unsigned(self) -> _Term:
        token = self._next()
        self._place += 1
        if not token:
            raise ExpressionError("it ends where a value is expected")
        if token[0].isdigit() or token[0] == ".":
            self._constants.append(token)
            return _Term(Fraction(token), NUMBER, constant=True)
        if token[0] == "(":
            return self._parenthesis()
        if "." in token:
            return self._pointed(token)
        if token in _FUNCTIONS:
            return _FUNCTIONS[token](self._arguments(token, "values"))
        raise ExpressionError(f"'{token[:40]}' stands where a value is expected")

    def _pointed(self, pointer: str) -> _Term:
        datum = _find_datum(self._data, pointer)
        if datum.label is not None:
            raise ExpressionError(f"{pointer} is the word '{datum.label}', which cannot be computed with")
        share = datum.share
        value = Fraction(share.part, share.whole) if share is not None else Fraction(datum.number or Decimal(0))
        return _Term(value, _unit_name(datum.unit))


_RATES = frozenset({Unit.PERCENT.value, Unit.PERCENTAGE_POINTS.value})


def _add(left: _Term, right: _Term, sign: str) -> _Term:
    value = left.value + right.value if sign == "+" else left.value - right.value
    if left.constant and right.constant:
        return _Term(value, NUMBER, constant=True)
    if left.constant or right.constant:
        return _Term(value, right.unit if left.constant else left.unit)
    units = {left.unit, right.unit}
    if units == {Unit.PERCENT.value}:
        return _Term(value, Unit.PERCENT.value if sign == "+" else Unit.PERCENTAGE_POINTS.value)
    if units == _RATES:
        return _Term(value, Unit.PERCENT.value)
    return _Term(value, left.unit if len(units) == 1 else UNKNOWN)


def _multiply(left: _Term, right: _Term) -> _Term:
    value = left.value * right.value
    if left.constant and right.constant:
        return _Term(value, NUMBER, constant=True)
    if left.constant or right.constant:
        scale, term = (left, right) if left.constant else (right, left)
        return _Term(value, _scale_unit(term.unit, scale.value))
    if NUMBER in {left.unit, right.unit}:
        return _Term(value, right.unit if left.unit == NUMBER else left.unit)
    return _Term(value, UNKNOWN)


def _scale_unit(unit: str, scale: Fraction) -> str:
    if abs(scale) != 100:
        return unit
    return Unit.PERCENT.value if unit == NUMBER else BASIS_POINTS if unit in _RATES else unit


def _divide(left: _Term, right: _Term) -> _Term:
    if right.value == 0:
        raise ExpressionError("a division by zero has no value")
    value = left.value / right.value
    if left.constant and right.constant:
        return _Term(value, NUMBER, constant=True)
    if right.constant:
        unit = left.unit
        if abs(right.value) == 100:
            unit = {BASIS_POINTS: Unit.PERCENT.value}.get(unit, NUMBER if unit in _RATES else unit)
        return _Term(value, unit)
    if left.constant:
        return _Term(value, _scale_unit(NUMBER, left.value) if right.unit == NUMBER else UNKNOWN)
    if left.unit == right.unit or {left.unit, right.unit} == _RATES:
        return _Term(value, NUMBER)
    return _Term(value, left.unit if right.unit == NUMBER else UNKNOWN)


def _require_one_unit(terms: list[_Term]) -> str:
    units = {term.unit for term in terms if not term.constant}
    return units.pop() if len(units) == 1 else UNKNOWN if units else NUMBER


def _take_absolute(terms: list[_Term]) -> _Term:
    if len(terms) != 1:
        raise ExpressionError(f"abs takes one value, not {len(terms)}")
    return _Term(abs(terms[0].value), terms[0].unit, terms[0].constant)


def _make_choice(choose: Callable[[list[Fraction]], Fraction]) -> Callable[[list[_Term]], _Term]:
    def apply(terms: list[_Term]) -> _Term:
        return _Term(
            choose([term.value for term in terms]), _require_one_unit(terms), all(term.constant for term in terms)
        )

    return apply


def _percent_change(terms: list[_Term]) -> _Term:
    if len(terms) != 2:
        raise ExpressionError(f"percent_change takes the old and the new value, not {len(terms)}")
    old, new = terms
    if old.value <= 0:
        raise ExpressionError("a change in per cent is measured from a value above zero")
    if _require_one_unit(terms) == UNKNOWN:
        raise ExpressionError("a change in per cent is between two values of one unit")
    return _Term((new.value - old.value) / old.value * 100, Unit.PERCENT.value)


def _mean(values: list[Fraction]) -> Fraction:
    return sum(values, Fraction(0)) / len(values)


_FUNCTIONS: dict[str, Callable[[list[_Term]], _Term]] = {
    "abs": _take_absolute,
    "min": _make_choice(min),
    "max": _make_choice(max),
    "mean": _make_choice(_mean),
    "percent_change": _percent_change,
}


def format_value(found: Evaluation) -> str:
    """Format a value for people: ``-3.2 %``, ``18.75 %``, ``7/10``, ``above``."""
    if not isinstance(found.value, Fraction):
        return str(found.value)
    return f"{format_decimal(found.value)} {'' if found.unit in {NUMBER, UNKNOWN} else found.unit}".rstrip()


def format_decimal(value: Fraction, digits: int | None = None) -> str:
    """Format ``value`` with ``digits`` after the point, by default as many as needed up to four."""
    places = digits if digits is not None else 2 if abs(value) >= 100 else 4
    scaled = Decimal(round_half_up(value * 10**places)).scaleb(-places)
    text = f"{scaled:f}"
    return text.rstrip("0").rstrip(".") if digits is None and "." in text else text


def round_half_up(value: Fraction) -> int:
    """Round to a whole number, halves away from zero."""
    size = (abs(value) + Fraction(1, 2)) // 1
    return int(-size if value < 0 else size)
