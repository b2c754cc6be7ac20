"""How the debaters of a match argue: a personality for each, out of a file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from disputatio.kernel import JsonObject


@dataclass(frozen=True, slots=True)
class Personality:
    """A way of debating. ``name`` is how people call it, ``about`` is what its debater is told."""

    name: str
    about: str


@dataclass(frozen=True, slots=True)
class Cast:
    """Who has which personality, by seat; a seat that is missing argues as it likes."""

    members: tuple[tuple[str, Personality], ...] = ()

    def of(self, seat: str) -> Personality | None:
        """The personality of ``seat``."""
        return dict(self.members).get(seat)

    def as_json(self) -> JsonObject:
        """As the record keeps it, texts and all: a file may have changed when the match goes on."""
        return {"personalities": {seat: {"name": row.name, "about": row.about} for seat, row in self.members}}

    @classmethod
    def from_json(cls, body: Mapping[str, Any]) -> Cast:
        """The cast that a record keeps."""
        rows = body["personalities"].items()
        return cls(tuple((seat, Personality(row["name"], row["about"])) for seat, row in rows))
