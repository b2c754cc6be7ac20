"""Finds the figures in a text: numbers with their sign, bound, scale and unit, and numbers written as words.

A figure is one thing: a quote may not cut ``-5`` to ``5``, ``3 million`` to ``3``, ``at least 5`` to ``5`` or
``10-12 h`` to ``12 h``. Two texts say the same figures only when their keys are equal in order. A key has the value
(``1,000`` and ``1000`` are one, and so are ``3`` and ``three``), the sign, the bound and the unit.
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
"""What a sign of a currency says in the table of units; the yen's is the yuan's too, and so only itself."""
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
"""How many atoms around one are looked at for the rest of its figure."""


@dataclass(frozen=True, slots=True)
class Figure:
    """Atoms ``first`` to ``last`` of a text, and what they say.

    ``value`` is the number where it is a single plain one, in the scale given; ``places`` is how far the last digit
    given stands behind the decimal point (negative before it: -5 for ``1.2 million``).
    """

    first: int
    last: int
    keys: tuple[str, ...]
    value: Decimal | None = None
    places: int = 0
    unit: str = ""
    bound: str = ""


def parse_number(literal: str) -> Decimal | None:
    """The value of digits with separators; None where they can be read in two ways or are a date, time or version.

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


def find_figures(atoms: Tokens, first: int, last: int) -> list[Figure]:
    """The figures among atoms ``first`` to ``last``, in order; they do not overlap."""
    found: list[Figure] = []
    atom = first
    while atom <= last:
        figure = _read_figure(atoms, atom, first if not found else found[-1].last + 1, last)
        if figure is None:
            atom += 1
        else:
            found.append(figure)
            atom = figure.last + 1
    return found


def collect_keys(found: Sequence[Figure]) -> list[str]:
    """The keys of several figures in a row."""
    return [key for figure in found for key in figure.keys]


def find_figure(atoms: Tokens, atom: int) -> Figure | None:
    """The figure that ``atom`` is a part of, if it is one."""
    near = find_figures(atoms, max(0, atom - REACH), min(len(atoms) - 1, atom + REACH))
    return next((figure for figure in near if figure.first <= atom <= figure.last), None)


def find_first_difference(
    source: Sequence[Figure], quote: Sequence[Figure]
) -> tuple[Figure | None, Figure | None] | None:
    """The first figure where two texts part, and its counterpart; None where all keys are equal in order."""
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


def _read_figure(atoms: Tokens, atom: int, first: int, last: int) -> Figure | None:
    kind, fold = atoms.kinds[atom], atoms.folds[atom]
    if kind == NUMBER:
        return _FigureReader(atoms, first, last).number(atom)
    if kind == WORD:
        if any(char.isdigit() for char in fold):
            return Figure(atom, atom, (fold,))
        if fold in ONES or fold in TENS:
            return _FigureReader(atoms, first, last).spelled(atom)
        if fold in ORDINALS:
            return Figure(atom, atom, (f"no. {ORDINALS[fold]}",))
        if fold in COUNTING:
            return Figure(atom, atom, (fold,))
        if fold in MONTHS and _is_beside_number(atoms, atom):
            return Figure(atom, atom, (f"month {MONTHS[fold]}",))
    if kind == LETTER and fold in HAN_FIGURES:
        end = atom
        while end < last and atoms.folds[end + 1] in HAN_FIGURES:
            end += 1
        return Figure(atom, end, ("".join(atoms.folds[atom : end + 1]),))
    if kind == SIGN and not fold.isascii() and any(char.isnumeric() for char in fold):
        return Figure(atom, atom, (fold,))
    return None


def _is_beside_number(atoms: Tokens, atom: int) -> bool:
    after = atom + 1
    if after < len(atoms) and atoms.folds[after] == ".":
        after += 1
    before = atom > 0 and atoms.kinds[atom - 1] == NUMBER
    return before or (after < len(atoms) and atoms.kinds[after] == NUMBER)


