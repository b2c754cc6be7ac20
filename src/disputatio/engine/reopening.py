"""Finds the asks of a closed debate to repeat because their seats could not be reached."""

from __future__ import annotations

from collections.abc import Collection

from disputatio.engine.debate_run import Plan, recorded_answer
from disputatio.kernel import Abstention, Ask, Driver, Turn
from disputatio.record.events import Abstained
from disputatio.record.history import History, Status


def list_failed(history: History, again: Collection[str]) -> tuple[str, ...]:
    """The asks of a debate whose seats abstained for a reason in ``again``; none unless it ended without a seat."""
    if history.status not in {Status.DEGRADED, Status.FAILED}:
        return ()
    return tuple(path for path, row in history.answered.items() if isinstance(row, Abstained) and row.reason in again)


def list_reopened(history: History, plan: Plan, again: Collection[str]) -> tuple[str, ...]:
    """The asks that a resumed debate repeats.

    If seats failed for a reason in ``again``, these are their asks and every turn that depends on them. A turn depends
    on a missing one if the rules do not reach it while that one is open, so parallel turns are kept. Otherwise these
    are the abstentions on which no other turn depends.

    Raises:
        ResumeMismatchError: a recorded turn does not fit the rules of this run.
    """
    if history.status not in {Status.DEGRADED, Status.FAILED}:
        return ()
    failed = set(list_failed(history, again))
    if not failed:
        return history.reopenable
    kept: set[str] = set()

    def keep(path: str, ask: Ask) -> Turn | Abstention | None:
        row = history.answered.get(path)
        if row is None or path in failed:
            return None
        kept.add(path)
        return recorded_answer(path, ask, row)

    Driver(plan.format.rulebook(plan.rules, plan.context)).answer_all(keep)
    return tuple(path for path in history.answered if path not in kept)
