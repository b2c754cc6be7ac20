"""A rule-based analyst in a seat: it calls no model, and its table is part of the record."""

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
    """A seat that argues by the table in ``text``."""

    text: str
    where: str = "textbook.toml"

    @cached_property
    def book(self) -> Textbook:
        """The table."""
        # Imported here because every debate imports this module, and few need the market's modules.
        from disputatio.participants.analyst.textbook import read_textbook

        return read_textbook(self.text, self.where)

    @property
    def name(self) -> str:
        """The name of the table."""
        return self.book.name

    @cached_property
    def table(self) -> str:
        """The SHA-256 of the table, its key in the record."""
        return digest(self.text)

    def as_json(self) -> JsonObject:
        """The analyst as the record names it."""
        return {"kind": ANALYST, "name": f"rules {self.name}", "table": self.table}

    def take(self, path: AskPath, ask: Ask, checks: SchemaChecks) -> TurnTaking:
        """Take the turn, under the same checks as a model."""
        from disputatio.market.expressions import MAX_EXPRESSION_CHARS

        form: Any = ask.spec
        checker = getattr(form, "checker", None)
        if checker is not None:
            # Its answers cost nothing, so longer expressions are allowed than for a model.
            form = replace(form, checker=replace(checker, longest_basis=MAX_EXPRESSION_CHARS))
        return Scripted(self._said, self.name).take(path, replace(ask, spec=form), checks)

    def _said(self, ask: Ask, path: AskPath, reasons: tuple[str, ...]) -> JsonObject | Abstention:  # noqa: ARG002
        from disputatio.participants.analyst.turns import answer

        return answer(self.book, ask)
