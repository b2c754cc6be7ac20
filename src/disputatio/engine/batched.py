"""Decides which calls of a debate go in batches, and finds those that are still open when the debate is resumed."""

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
"""Faults after which a call is changed and goes into another batch."""
_NO_WAIT: Final = nullcontext()


class BatchedCalls:
    """The batches of one debate.

    Args:
        debate: its id.
        history: its record.
        batches: sends batches; None if every call is sent by itself.
    """

    def __init__(self, debate: str, history: History, batches: Batches | None) -> None:
        self._debate, self._history, self._batches = debate, history, batches
        self._under_way = {row.path: row for row in in_batches(history)} if batches is not None else {}

    def tier(self, path: str, send: Send) -> str:
        """The tier of the next call for the ask at ``path``: ``BATCH``, or empty if it is sent at once.

        A choice of tools is sent at once, because each round would wait for a batch of its own. So is a call to which
        its batch brought no answer.
        """
        if self._batches is None or is_choice(send.part) or not self._batches.takes(send.seating):
            return ""
        for sent in reversed(self._history.sent.get(path, ())):
            made = self._history.made.get(sent.call)
            if made is None or not made.fault:
                break
            if sent.tier == BATCH and made.fault not in _AGAIN_IN_A_BATCH:
                return ""
        return BATCH

    def take_under_way(self, path: str) -> CallSent | None:
        """The call for the ask at ``path`` that an earlier process left in a batch. Each is returned once."""
        return self._under_way.pop(path, None)

    def identify(self, call_id: str, call: Call, tier: str) -> Call:
        """``call`` with its identity if it goes in a batch."""
        return replace(call, identity=(self._debate, call_id)) if tier == BATCH else call

    def restore(self, sent: CallSent, call: Call) -> Call:
        """``call`` as the record says it was sent, so that its batch can be asked for the answer."""
        mode, allowance = OutputMode(sent.mode), sent.reasoning_allowance
        as_sent = replace(call, mode=mode, max_tokens=sent.max_tokens, reasoning_allowance=allowance)
        return self.identify(sent.call, as_sent, BATCH)

    def waiting(self) -> AbstractContextManager[None]:
        """In this context a part of the debate waits for one of its calls to be settled."""
        return _NO_WAIT if self._batches is None else self._batches.waiting(self._debate)


def in_batches(history: History) -> list[CallSent]:
    """The calls that a batch has not answered yet. They outlive the process that made them."""
    return [row for row in history.in_flight if row.tier == BATCH]
