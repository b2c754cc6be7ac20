"""A rule-based analyst in a seat: a participant that calls no model, and whose table is part of the record."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from disputatio.kernel import Abstention, Ask, AskPath, JsonObject
from disputatio.participants.answers import SchemaChecks
from disputatio.participants.scripted import Scripted
from disputatio.participants.turn_taking import TurnTaking
from disputatio.record.text import digest

if TYPE_CHECKING:
    from disputatio.participants.analyst.textbook import Textbook

ANALYST = "analyst"
"""The kind of participant, as the record has it."""


@dataclass(frozen=True)
class Analyst:
    """A seat that argues by the table in ``text``; ``name`` is how the table calls itself."""

    text: str
    where: str = "textbook.toml"

    @cached_property
    def book(self) -> Textbook:
        """The table."""
        # Every debate asks whether an analyst sits in a seat; the market's modules are for those where one does.
        from disputatio.participants.analyst.textbook import read_textbook

        return read_textbook(self.text, self.where)

    @property
    def name(self) -> str:
        """What the table is called."""
        return self.book.name

    @cached_property
    def table(self) -> str:
        """The SHA-256 of the table, under which the record keeps it."""
        return digest(self.text)

    def as_json(self) -> JsonObject:
        """How the record names who sits here."""
        return {"kind": ANALYST, "name": f"rules {self.name}", "table": self.table}

    def take(self, path: AskPath, ask: Ask, checks: SchemaChecks) -> TurnTaking:
        """Come to the turn, through the same checks as a model."""
        from disputatio.market.expressions import MAX_EXPRESSION_CHARS

        form: Any = ask.spec
        checker = getattr(form, "checker", None)
        if checker is not None:
            # Its answers cost nothing, so they are bounded by what can be read and not by what a model may spend.
            form = replace(form, checker=replace(checker, longest_basis=MAX_EXPRESSION_CHARS))
        return Scripted(self._said, self.name).take(path, replace(ask, spec=form), checks)

    def _said(self, ask: Ask, path: AskPath, reasons: tuple[str, ...]) -> JsonObject | Abstention:  # noqa: ARG002
        from disputatio.participants.analyst.turns import answer

        return answer(self.book, ask)
