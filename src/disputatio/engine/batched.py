"""Which calls of a debate travel in batches, and which of them are still open when the debate is resumed."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from typing import Final

from disputatio.engine.ports import Batches
from disputatio.participants.call import Call, FaultKind, OutputMode
from disputatio.participants.turn_taking import Send
from disputatio.record.events import BATCH, CallSent
from disputatio.record.history import History
from disputatio.tools.tool_choice import is_choice

_AGAIN_IN_A_BATCH: Final = frozenset(
    kind.value
    for kind in (
        FaultKind.PARAMETER_REFUSED,
        FaultKind.SCHEMA_UNSUPPORTED,
        FaultKind.LIMIT_TOO_LARGE,
        FaultKind.CUT_WHILE_REASONING,
    )
)
"""What a call may have met in a batch and still go into the next: it goes there changed."""
_NO_WAIT: Final = nullcontext()


class BatchedCalls:
    """The batches of one debate.

    Args:
        debate: its id.
        history: its record.
        batches: sends batches; None where every call is made singly.
    """

    def __init__(self, debate: str, history: History, batches: Batches | None) -> None:
        self._debate, self._history, self._batches = debate, history, batches
        self._under_way = {row.path: row for row in in_batches(history)} if batches is not None else {}

    def tier(self, path: str, order: Send) -> str:
        """How the next call for the ask at ``path`` travels: ``BATCH``, or empty for a call that is made at once.

        A seat that may look something up asks for that singly, since each round would wait for a batch of its own. So
        does a call that its batch brought no answer for.
        """
        if self._batches is None or is_choice(order.part) or not self._batches.takes(order.seating):
            return ""
        for sent in reversed(self._history.sent.get(path, ())):
            made = self._history.made.get(sent.call)
            if made is None or not made.fault:
                break
            if sent.tier == BATCH and made.fault not in _AGAIN_IN_A_BATCH:
                return ""
        return BATCH

    def take_under_way(self, path: str) -> CallSent | None:
        """The call for the ask at ``path`` that an earlier process left in a batch; once."""
        return self._under_way.pop(path, None)

    def named(self, call_id: str, call: Call, tier: str) -> Call:
        """``call`` as its way to the model takes it: what travels in a batch is named."""
        return replace(call, identity=(self._debate, call_id)) if tier == BATCH else call

    def rejoined(self, sent: CallSent, call: Call) -> Call:
        """``call`` as it was sent, to be asked for again."""
        room, mode = sent.reasoning_allowance, OutputMode(sent.mode)
        as_sent = replace(call, mode=mode, max_tokens=sent.max_tokens, reasoning_allowance=room)
        return self.named(sent.call, as_sent, BATCH)

    def waiting(self) -> AbstractContextManager[None]:
        """A part of the debate waits, in this context, for a call of it to be settled."""
        return _NO_WAIT if self._batches is None else self._batches.waiting(self._debate)


def in_batches(history: History) -> list[CallSent]:
    """The calls that are under way in a batch: they outlive the process that made them."""
    return [row for row in history.in_flight if row.tier == BATCH]
