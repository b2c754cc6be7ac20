"""Checks a whole table of rules before a debate uses it.

Every figure is evaluated on a made-up slice with a value at every place of the schema. This finds at once a pointer
that a seat never sees, an expression that cannot be parsed, and a condition that compares a word with a number.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from functools import cache

from disputatio.errors import InvalidInputError
from disputatio.formats.market import BULL, LENSES
from disputatio.formats.turns.market_arguments import MarketOpeningSpec
from disputatio.formats.turns.market_figures import FigureChecker
from disputatio.kernel import Seat
from disputatio.market.expressions import Unresolved, evaluate, find_pointers
from disputatio.market.knowledge import SERIES, Datum, Known, Share, Unit
from disputatio.market.slices import Slice, take_slice
from disputatio.market.sources.files import load_example
from disputatio.participants.analyst.signals import expand_pointers
from disputatio.participants.analyst.textbook import Condition, Objection, Rule, Textbook, in_plain_words, unusable
from disputatio.participants.answers import SchemaChecks

_KEYED = frozenset({"indices", "technicals", "sectors", "global_markets"})
"""Sections whose second word names an index or a fund, of which a base may have others than the example."""


def check_table(book: Textbook, seat: str, where: str) -> None:
    """Refuse a table that ``seat`` cannot argue from.

    Raises:
        InvalidInputError: a figure cannot be read or is never seen by the seat of its rule, a condition can never hold,
            a text does not fit the form of an opening, or the table has no rule for ``seat``. Names the rule.
    """
    if seat.endswith(("_bull", "_bear")) and not book.rules_of(seat):
        raise unusable(where, f"it has no rule for {seat}, which argues by it")
    for rule in book.rules:
        name = f"the rule {rule.name!r} of {rule.seat!r}"
        _check_figures(rule, name, where)
        _check_texts(rule, name, where)
    for row in book.objections:
        _check_figures(row, f"the objection of {row.seat!r} against {row.against!r}", where)
    try:
        in_plain_words(book)
    except InvalidInputError as error:
        raise unusable(where, f"for a base without names {error.cause}") from None


def _check_figures(row: Rule | Objection, name: str, where: str) -> None:
    part = _everything_known(row.seat.partition("_")[0])
    words: dict[str, bool] = {}
    for figure, written in row.figures:
        basis = _in_the_example(written, part)
        read = expand_pointers(basis, part)
        found = evaluate(part.data, read) if read else Unresolved(f"no value is at {written}")
        if isinstance(found, Unresolved):
            raise unusable(where, f"the figure {figure} of {name} is {written!r}: {found.reason} for {row.seat}")
        words[figure] = isinstance(found.value, str)
    _check_conditions(row.when, words, name, where)


def _check_conditions(when: Sequence[Condition], words: Mapping[str, bool], name: str, where: str) -> None:
    for condition in when:
        is_word = isinstance(condition.against, str)
        if is_word != words[condition.name]:
            kind, other = ("a word", "a number") if words[condition.name] else ("a number", "a word")
            raise unusable(where, f"a condition of {name} compares {condition.name}, {kind}, with {other}")


def _check_texts(rule: Rule, name: str, where: str) -> None:
    """Check the fixed texts against the schema of an opening, with a valid claim and figure."""
    example = load_example()
    checker = FigureChecker(example, take_slice(example, LENSES[rule.seat.partition("_")[0]]))
    form = MarketOpeningSpec(Seat(rule.seat), checker, 1, 1, bullish=rule.seat.endswith(BULL))
    item = {"basis": "a.b", "value": "1", "unit": "", "source": checker.modules[0]}
    argument = {"claim": "a claim of usual length", "evidence": [item], "confidence": 0.5}
    texts = {"counterpoints": [rule.counterpoint], "assumptions": [rule.assumes]}
    reasons = SchemaChecks().reasons({"arguments": [{**argument, **texts}]}, form.schema)
    if reasons:
        raise unusable(where, f"a text of {name} does not fit an opening: {reasons[0]}")


@cache
def _everything_known(lens: str) -> Slice:
    """The example's slice of a lens, with a value at every place of the schema and every macroeconomic series."""
    part = take_slice(load_example(), LENSES[lens])
    data = dict(part.data)
    if lens == "macro":
        fields = {pointer.split(".")[2]: datum for pointer, datum in data.items() if pointer.startswith("macro.GDP.")}
        data |= {f"macro.{key}.{field}": datum for key in SERIES for field, datum in fields.items()}
    known = {pointer: _known(place, datum) for place, (pointer, datum) in enumerate(data.items())}
    return replace(part, data=known)


def _known(place: int, datum: Datum) -> Datum:
    """``datum`` with a value of its own kind; no two numbers are alike, and none is zero."""
    kinds: Mapping[Unit, Known] = {Unit.LABEL: Known("known"), Unit.SHARE: Known(Share(3, 7))}
    return replace(datum, content=kinds.get(datum.unit, Known(Decimal(10 + 7 * place))))


def _in_the_example(written: str, part: Slice) -> str:
    """``written`` with the indices and funds that the example has in the places of others."""
    basis = written.replace("{S}", part.subject)
    for pointer in find_pointers(basis):
        section = pointer.partition(".")[0]
        if pointer in part.data or section not in _KEYED:
            continue
        tail = pointer.split(".")[2:]
        same = next((row for row in part.data if row.startswith(f"{section}.") and row.split(".")[2:] == tail), "")
        basis = re.sub(rf"(?<![\w.]){re.escape(pointer)}(?![\w.])", same, basis) if same else basis
    return basis
