"""Find figures in a text: numbers with their sign, bound, scale and unit, and numbers written as words.

A figure is one thing: a quote may not cut ``-5`` to ``5``, ``3 million`` to ``3``, ``at least 5`` to ``5`` or ``10-12
h`` to ``12 h``. Two texts state the same figures if their keys are equal, in order. A key consists of value (``1,000``
is ``1000``, ``3`` is ``three``), sign, bound and unit.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from difflib import SequenceMatcher

from disputatio.evidence.number_lexicon import (
    BOUND_WORDS,
    BOUNDS,
    COUNTING,
    HAN_FIGURES,
    MONTHS,
    ONES,
    ORDINALS,
    TENS,
    find_scale,
    find_unit,
)
from disputatio.evidence.tokens import DASH, GLUED, LETTER, NUMBER, POINT, SIGN, SPACE, WORD, Tokens

_JOINING_DASHES = frozenset("-\u2010\u2011\u2012\u2013\u2212")
_LEADING_SIGNS = frozenset("+\u00b1\u2212<>=~\u2264\u2265\u2248#")
_INNER_POINTS = frozenset(":/.,'")


_CURRENCY_SIGNS = {
    "$": "usd",
    "\u20ac": "eur",
    "\u00a3": "gbp",
    "\u00a5": "\u00a5",
    "\u20b9": "inr",
    "\u20bd": "\u20bd",
    "\u20a9": "\u20a9",
    "\u20ba": "\u20ba",
    "\u20bf": "\u20bf",
    "\u20ab": "\u20ab",
    "\u00a2": "cent",
}
"""The unit of each currency sign. The yen's sign is also the yuan's, so it remains a unit of its own."""
_CURRENCY_CODES = frozenset({"usd", "eur", "gbp", "chf", "jpy", "cny", "inr"})
_MONEY_SCALES = {
    "k": Decimal(1_000),
    "m": Decimal(1_000_000),
    "mn": Decimal(1_000_000),
    "b": Decimal(1_000_000_000),
    "bn": Decimal(1_000_000_000),
    "tn": Decimal(1_000_000_000_000),
}


REACH = 8
"""How many tokens around one are searched for the rest of its figure."""


@dataclass(frozen=True, slots=True)
class Figure:
    """Tokens ``first`` to ``last`` of a text, and what they state.

    ``value`` is the number if there is one plain number, with its scale applied. ``places`` counts decimal digits
    (negative before the point: -5 for ``1.2 million``).
    """

    first: int
    last: int
    keys: tuple[str, ...]
    value: Decimal | None = None
    places: int = 0
    unit: str = ""
    bound: str = ""


def parse_number(literal: str) -> Decimal | None:
    """Parse digits with separators; None if they are ambiguous, or a date, time or version.

    A comma before exactly three digits groups thousands; a single point is a decimal point.
    """
    if re.fullmatch(r"\d+(\.\d+)?", literal):
        return Decimal(literal)
    if re.fullmatch(r"\d{1,3}(?:(?:,\d{3})+|(?:'\d{3})+)(\.\d+)?", literal):
        return Decimal(literal.replace(",", "").replace("'", ""))
    if re.fullmatch(r"\d{1,3}(\.\d{3}){2,}(,\d+)?|\d{1,3}(\.\d{3})+,\d+", literal):
        return Decimal(literal.replace(".", "").replace(",", "."))
    if re.fullmatch(r"\d+,(\d{1,2}|\d{4,})", literal):
        return Decimal(literal.replace(",", "."))
    return None


def find_figures(tokens: Tokens, first: int, last: int) -> list[Figure]:
    """Find the figures among tokens ``first`` to ``last``, in order, without overlaps."""
    found: list[Figure] = []
    token = first
    while token <= last:
        figure = _read_figure(tokens, token, first if not found else found[-1].last + 1, last)
        if figure is None:
            token += 1
        else:
            found.append(figure)
            token = figure.last + 1
    return found


def collect_keys(found: Sequence[Figure]) -> list[str]:
    """List the keys of several figures."""
    return [key for figure in found for key in figure.keys]


def find_figure(tokens: Tokens, token: int) -> Figure | None:
    """Return the figure that contains ``token``, or None."""
    near = find_figures(tokens, max(0, token - REACH), min(len(tokens) - 1, token + REACH))
    return next((figure for figure in near if figure.first <= token <= figure.last), None)


def find_first_difference(
    source: Sequence[Figure], quote: Sequence[Figure]
) -> tuple[Figure | None, Figure | None] | None:
    """Return the first figure that differs, and its counterpart; None if all keys are equal, in order."""
    if collect_keys(source) == collect_keys(quote):
        return None
    matcher = SequenceMatcher(None, [f.keys for f in source], [f.keys for f in quote], autojunk=False)
    for tag, from_source, source_end, from_quote, quote_end in matcher.get_opcodes():
        if tag != "equal":
            return (
                source[from_source] if from_source < source_end else None,
                quote[from_quote] if from_quote < quote_end else None,
            )
    return (source[0] if source else None, quote[0] if quote else None)


def _read_figure(tokens: Tokens, token: int, first: int, last: int) -> Figure | None:
    kind, fold = tokens.kinds[token], tokens.folds[token]
    if kind == NUMBER:
        return _FigureReader(tokens, first, last).number(token)
    if kind == WORD:
        if any(char.isdigit() for char in fold):
            return Figure(token, token, (fold,))
        if fold in ONES or fold in TENS:
            return _FigureReader(tokens, first, last).spelled(token)
        if fold in ORDINALS:
            return Figure(token, token, (f"no. {ORDINALS[fold]}",))
        if fold in COUNTING:
            return Figure(token, token, (fold,))
        if fold in MONTHS and _is_beside_number(tokens, token):
            return Figure(token, token, (f"month {MONTHS[fold]}",))
    if kind == LETTER and fold in HAN_FIGURES:
        end = token
        while end < last and tokens.folds[end + 1] in HAN_FIGURES:
            end += 1
        return Figure(token, end, ("".join(tokens.folds[token : end + 1]),))
    if kind == SIGN and not fold.isascii() and any(char.isnumeric() for char in fold):
        return Figure(token, token, (fold,))
    return None


def _is_beside_number(tokens: Tokens, token: int) -> bool:
    after = token + 1
    if after < len(tokens) and tokens.folds[after] == ".":
        after += 1
    before = token > 0 and tokens.kinds[token - 1] == NUMBER
    return before or (after < len(tokens) and tokens.kinds[after] == NUMBER)


@dataclass(slots=True)
class _FigureReader:
    """Reads one figure from tokens ``first`` to ``last``."""

    tokens: Tokens
    first: int
    last: int

    def number(self, token: int) -> Figure:
        """Read the figure around the digits at ``token``."""
        start, sign = self._signs(token)
        start, currency, sign = self._currency(start, sign)
        literals, end = self._literals(token)
        factor, scale, unit, end = self._tail(end, currency)
        start, bound = self._bound(start)
        start = self._word_before(start)
        values = [parse_number(literal) for literal in literals]
        plain = values[0] if len(values) == 1 else None
        keys = [_format_number(value, literal) for value, literal in zip(values, literals, strict=True)]
        places = 0
        if plain is not None:
            places = -int(plain.as_tuple().exponent)
            plain = -plain if "\u2212" in sign else plain
            if factor is not None:
                plain *= factor
                places -= len(str(int(factor))) - 1 if str(factor).strip("0") == "1" else 0
                keys[-1] = _format_number(abs(plain), literals[-1])
        if scale and (factor is None or plain is None):
            keys[-1] += " " + scale
        keys[0] = f"{bound} {sign}{keys[0]}".strip()
        keys[-1] = f"{keys[-1]} {unit}".strip()
        single = (
            plain is not None and not (scale and factor is None) and not set(sign) & set("<>~\u00b1\u2264\u2265\u2248#")
        )
        return Figure(start, end, tuple(keys), plain if single else None, places, unit, bound)

    def spelled(self, token: int) -> Figure:
        """Read the number word at ``token``, such as ``twenty-five million``."""
        folds = self.tokens.folds
        value = Decimal(ONES[folds[token]] if folds[token] in ONES else TENS[folds[token]])
        end = token
        if folds[token] in TENS and token < self.last and 0 < ONES.get(folds[token + 1], 0) < 10:
            value += ONES[folds[token + 1]]
            end += 1
        factor, scale, unit, end = self._tail(end, "")
        start, bound = self._bound(token)
        key = _format_number(value * factor if factor is not None else value, "")
        key += f" {scale}" if scale and factor is None else ""
        return Figure(start, end, (f"{bound} {key} {unit}".strip(),), unit=unit, bound=bound)

    def _signs(self, token: int) -> tuple[int, str]:
        """Return where the signs and currencies before ``token`` begin, and all of them concatenated."""
        tokens, sign = self.tokens, ""
        while token > self.first and tokens.kinds[token - 1] == SIGN and tokens.joints[token] in {GLUED, SPACE}:
            fold = tokens.folds[token - 1]
            if self._on_new_line(token) or (fold not in _LEADING_SIGNS and not _is_currency(fold)):
                break
            sign = fold + sign
            token -= 1
        return token, sign

    def _currency(self, start: int, sign: str) -> tuple[int, str, str]:
        """Return the start, the unit of a currency before the number, and the signs without it.

        The currency is a sign or a code: ``$5`` and ``USD 5`` are ``5 dollars``.
        """
        mark = next((char for char in sign if _is_currency(char)), "")
        if mark:
            return start, _CURRENCY_SIGNS[mark], sign.replace(mark, "")
        if (
            start > self.first
            and self.tokens.joints[start] == SPACE
            and self.tokens.folds[start - 1] in _CURRENCY_CODES
        ):
            return start - 1, find_unit(self.tokens.folds[start - 1]) or "", sign
        return start, "", sign

    def _literals(self, token: int) -> tuple[list[str], int]:
        """Return the digits from ``token`` on, several for a range, and their last token."""
        tokens = self.tokens
        literals = [tokens.folds[token]]
        while token < self.last:
            following = token + 1
            kind, fold, joint = tokens.kinds[following], tokens.folds[following], tokens.joints[following]
            power = joint == GLUED and kind == SIGN and (fold[0] == "^" or fold[0].isnumeric())
            group = kind == NUMBER and joint == SPACE and self._is_group(token, literals[-1])
            if power or group:
                literals[-1] += fold
                token = following
            elif kind == NUMBER and joint == DASH and self._hyphenated(following):
                literals.append(fold)
                token = following
            elif joint == GLUED and fold in _INNER_POINTS and self._digits_follow(following):
                literals[-1] += fold + tokens.folds[following + 1]
                token = following + 1
            else:
                break
        return literals, token

    def _is_group(self, token: int, literal: str) -> bool:
        """Whether the next number continues this one with three digits, as in ``12 500``."""
        following = self.tokens.folds[token + 1]
        return len(self.tokens.folds[token]) <= 3 and literal.isdigit() and len(following) == 3 and following.isdigit()

    def _digits_follow(self, token: int) -> bool:
        return token < self.last and self.tokens.kinds[token + 1] == NUMBER and self.tokens.joints[token + 1] == GLUED

    def _hyphenated(self, token: int) -> bool:
        """Whether only a short dash precedes ``token``."""
        return self.tokens.text[self.tokens.ends[token - 1] : self.tokens.starts[token]] in _JOINING_DASHES

    def _tail(self, token: int, currency: str) -> tuple[Decimal | None, str, str, int]:
        """Return the factor, scale and unit after ``token``, and their last token.

        After a leading currency a glued letter is a scale: ``$5m`` is five million dollars.
        """
        factor: Decimal | None = None
        scale = ""
        unit = currency
        while token < self.last:
            following = token + 1
            joint, fold = self.tokens.joints[following], self.tokens.folds[following]
            near = joint in {GLUED, SPACE} or (joint == DASH and self._hyphenated(following))
            if not near or self.tokens.kinds[following] not in {WORD, SIGN, POINT}:
                break
            if self._on_new_line(following) and self._raw(following)[:1].isupper():
                break  # the heading or the entry below, not a unit
            glued = joint == GLUED
            if glued and currency and not scale and fold in _MONEY_SCALES:
                factor, scale = _MONEY_SCALES[fold], fold
                token = following
                continue
            found = None if scale else find_scale(fold, glued=glued)
            if (
                found is not None
                and unit == currency
                and not (glued and fold == "m" and not self._raw(following).isupper())
            ):
                factor, scale = found
            elif unit == currency and (part := self._unit(following, glued=glued)):
                if currency and part[0] != currency and not glued:
                    break  # the currency is the unit; what follows is another word
                unit, following = part
            else:
                break
            token = following
        return factor, scale, unit, token

    def _unit(self, token: int, *, glued: bool) -> tuple[str, int] | None:
        """Return the unit at ``token`` and its last token; any word glued to a number counts as one."""
        raw, kind = self._raw(token), self.tokens.kinds[token]
        if kind == POINT:
            # Feet, inches, minutes and seconds look like quotation marks.
            return None
        if kind == SIGN:
            fold = self.tokens.folds[token]
            scale = self.tokens.folds[token + 1] if token < self.last and self.tokens.joints[token + 1] == GLUED else ""
            if fold == "\u00b0" and scale in {"c", "f"}:
                return fold + scale, token + 1
            return (fold, token) if fold[0] in "%\u2030\u00b0" or _is_currency(fold) else None
        if self.tokens.folds[token] == "per" and token < self.last and self.tokens.folds[token + 1] == "cent":
            return "%", token + 1
        unit = find_unit(raw, glued=glued)
        if unit is None and glued:
            unit = self.tokens.folds[token]
        return (unit, token) if unit is not None else None

    def _bound(self, token: int) -> tuple[int, str]:
        """Return where the bound before ``token`` begins, and its words, such as ``at least``."""
        folds, joints = self.tokens.folds, self.tokens.joints
        if token <= self.first or joints[token] != SPACE:
            return token, ""
        before = folds[token - 1]
        if before in BOUND_WORDS:
            return token - 1, before
        leads = BOUNDS.get(before)
        if leads and token - 1 > self.first and joints[token - 1] == SPACE and folds[token - 2] in leads:
            return token - 2, f"{folds[token - 2]} {before}"
        return token, ""

    def _word_before(self, token: int) -> int:
        """Return where a name such as ``COVID-19`` begins, if it ends with this number."""
        joined = token > self.first and self.tokens.joints[token] == DASH and self._hyphenated(token)
        return token - 1 if joined and self.tokens.kinds[token - 1] == WORD else token

    def _on_new_line(self, token: int) -> bool:
        return "\n" in self.tokens.text[self.tokens.ends[token - 1] : self.tokens.starts[token]]

    def _raw(self, token: int) -> str:
        return self.tokens.raw(token, token)


def _format_number(value: Decimal | None, literal: str) -> str:
    if value is None:
        return literal
    plain = f"{value:f}"
    return plain.rstrip("0").rstrip(".") if "." in plain else plain


def _is_currency(fold: str) -> bool:
    return fold in _CURRENCY_SIGNS
