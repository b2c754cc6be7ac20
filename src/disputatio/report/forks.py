"""The turns of a fork without what was struck from them, for every surface. The record of a fork has them whole."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from disputatio.kernel import JsonObject
from disputatio.report.citations import CitationReading
from disputatio.report.review_views import with_numbers


@dataclass(frozen=True, slots=True)
class StruckTurn:
    """A turn from which something may be struck: where it was asked for, its form, its seat, and every struck name."""

    path: str
    form: str
    seat: str
    struck: frozenset[str]

    def content(self, content: JsonObject) -> JsonObject:
        """What is left of the content; what is left keeps its numbers."""
        left: dict[str, Any] = dict(content)
        rows, answers = left.get("arguments"), left.get("answers")
        if self.form in {"opening", "proposition", "criticism"} and isinstance(rows, list | tuple):
            # An empty row holds the number of the one that stood there.
            names = self._numbered(rows)
            left["arguments"] = [{} if name in self.struck else row for name, row in zip(names, rows, strict=True)]
        elif self.form == "cross_examination":
            left = {target: row for target, row in left.items() if self._part(target) not in self.struck}
        elif self.form == "rebuttal" and isinstance(answers, Mapping):
            left["answers"] = {target: row for target, row in answers.items() if self._part(target) not in self.struck}
        return left

    def citations(self, rows: Sequence[CitationReading]) -> tuple[CitationReading, ...]:
        """The citations that are left."""
        counted: dict[str, int] = {}
        kept = []
        for row in rows:
            number = counted[row.about] = counted.get(row.about, 0) + 1
            part = self._part(row.about)
            if not self.struck & {part, f"{part} quote {number}"}:
                kept.append(row)
        return tuple(kept)

    def unstated(self, rows: Sequence[tuple[str, tuple[str, ...]]]) -> tuple[tuple[str, tuple[str, ...]], ...]:
        """The figures that stand in no source, of what is left."""
        return tuple(row for row in rows if self._part(row[0]) not in self.struck)

    def _numbered(self, rows: Sequence[Any]) -> list[str]:
        """The names of arguments, which the record leaves to the rules."""
        if self.form == "opening":
            return [f"{self.seat.upper()}-{number}" for number in range(1, len(rows) + 1)]
        named: Any = with_numbers(self.path, self.form, {"arguments": [{"": row} for row in rows]})["arguments"]
        return [str(row["id"]) for row in named]

    def _part(self, about: str) -> str:
        """The name of the part of this turn that is about an argument."""
        if self.form == "cross_examination":
            return f"{self.seat.upper()} on {about}"
        return about.replace("CRIT", "REB", 1) if self.form == "rebuttal" else about
