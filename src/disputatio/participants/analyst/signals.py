"""Finds the rules of a table that fire on a slice, and their figures as numbers and in words."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from disputatio.kernel import JsonObject
from disputatio.market.checking import EvidenceItem, build_item
from disputatio.market.expressions import Evaluation, evaluate
from disputatio.market.knowledge import Share
from disputatio.market.slices import Slice
from disputatio.participants.analyst.textbook import Condition, Objection, Rate, Rule, Strength, Textbook, fill_in

_STARRED = re.compile(r"[A-Za-z_]\w*(?:\.(?:\w+|\*))*\.\*(?:\.\w+)*")
_DECIMALS = re.compile(r"[-+]?\d+\.\d+")
_HIGHEST, _LOWEST = 0.95, 0.05


@dataclass(frozen=True, slots=True)
class Signal:
    """A rule or an objection whose conditions hold. ``values`` are its figures in words, ``items`` as evidence."""

    values: Mapping[str, str]
    numbers: Mapping[str, Fraction | str]
    items: tuple[EvidenceItem, ...]


@dataclass(frozen=True, slots=True)
class FiredRule:
    """A rule that fires."""

    rule: Rule
    signal: Signal

    @property
    def claim(self) -> str:
        """Its claim, with the figures in it."""
        return fill_in(self.rule.claim, self.signal.values)

    @property
    def confidence(self) -> float:
        """The published rate."""
        return rate_of(self.rule.rate, self.signal.numbers)


def fire_rules(book: Textbook, seat: str, part: Slice) -> tuple[FiredRule, ...]:
    """The rules of ``seat`` that fire on ``part``, the strongest first; of one indicator the first alone."""
    found: list[FiredRule] = []
    for rule in book.rules_of(seat):
        if any(row.rule.indicator == rule.indicator for row in found):
            continue
        signal = signal_of(rule.figures, rule.when, part)
        if signal is not None:
            found.append(FiredRule(rule, signal))
    return tuple(found)


def choose_rules(book: Textbook, seat: str, part: Slice, fewest: int, most: int) -> tuple[FiredRule, ...]:
    """The rules that ``seat`` argues: those that are not weak, and weak ones as far as it takes to make ``fewest``."""
    found = fire_rules(book, seat, part)
    firm = [row for row in found if row.rule.strength is not Strength.WEAK][:most]
    weak = [row for row in found if row.rule.strength is Strength.WEAK]
    return (*firm, *weak[: max(0, fewest - len(firm))])


def find_objections(
    book: Textbook, seat: str, pointers: Sequence[str], part: Slice
) -> tuple[tuple[Objection, Signal], ...]:
    """The objections of ``seat`` against an argument that rests on ``pointers``, in the order of the table."""
    found = []
    for row in book.objections:
        if row.seat != seat:
            continue
        prefix = row.against.replace("{S}", part.subject)
        if any(pointer == prefix or pointer.startswith(f"{prefix}.") for pointer in pointers):
            signal = signal_of(row.figures, row.when, part)
            if signal is not None:
                found.append((row, signal))
    return tuple(found)


def signal_of(figures: Sequence[tuple[str, str]], when: Sequence[Condition], part: Slice) -> Signal | None:
    """The figures where all of them are known and every condition holds; else None."""
    numbers: dict[str, Fraction | str] = {}
    bases: dict[str, str] = {}
    for name, written in figures:
        basis = expand_pointers(written, part)
        found = evaluate(part.data, basis) if basis else None
        if not isinstance(found, Evaluation):
            return None
        value = found.value
        numbers[name] = Fraction(value.part, value.whole) if isinstance(value, Share) else value
        bases[name] = basis
    if not all(_holds(row, numbers[row.name]) for row in when):
        return None
    items = {name: build_item(part, basis) for name, basis in bases.items()}
    return Signal({name: describe_item(item) for name, item in items.items()}, numbers, tuple(items.values()))


def expand_pointers(written: str, part: Slice) -> str:
    """``written`` for this slice: the subject for {S}, and every known row for a star; empty where none is known."""
    basis = written.replace("{S}", part.subject)
    for starred in _STARRED.findall(basis):
        pattern = re.compile(re.escape(starred).replace(r"\*", r"\w+"))
        rows = [pointer for pointer, datum in part.data.items() if datum.is_known and pattern.fullmatch(pointer)]
        if not rows:
            return ""
        basis = basis.replace(starred, ", ".join(rows))
    return basis


def _holds(condition: Condition, value: Fraction | str) -> bool:
    against = condition.against
    if isinstance(against, str):
        return (value == against) == (condition.test == "is")
    if isinstance(value, str):
        return False
    return {
        ">": value > against,
        ">=": value >= against,
        "<": value < against,
        "<=": value <= against,
    }[condition.test]


def rate_of(rate: Rate, numbers: Mapping[str, Fraction | str]) -> float:
    """The rate, by its steps where it has some: that of the highest step which the figure reaches."""
    if not rate.steps:
        return rate.value
    figure = numbers[rate.figure]
    if isinstance(figure, str):
        return rate.value
    reached = [odds for low, odds in rate.steps if figure >= low]
    odds = reached[0] if reached else rate.steps[-1][1]
    return round(min(_HIGHEST, max(_LOWEST, 1 - odds if rate.inverse else odds)), 4)


def describe_item(item: EvidenceItem) -> str:
    """An item's value as a sentence shows it: 18.8 %, 62, 7/10, above."""
    unit = {"%": " %", "pp": " points", "x": ""}.get(item.unit, "")
    value = item.value.rstrip("0").rstrip(".") if _DECIMALS.fullmatch(item.value) else item.value
    return f"{value}{unit}".replace("_", " ")


def item_json(item: EvidenceItem) -> JsonObject:
    """An item as the form of a figure takes it."""
    source = item.source.split("+")[0].split(",")[0].strip()
    return {"basis": item.basis, "value": item.value, "unit": item.unit, "source": source}
