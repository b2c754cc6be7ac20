"""Exact arithmetic on a small language, with no names, no attributes and bounded size.

``ExpressionReader`` parses and computes in one pass what all such languages share: sums, signs, parentheses and calls.

The calculator of seats has ``+ - * / ** ( )``, ``7 % 3`` (remainder), ``15 %`` (per cent: 0.15), and ``min max sum mean
round sqrt percent_change``. Numbers are exact fractions; only ``sqrt`` and fractional powers are rounded, to 40 digits.
``round(x, n)`` rounds halves away from zero. A mistake gives a result with a reason, never an exception.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Context, Decimal, DecimalException
from fractions import Fraction
from math import isqrt
from typing import Generic, TypeVar

from disputatio.kernel import JsonObject

Value = TypeVar("Value")


class ExpressionError(Exception):
    """Why an expression has no value."""


def tokenize(pattern: re.Pattern[str], text: str) -> list[str]:
    """Split ``text`` by ``pattern``, without spaces.

    Raises:
        ExpressionError: a part does not match.
    """
    text = text.strip()
    tokens: list[str] = []
    place = 0
    while place < len(text):
        found = pattern.match(text, place)
        if found is None:
            raise ExpressionError(f"'{text[place:].strip()[:1]}' cannot be computed with")
        tokens.append(found.group().strip())
        place = found.end()
    return tokens


class ExpressionReader(Generic[Value]):
    """Parses and computes in one pass.

    Args:
        tokens: the expression.
        deepest: the limit of nested parentheses.
    """

    def __init__(self, tokens: list[str], deepest: int) -> None:
        self._tokens = tokens
        self._deepest = deepest
        self._place = 0
        self._depth = 0

    def _product(self) -> Value:
        """Read one summand."""
        raise NotImplementedError

    def _unsigned(self) -> Value:
        """Read what may have signs before it."""
        raise NotImplementedError

    def _added(self, left: Value, right: Value, sign: str) -> Value:
        raise NotImplementedError

    def _negated(self, value: Value) -> Value:
        raise NotImplementedError

    def _next(self) -> str:
        return self._tokens[self._place] if self._place < len(self._tokens) else ""

    def _take(self, *wanted: str) -> str:
        token = self._next()
        if token and token in wanted:
            self._place += 1
            return token
        return ""

    def _sum(self) -> Value:
        self._depth += 1
        if self._depth > self._deepest:
            raise ExpressionError(f"there are more than {self._deepest} parentheses in each other")
        value = self._product()
        while sign := self._take("+", "-"):
            value = self._added(value, self._product(), sign)
        self._depth -= 1
        return value

    def _signed(self) -> Value:
        negative = False
        while sign := self._take("+", "-"):
            negative ^= sign == "-"
        value = self._unsigned()
        return self._negated(value) if negative else value

    def _parenthesis(self) -> Value:
        """Read up to the closing parenthesis."""
        value = self._sum()
        self._close()
        return value

    def _arguments(self, name: str, called: str) -> list[Value]:
        """Read the arguments of ``name`` in parentheses; errors call them ``called``."""
        if not self._take("("):
            raise ExpressionError(f"{name} is followed by its {called} in parentheses")
        values = [self._sum()]
        while self._take(","):
            values.append(self._sum())
        self._close()
        return values

    def _close(self) -> None:
        if not self._take(")"):
            raise ExpressionError("a parenthesis is not closed")


MAX_EXPRESSION_CHARS = 500
"""In characters."""

_MAX_DEPTH = 50
_MAX_BITS = 4_096
_MAX_POWER = 1_000
_RESULT_DIGITS = 15
_CONTEXT = Context(prec=40)
_TOKEN = re.compile(r"\s*(?:(\d+(?:\.\d+)?(?:[eE][+-]?\d{1,3})?|\.\d+)|([a-z_]+)|(\*\*|[-+*/%(),]))")
_GROUPED = re.compile(r"(?<![\d.])\d{1,3}(?:,\d{3})+(?!\d)")
_SIGNS = str.maketrans(
    {"\u00d7": "*", "\u00b7": "*", "\u00f7": "/", "\u2212": "-", "\u2013": "-", "^": "\u0001", "\u00a0": " "}
)


@dataclass(frozen=True, slots=True)
class Calculation:
    """An expression and its value, or an error.

    ``value`` is a decimal number, empty after an error; ``exact`` is false if it was rounded, to 15 digits.
    """

    expression: str
    value: str = ""
    exact: bool = False
    error: str = ""

    def as_json(self) -> JsonObject:
        """Return the recorded form."""
        if self.error:
            return {"expression": self.expression, "error": self.error}
        return {"expression": self.expression, "value": self.value, "exact": self.exact}


def calculate(expression: str) -> Calculation:
    """Compute ``expression``; safe on anything a model may write."""
    try:
        if len(expression) > MAX_EXPRESSION_CHARS:
            raise ExpressionError(
                f"the expression has {len(expression)} characters, and {MAX_EXPRESSION_CHARS} are the most"
            )
        value, exact = _Parser(expression).whole()
        shown, whole = _format_fraction(value)
    except ExpressionError as mistake:
        return Calculation(expression[:MAX_EXPRESSION_CHARS], error=str(mistake))
    return Calculation(expression, shown, exact and whole)


def _format_fraction(value: Fraction) -> tuple[str, bool]:
    """Return ``value`` in decimal digits, and whether they are exact."""
    try:
        rounded = Context(prec=_RESULT_DIGITS).divide(Decimal(value.numerator), Decimal(value.denominator))
    except DecimalException:
        raise ExpressionError("the value is too large to be written") from None
    plain = rounded.normalize(Context(prec=_RESULT_DIGITS))
    text = f"{plain:f}" if -12 <= plain.adjusted() <= 20 else str(plain)
    return ("0" if plain == 0 else text), Fraction(rounded) == value


class _Parser(ExpressionReader[Fraction]):
    """Parses calculations. ``_exact`` becomes false once something is rounded."""

    def __init__(self, expression: str) -> None:
        super().__init__(_tokenize(expression), _MAX_DEPTH)
        self._exact = True

    def whole(self) -> tuple[Fraction, bool]:
        """Return the value of the whole expression, and whether it is exact."""
        value = self._sum()
        if self._next():
            raise ExpressionError(f"'{self._next()}' is not expected here")
        return value, self._exact

    def _added(self, left: Fraction, right: Fraction, sign: str) -> Fraction:
        return _check_size(left + right if sign == "+" else left - right)

    def _negated(self, value: Fraction) -> Fraction:
        return -value

    def _product(self) -> Fraction:
        value = self._signed()
        while sign := self._take("*", "/", "%"):
            other = self._signed()
            if sign == "*":
                value = _check_size(value * other)
            elif other == 0:
                raise ExpressionError("a division by zero has no value")
            else:
                value = _check_size(value / other if sign == "/" else value % other)
        return value

    def _unsigned(self) -> Fraction:
        """Read a power, which binds more tightly than a sign before it."""
        base = self._percent(self._single())
        if not self._take("**"):
            return base
        self._depth += 1
        if self._depth > _MAX_DEPTH:
            raise ExpressionError(f"there are more than {_MAX_DEPTH} powers of powers")
        exponent = self._signed()
        self._depth -= 1
        return self._percent(self._raised(base, exponent))

    def _percent(self, value: Fraction) -> Fraction:
        """Divide ``value`` by 100 for each per cent sign without an operand after it."""
        while self._next() == "%":
            following = self._tokens[self._place + 1] if self._place + 1 < len(self._tokens) else ""
            if following[:1].isalnum() or following[:1] in {"(", "."}:
                break
            self._place += 1
            value /= 100
        return value

    def _single(self) -> Fraction:
        token = self._next()
        self._place += 1
        if not token:
            raise ExpressionError("the expression ends where a number is expected")
        if token[0].isdigit() or token[0] == ".":
            return _check_size(Fraction(token))
        if token[0] == "(":
            return self._parenthesis()
        if token[0].isalpha() or token[0] == "_":
            return self._called(token)
        raise ExpressionError(f"'{token}' stands where a number is expected")

    def _called(self, name: str) -> Fraction:
        function = _FUNCTIONS.get(name)
        if function is None:
            raise ExpressionError(f"there is no '{name[:40]}'; there are: {', '.join(sorted(_FUNCTIONS))}")
        return _check_size(function(self, self._arguments(name, "numbers")))

    def root(self, numbers: list[Fraction]) -> Fraction:
        """Return the square root of one number."""
        (number,) = _check_count("sqrt", numbers, 1)
        if number < 0:
            raise ExpressionError("a negative number has no square root here")
        top, bottom = isqrt(number.numerator), isqrt(number.denominator)
        if top * top == number.numerator and bottom * bottom == number.denominator:
            return Fraction(top, bottom)
        self._exact = False
        return Fraction(_CONTEXT.sqrt(_CONTEXT.divide(Decimal(number.numerator), Decimal(number.denominator))))

    def _raised(self, base: Fraction, exponent: Fraction) -> Fraction:
        if base == 0 and exponent < 0:
            raise ExpressionError("zero has no negative power")
        if abs(exponent) > _MAX_POWER:
            raise ExpressionError(f"a power may be {_MAX_POWER} at most")
        if exponent.denominator == 1:
            bits = max(base.numerator.bit_length(), base.denominator.bit_length())
            if bits * abs(exponent.numerator) > _MAX_BITS:
                raise ExpressionError("the value is too large")
            return Fraction(base**exponent.numerator)
        if base < 0:
            raise ExpressionError("a negative number has no fractional power here")
        self._exact = False
        try:
            shown = [_CONTEXT.divide(Decimal(part.numerator), Decimal(part.denominator)) for part in (base, exponent)]
            return Fraction(_CONTEXT.power(*shown))
        except DecimalException:
            raise ExpressionError("the value is too large") from None


def _tokenize(expression: str) -> list[str]:
    grouped = _GROUPED.search(expression)
    if grouped:
        raise ExpressionError(
            f"write {grouped.group().replace(',', '')} for {grouped.group()}, and a space behind commas"
        )
    return tokenize(_TOKEN, expression.translate(_SIGNS).replace("\u0001", "**"))


def _check_size(value: Fraction) -> Fraction:
    if max(value.numerator.bit_length(), value.denominator.bit_length()) > _MAX_BITS:
        raise ExpressionError("the value is too large or has too many digits")
    return value


def _check_count(name: str, numbers: list[Fraction], *allowed: int) -> list[Fraction]:
    if len(numbers) not in allowed:
        wanted = " or ".join(map(str, allowed)) + (" number" if allowed == (1,) else " numbers")
        raise ExpressionError(f"{name} takes {wanted}, not {len(numbers)}")
    return numbers


def _round(_: _Parser, numbers: list[Fraction]) -> Fraction:
    value, *places = _check_count("round", numbers, 1, 2)
    digits = places[0] if places else Fraction(0)
    if digits.denominator != 1 or abs(digits) > 30:
        raise ExpressionError("round takes a whole number of digits from -30 to 30")
    factor = Fraction(10) ** digits.numerator
    whole = (abs(value) * factor + Fraction(1, 2)) // 1
    return Fraction(whole) / factor * (-1 if value < 0 else 1)


def _percent_change(_: _Parser, numbers: list[Fraction]) -> Fraction:
    old, new = _check_count("percent_change", numbers, 2)
    if old <= 0:
        raise ExpressionError("a change in per cent is measured from a number above zero")
    return (new - old) / old * 100


_FUNCTIONS: dict[str, Callable[[_Parser, list[Fraction]], Fraction]] = {
    "min": lambda _, numbers: min(numbers),
    "max": lambda _, numbers: max(numbers),
    "sum": lambda _, numbers: sum(numbers, Fraction(0)),
    "mean": lambda _, numbers: sum(numbers, Fraction(0)) / len(numbers),
    "round": _round,
    "sqrt": _Parser.root,
    "percent_change": _percent_change,
}
