"""Figures in the turns of market analysts, checked against the knowledge base.

An analyst gives a figure with its basis (the pointer of a value, or an expression over pointers), its value, its unit
and its module. Code looks it up in the analyst's slice. A figure that is not there must be marked as inferred. Code
also finds numbers in sentences that no figure and no value of the slice supports.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

from disputatio.formats.turns import schema
from disputatio.formats.turns.citing import unmarked
from disputatio.kernel import JsonObject, Violation
from disputatio.market.checking import CheckedItem, EvidenceItem, check_items, find_ungrounded_numbers
from disputatio.market.expressions import find_pointers
from disputatio.market.knowledge import KnowledgeBase
from disputatio.market.slices import Slice, format_datum, render_slice
from disputatio.motion import one_line

VERIFIED, INFERRED = "verified", "inferred"
KNOWLEDGE = "knowledge"
"""The source name of figures where citations are shown."""
UNITS = ("points", "%", "pp", "x", "USD", "thousand", "share", "label", "")
_VALUE = 60
_BASIS = 240
"""Characters of a pointer or an expression in an answer; longer ones can be read too."""
_MOST_LINES = 60
"""The most figures a small model chooses from: grammars with long lists are slow."""
_SHOWN = 160
_DIGIT = re.compile(r"\d")
_BORNE = frozenset({VERIFIED, INFERRED})
"""Statuses without a violation."""
_UNSAID = frozenset({"", "label", "share"})
"""Units that are not written after a value."""


class Figure(NamedTuple):
    """A figure and the result of its check.

    Its status is ``verified``, ``wrong``, ``not in slice``, ``not in base`` or ``inferred``. ``why`` says why it is not
    verified; empty where it is.
    """

    checked: CheckedItem
    why: str

    @property
    def status(self) -> str:
        """What the check came to, in a word or three."""
        return self.checked.status

    @property
    def is_sound(self) -> bool:
        """Whether the knowledge base bears it out."""
        return self.checked.is_sound

    @property
    def inferred(self) -> bool:
        """Whether it is the analyst's own inference, marked as such."""
        return self.status == INFERRED

    @property
    def said(self) -> str:
        """The figure as the seat gave it, on one line."""
        return one_line(f"{self.checked.item.basis or 'no place'} = {self._value}", _SHOWN)

    def as_json(self) -> JsonObject:
        """The figure as the record keeps it, in the shape of a citation."""
        item = self.checked.item
        return {
            "source_id": KNOWLEDGE,
            "module": item.source,
            "pointer": item.basis,
            "value": self._value,
            "status": self.status,
            "detail": self.why,
            "true_value": self.checked.true_value,
        }

    @property
    def _value(self) -> str:
        """The value as it was given, with its unit where that is one to be read."""
        item = self.checked.item
        return item.value if item.unit in _UNSAID else f"{item.value} {item.unit}"


class WordsFinding(NamedTuple):
    """An unsupported number in a sentence. ``text`` is the number as written."""

    text: str
    detail: str


@dataclass(frozen=True)
class FigureChecker:
    """Checks figures against what a seat sees of the knowledge base: its slice, or the whole for the judge.

    ``longest_basis`` limits the characters of a pointer or an expression, and so the cost of a model's answer.
    Rule-based analysts cost nothing and may name every sector.
    """

    base: KnowledgeBase
    part: Slice
    longest_basis: int = _BASIS

    @cached_property
    def modules(self) -> tuple[str, ...]:
        """The modules of the slice, in the order of the schema."""
        return tuple(dict.fromkeys(pointer.partition(".")[0] for pointer in self.part.data))

    @cached_property
    def text(self) -> str:
        """The slice as a seat reads it."""
        return render_slice(self.part)

    def schema(self, *, inferred: bool) -> JsonObject:
        """Return the schema of one figure; ``inferred`` allows values outside the slice, marked as such."""
        sources = [*self.modules, *([INFERRED] if inferred else [])]
        return schema.record(
            {
                "basis": schema.text(0, self.longest_basis),
                "value": schema.text(1, _VALUE),
                "unit": schema.one_of(UNITS),
                "source": schema.one_of(sources),
            }
        )

    def read(self, rows: Sequence[Mapping[str, Any]], sentence: str = "") -> tuple[Figure, ...]:
        """Return the figures in ``rows``, each checked; words of direction in ``sentence`` must agree with them."""
        items = [
            EvidenceItem(
                row["basis"],
                row["value"],
                row["unit"],
                "" if row["source"] == INFERRED else _modules(row["basis"], row["source"]),
                row["source"] == INFERRED,
            )
            for row in rows
        ]
        return tuple(
            [
                Figure(each, "" if each.is_sound else one_line(each.describe(), 300))
                for each in check_items(self.base, self.part, items, sentence)
            ]
        )

    def words(self, text: str, figures: Iterable[Figure]) -> tuple[WordsFinding, ...]:
        """Return the numbers in ``text`` that neither ``figures`` nor the slice supports."""
        if not _DIGIT.search(text):
            return ()
        loose = find_ungrounded_numbers(text, [row.checked for row in figures], self.part)
        return tuple(
            WordsFinding(row.text, f'"{one_line(row.text, 40)}" is no value of the slice and follows from none')
            for row in loose
        )

    def lines(self) -> dict[str, JsonObject]:
        """Return what a small model may cite, a line each, with its figure."""
        found: dict[str, JsonObject] = {}
        for pointer, datum in self.part.data.items():
            if datum.is_known and len(found) < _MOST_LINES:
                value, _, unit = format_datum(datum).partition(" ")
                line = f"{' '.join(pointer.split('.')[1:])}: {format_datum(datum)}".replace("_", " ")
                found[line] = {
                    "basis": pointer,
                    "value": value,
                    "unit": unit if unit in UNITS else "",
                    "source": pointer.partition(".")[0],
                }
        return found


def _modules(basis: str, stated: str) -> str:
    """Return the module that a figure states; all modules of its expression where that spans several."""
    pointers = find_pointers(basis)
    if len(pointers) < 2:
        return stated
    found = tuple(dict.fromkeys(pointer.partition(".")[0] for pointer in pointers))
    return ",".join(found) if len(found) > 1 and stated in found else stated


def figure_lines(figures: Iterable[Figure]) -> list[str]:
    """Return figures as other seats see them, a line each: the status, then what was said."""
    found = []
    for row in figures:
        why = row.why
        found.append(f"\u27e6{row.status}\u27e7 {unmarked(row.said)}{f' ({unmarked(why)})' if why else ''}")
    return found


def words_lines(words: Iterable[WordsFinding]) -> list[str]:
    """Return the unsupported words of a turn as other seats see them."""
    return [f"Not borne out: {unmarked(row.detail)}" for row in words]


def unsupported_words(words: Iterable[WordsFinding], who: str, part: str) -> list[Violation]:
    """A breach for each number in a sentence that nothing bears out."""
    return [Violation("unsupported_number", f"{who}: {row.detail}", part) for row in words]


def unsupported(figures: Iterable[Figure], who: str, part: str) -> list[Violation]:
    """Return a violation for each figure that the base does not support and that is not marked as inferred."""
    return [Violation("unverified_figure", f"{who}: {row.why}", part) for row in figures if row.status not in _BORNE]
