"""What earlier calls teach about the room that models need to reason: those of a record, and those of a store."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import Final

from disputatio.engine.seat_assignments import ModelSeat, Table
from disputatio.ledger.windows import known_window
from disputatio.participants.call import Fault, FaultKind, Reply, Usage
from disputatio.participants.model_seat import ModelSeating
from disputatio.participants.reasoning import Allowances
from disputatio.record.history import History
from disputatio.record.store import Store

OF_THIS_PROCESS: Final = Allowances(known_window)
"""What all debates of this process have learned."""

_RESIZED = {kind.value for kind in (FaultKind.CUT_WHILE_REASONING, FaultKind.LIMIT_TOO_LARGE)}


def recall(allowances: Allowances, table: Table, history: History) -> None:
    """Take in the calls that ``history`` tells of, so that a resumed debate gives models the room that it gave them."""
    for sent in history.calls:
        made, occupant = history.made.get(sent.call), table.get(sent.seat)
        if made is None or not isinstance(occupant, ModelSeat):
            continue
        seating = next((row for row in occupant.seatings if row.address == sent.model), None)
        if seating is None:
            continue
        usage = Usage(**made.usage)  # type: ignore[arg-type]
        outcome: Reply | Fault = Reply(made.text, made.served_model, usage, made.finish)
        if made.fault in _RESIZED:
            outcome = Fault(FaultKind(made.fault), made.message, usage=usage, text=made.text)
        allowances.learn_from(seating, sent.max_tokens, sent.reasoning_allowance, outcome)


def seatings_of(table: Table) -> list[ModelSeating]:
    """The models at the table, fallbacks too."""
    return [row for occupant in table.values() if isinstance(occupant, ModelSeat) for row in occupant.seatings]


async def look_up(allowances: Allowances, seatings: Iterable[ModelSeating], store: Store) -> None:
    """Take in what debates in ``store`` have seen of these models, once for each model.

    Raises:
        StoreError: the store cannot be read.
    """
    new = allowances.not_looked_up(seatings)
    if not new:
        return
    from disputatio.metrics.calibration import read_reasoning

    models = {(key[0], key[1], key[3]): row for key, row in new.items()}
    for model, seen in (await asyncio.to_thread(read_reasoning, store, models)).items():
        allowances.remember(models[model], seen)
