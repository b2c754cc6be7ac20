"""The formats there are: their seats, their rules and what may be set about them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

from disputatio.failures import InvalidInputError
from disputatio.formats.freeform import FreeformRules, freeform
from disputatio.formats.structured import StructuredRules, structured
from disputatio.kernel import JsonObject, Rulebook, Seat


class Outcome(Protocol):
    """What a rulebook returns."""

    def as_json(self) -> JsonObject:
        """The outcome as the record keeps it."""


@dataclass(frozen=True, slots=True)
class Format:
    """One kind of debate.

    Attributes:
        name: what people type.
        about: one line for a list of formats.
        seats: every seat, debaters first.
        rules: the class of its settings; its fields and their defaults are what may be set.
        rulebook: makes a fresh debate under given rules.
        judges: the seats whose absence leaves a debate unjudged.
    """

    name: str
    about: str
    seats: tuple[Seat, ...]
    rules: type[Any]
    rulebook: Callable[[Any], Rulebook[Outcome]]
    judges: frozenset[Seat]


_TWO_SIDES = (Seat("pro"), Seat("con"), Seat("judge"))

FORMATS: dict[str, Format] = {
    row.name: row
    for row in (
        Format(
            "structured",
            "two sides, three rounds: opening, cross-examination, closing; judged by a rubric",
            _TWO_SIDES,
            StructuredRules,
            structured,
            frozenset({Seat("judge")}),
        ),
        Format(
            "freeform",
            "alternating monologues and a judge's five headings; the baseline",
            _TWO_SIDES,
            FreeformRules,
            freeform,
            frozenset({Seat("judge")}),
        ),
    )
}


def find_format(name: str) -> Format:
    """The format called ``name``.

    Raises:
        InvalidInputError: there is none.
    """
    if name not in FORMATS:
        raise InvalidInputError(f"There is no format called {name!r}.", f"The formats are: {', '.join(FORMATS)}.")
    return FORMATS[name]