@dataclass(slots=True)
class _FigureReader:
    """Reads one figure out of atoms ``first`` to ``last``."""

    atoms: Tokens
    first: int
    last: int

    def number(self, atom: int) -> Figure:
        """The figure around the digits at ``atom``."""
        start, sign = self._signs(atom)
        start, currency, sign = self._currency(start, sign)
        literals, end = self._literals(atom)
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

    def spelled(self, atom: int) -> Figure:
        """The figure of a number word at ``atom``, such as ``twenty-five million``."""
        folds = self.atoms.folds
        value = Decimal(ONES[folds[atom]] if folds[atom] in ONES else TENS[folds[atom]])
        end = atom
        if folds[atom] in TENS and atom < self.last and 0 < ONES.get(folds[atom + 1], 0) < 10:
            value += ONES[folds[atom + 1]]
            end += 1
        factor, scale, unit, end = self._tail(end, "")
        start, bound = self._bound(atom)
        key = _format_number(value * factor if factor is not None else value, "")
        key += f" {scale}" if scale and factor is None else ""
        return Figure(start, end, (f"{bound} {key} {unit}".strip(),), unit=unit, bound=bound)

    def _signs(self, atom: int) -> tuple[int, str]:
        """The signs and currencies in front of ``atom``: where they begin, and all of them in a row."""
        atoms, sign = self.atoms, ""
        while atom > self.first and atoms.kinds[atom - 1] == SIGN and atoms.joints[atom] in {GLUED, SPACE}:
            fold = atoms.folds[atom - 1]
            if self._on_new_line(atom) or (fold not in _LEADING_SIGNS and not _is_currency(fold)):
                break
            sign = fold + sign
            atom -= 1
        return atom, sign

    def _currency(self, start: int, sign: str) -> tuple[int, str, str]:
        """The currency in front of a number by its first name in the table of units, and the signs without it.

        It may be a sign or a code (``$5``, ``USD 5``), and then says what ``5 dollars`` says.
        """
        mark = next((char for char in sign if _is_currency(char)), "")
        if mark:
            return start, _CURRENCY_SIGNS[mark], sign.replace(mark, "")
        if start > self.first and self.atoms.joints[start] == SPACE and self.atoms.folds[start - 1] in _CURRENCY_CODES:
            return start - 1, find_unit(self.atoms.folds[start - 1]) or "", sign
        return start, "", sign

    def _literals(self, atom: int) -> tuple[list[str], int]:
        """The digits from ``atom`` on: several where a dash makes a range; and the last atom of them."""
        atoms = self.atoms
        literals = [atoms.folds[atom]]
        while atom < self.last:
            following = atom + 1
            kind, fold, joint = atoms.kinds[following], atoms.folds[following], atoms.joints[following]
            power = joint == GLUED and kind == SIGN and (fold[0] == "^" or fold[0].isnumeric())
            group = kind == NUMBER and joint == SPACE and self._is_group(atom, literals[-1])
            if power or group:
                literals[-1] += fold
                atom = following
            elif kind == NUMBER and joint == DASH and self._hyphenated(following):
                literals.append(fold)
                atom = following
            elif joint == GLUED and fold in _INNER_POINTS and self._digits_follow(following):
                literals[-1] += fold + atoms.folds[following + 1]
                atom = following + 1
            else:
                break
        return literals, atom

    def _is_group(self, atom: int, literal: str) -> bool:
        """Whether the number behind ``atom`` is three more digits of the same number, as in ``12 500``."""
        following = self.atoms.folds[atom + 1]
        return len(self.atoms.folds[atom]) <= 3 and literal.isdigit() and len(following) == 3 and following.isdigit()

    def _digits_follow(self, atom: int) -> bool:
        return atom < self.last and self.atoms.kinds[atom + 1] == NUMBER and self.atoms.joints[atom + 1] == GLUED

    def _hyphenated(self, atom: int) -> bool:
        """Whether nothing but a short dash stands before ``atom``."""
        return self.atoms.text[self.atoms.ends[atom - 1] : self.atoms.starts[atom]] in _JOINING_DASHES

    def _tail(self, atom: int, currency: str) -> tuple[Decimal | None, str, str, int]:
        """The factor, scale and unit behind ``atom``, and the last atom of them.

        Behind a currency that stands in front, a glued letter is a scale: ``$5m`` is five million dollars.
        """
        factor: Decimal | None = None
        scale = ""
        unit = currency
        while atom < self.last:
            following = atom + 1
            joint, fold = self.atoms.joints[following], self.atoms.folds[following]
            near = joint in {GLUED, SPACE} or (joint == DASH and self._hyphenated(following))
            if not near or self.atoms.kinds[following] not in {WORD, SIGN, POINT}:
                break
            if self._on_new_line(following) and self._raw(following)[:1].isupper():
                break  # the heading or the entry below, not a unit
            glued = joint == GLUED
            if glued and currency and not scale and fold in _MONEY_SCALES:
                factor, scale = _MONEY_SCALES[fold], fold
                atom = following
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
            atom = following
        return factor, scale, unit, atom

    def _unit(self, atom: int, *, glued: bool) -> tuple[str, int] | None:
        """The unit at ``atom`` and its last atom; a word glued to a number counts as one whatever it is."""
        raw, kind = self._raw(atom), self.atoms.kinds[atom]
        if kind == POINT:
            # Feet and inches, minutes and seconds: marks that are quotation marks elsewhere.
            return None
        if kind == SIGN:
            fold = self.atoms.folds[atom]
            scale = self.atoms.folds[atom + 1] if atom < self.last and self.atoms.joints[atom + 1] == GLUED else ""
            if fold == "\u00b0" and scale in {"c", "f"}:
                return fold + scale, atom + 1
            return (fold, atom) if fold[0] in "%\u2030\u00b0" or _is_currency(fold) else None
        if self.atoms.folds[atom] == "per" and atom < self.last and self.atoms.folds[atom + 1] == "cent":
            return "%", atom + 1
        unit = find_unit(raw, glued=glued)
        if unit is None and glued:
            unit = self.atoms.folds[atom]
        return (unit, atom) if unit is not None else None

    def _bound(self, atom: int) -> tuple[int, str]:
        """The words in front of ``atom`` that bound the number, such as ``at least``, and where they begin."""
        folds, joints = self.atoms.folds, self.atoms.joints
        if atom <= self.first or joints[atom] != SPACE:
            return atom, ""
        before = folds[atom - 1]
        if before in BOUND_WORDS:
            return atom - 1, before
        leads = BOUNDS.get(before)
        if leads and atom - 1 > self.first and joints[atom - 1] == SPACE and folds[atom - 2] in leads:
            return atom - 2, f"{folds[atom - 2]} {before}"
        return atom, ""

    def _word_before(self, atom: int) -> int:
        """Where a name such as ``COVID-19`` begins, if the number is the end of one."""
        joined = atom > self.first and self.atoms.joints[atom] == DASH and self._hyphenated(atom)
        return atom - 1 if joined and self.atoms.kinds[atom - 1] == WORD else atom

    def _on_new_line(self, atom: int) -> bool:
        return "\n" in self.atoms.text[self.atoms.ends[atom - 1] : self.atoms.starts[atom]]

    def _raw(self, atom: int) -> str:
        return self.atoms.raw(atom, atom)


def _format_number(value: Decimal | None, literal: str) -> str:
    if value is None:
        return literal
    plain = f"{value:f}"
    return plain.rstrip("0").rstrip(".") if "." in plain else plain


def _is_currency(fold: str) -> bool:
    return fold in _CURRENCY_SIGNS
