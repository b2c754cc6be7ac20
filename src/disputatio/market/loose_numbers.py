"""Numbers in a text of an analyst that nothing behind it gives."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

from disputatio.market.checking import COARSEST, CheckedItem
from disputatio.market.expressions import Evaluation, evaluate, is_pointer
from disputatio.market.figures_said import Figure, numbers_said
from disputatio.market.knowledge import Known, Share
from disputatio.market.slices import Slice


@dataclass(frozen=True, slots=True)
class LooseNumber:
    """A number without grounds: its words and where they stand in the text."""

    text: str
    start: int
    end: int


def loose_numbers(text: str, checked: Sequence[CheckedItem], part: Slice) -> tuple[LooseNumber, ...]:
    """The numbers of ``text`` that no verified item and no value of the slice gives, rounded as they stand there.

    Signs are not compared, for words carry them (3.2 % below). Periods, years and parts of names are no values.

    Args:
        text: a claim, a reasoning, a stance.
        checked: the items behind it.
        part: what the seat sees.
    """
    said = numbers_said(text)
    if not said:
        return ()
    grounds = _grounds(checked, part)
    return tuple(
        LooseNumber(text[row.start : row.end], row.start, row.end) for row in said if not _is_given(row.figure, grounds)
    )


def _grounds(checked: Sequence[CheckedItem], part: Slice) -> list[Decimal | Fraction | Share]:
    found: list[Decimal | Fraction | Share] = []
    for datum in part.data.values():
        value = datum.held.value if isinstance(datum.held, Known) else ""
        if not isinstance(value, str):
            found.append(value)
    for row in checked:
        if row.sound and not is_pointer(row.item.basis):
            evaluation = evaluate(part.data, row.item.basis)
            if isinstance(evaluation, Evaluation) and not isinstance(evaluation.value, str):
                found.append(evaluation.value)
    return found


def _is_given(figure: Figure | Share, grounds: Sequence[Decimal | Fraction | Share]) -> bool:
    if isinstance(figure, Share):
        return figure in grounds
    return any(_same(figure, ground) for ground in grounds)


def _same(figure: Figure, ground: Decimal | Fraction | Share) -> bool:
    if isinstance(ground, Share):
        share = Fraction(ground.part, ground.whole)
        return any(_rounds(figure, value) for value in (Fraction(ground.part), share, share * 100))
    # In floating point first, for nearly all are far apart.
    half = 0.51 * 10.0**-figure.decimals
    if abs(abs(float(ground)) - abs(float(figure.value))) > half:
        return False
    return _rounds(figure, Fraction(ground))


def _rounds(figure: Figure, value: Fraction) -> bool:
    """Whether ``value`` without its sign, rounded as the figure is, is the figure; and not by far."""
    off = abs(abs(value) - abs(figure.value))
    return off <= Fraction(1, 2 * 10**figure.decimals) and off <= COARSEST * abs(value)
