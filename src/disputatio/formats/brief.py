"""What a review is told to look for: criteria, lines of attack, hints for the framing. Presets are made of this."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from disputatio.formats.turns.angles import ANGLES
from disputatio.kernel import JsonObject


@dataclass(frozen=True, slots=True)
class Brief:
    """The matter of a review, beside its motion.

    Attributes:
        name: the preset it comes from; empty for none.
        task_type: what kind of decision this is; costs are compared and gates decided by it.
        framing: what the framing must pay regard to, in sentences.
        criteria: what a good answer must do; the framing adds its own.
        attack_lines: what the critic must try, in sentences.
        angles: nouns that can stand after "for"; small models are asked for one argument from each.
    """

    name: str = ""
    task_type: str = "general"
    framing: str = ""
    criteria: tuple[str, ...] = ()
    attack_lines: tuple[str, ...] = ()
    angles: tuple[str, ...] = ANGLES

    def as_json(self) -> JsonObject:
        """As the record keeps it."""
        body = {row.name: getattr(self, row.name) for row in fields(self)}
        return {name: list(value) if isinstance(value, tuple) else value for name, value in body.items()}

    @classmethod
    def from_json(cls, body: Mapping[str, Any]) -> Brief:
        """The brief that a record or a preset file holds.

        Raises:
            TypeError: it has a key that no brief has.
        """
        values: dict[str, Any] = {name: tuple(row) if isinstance(row, list) else row for name, row in body.items()}
        return cls(**values)
