"""Which asks of a closed debate are taken back, so that a seat that could not be reached is asked once more."""

from __future__ import annotations

from collections.abc import Collection

from disputatio.engine.debate_run import Plan, recorded_answer
from disputatio.kernel import Driver
from disputatio.record.events import Abstained
from disputatio.record.history import History, Status


def list_failed(history: History, again: Collection[str]) -> tuple[str, ...]:
    """The asks of a debate that ended without a seat, where the reason is one of ``again``."""
    if history.status not in {Status.DEGRADED, Status.FAILED}:
        return ()
    return tuple(path for path, row in history.answered.items() if isinstance(row, Abstained) and row.reason in again)


def list_reopened(history: History, plan: Plan, again: Collection[str]) -> tuple[str, ...]:
    """The asks that are taken back before a debate is resumed.

    Where seats failed for a reason in ``again``: their asks, and every turn that rests on them. A turn rests on a
    missing one if the rules do not reach it while that one is open. So everything said in parallel is kept.
    Elsewhere: the abstentions on which nothing rests.

    Raises:
        ResumeMismatchError: a recorded turn does not fit the rules of this run.
    """
    if history.status not in {Status.DEGRADED, Status.FAILED}:
        return ()
    failed = set(list_failed(history, again))
    if not failed:
        return history.reopenable
    driver = Driver(plan.format.rulebook(plan.rules, plan.context))
    kept: set[str] = set()
    waiting = True
    while waiting:
        waiting = False
        for path, ask in driver.open_asks.items():
            row = history.answered.get(path)
            if row is not None and path not in failed:
                driver.answer(path, recorded_answer(path, ask, row))
                kept.add(path)
                waiting = True
    return tuple(path for path in history.answered if path not in kept)
