"""The stored request of a fork: a job like a debate's, which names a record instead of a motion."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from disputatio.kernel import JsonObject
from disputatio.ledger.budget import UNLIMITED, Budget


@dataclass(frozen=True, slots=True)
class ForkRequest:
    """A fork to run.

    Attributes:
        parent: the id of the debate that it comes from.
        strike: the names of what is struck, as `disputatio.formats.omission` has them.
        budget: the ceilings of the new debate alone; those that are None are the parent's.
    """

    parent: str
    strike: tuple[str, ...]
    budget: Budget = UNLIMITED

    def as_json(self) -> JsonObject:
        """The request as a job keeps it."""
        return {"fork": {"parent": self.parent, "strike": list(self.strike)}, "budget": self.budget.as_json()}


def read_fork(stored: JsonObject) -> ForkRequest | None:
    """The fork that a stored request asks for; None if it asks for a new debate."""
    fork: Any = stored.get("fork")
    if not isinstance(fork, Mapping):
        return None
    ceilings: Any = stored["budget"]
    return ForkRequest(fork["parent"], tuple(fork["strike"]), Budget.from_json(ceilings))
