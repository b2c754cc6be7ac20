"""The limits of one debate."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from disputatio.kernel import JsonObject


@dataclass(frozen=True, slots=True)
class Budget:
    """Limits on US dollars, tokens (input plus output) and calls; None means no limit."""

    usd: Decimal | None = None
    tokens: int | None = None
    calls: int | None = None

    def as_json(self) -> JsonObject:
        """Return the recorded form; dollars are a string."""
        return {"usd": None if self.usd is None else str(self.usd), "tokens": self.tokens, "calls": self.calls}

    @classmethod
    def from_json(cls, body: Mapping[str, Any]) -> Budget:
        """Read the recorded form."""
        usd = body["usd"]
        return cls(None if usd is None else Decimal(usd), body["tokens"], body["calls"])


UNLIMITED = Budget()
"""No limits."""
