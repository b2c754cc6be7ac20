"""What a debate by a user's own rules came to, and what its seats answered; and outcomes of no known kind."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from disputatio.report.turns.statement import Statement, any_content

_OWN = "own"


def is_own_outcome(outcome: Mapping[str, Any]) -> bool:
    """Whether an outcome is that of a user's own rules."""
    return outcome.get("format") == _OWN and isinstance(outcome.get("result"), Mapping)


def outcome_statements(outcome: Mapping[str, Any]) -> tuple[Statement, ...]:
    """The outcome of a format without a view of its own: what custom rules returned, else everything."""
    if not is_own_outcome(outcome):
        return tuple(any_content(outcome))
    entries = {"result": outcome.get("reading"), "winner": outcome.get("winner"), **outcome["result"]}
    rows = any_content({key: value for key, value in entries.items() if value not in ("", None)})
    return (*rows, *any_content({"rules": outcome.get("rules")}))
