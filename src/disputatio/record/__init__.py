"""The product: an append-only, hash-chained history of one debate, and everything read from it."""

from typing import TYPE_CHECKING

from disputatio.record._front import __dir__ as __dir__
from disputatio.record._front import __getattr__ as __getattr__

if TYPE_CHECKING:
    from disputatio.record.chain import GENESIS, Sealed, broken_link, seal
    from disputatio.record.events import (
        Abstained,
        AnswerRejected,
        BaselineHeld,
        BudgetReached,
        CallLost,
        CallMade,
        CallSent,
        DebateClosed,
        DebateInterrupted,
        DebateOpened,
        DebateResumed,
        DecisionEscalated,
        Event,
        OutcomeAttached,
        PenaltyGiven,
        ScoreGiven,
        SignedOff,
        ToolCalled,
        TranscriptImported,
        TurnAsked,
        TurnTaken,
        VoteCounted,
        decode,
        encode,
    )
    from disputatio.record.history import History, Status
    from disputatio.record.memory import MemoryStore
    from disputatio.record.semantics import semantic_content
    from disputatio.record.store import DebateRow, Store, Writing
    from disputatio.record.text import canonical, digest, read_json

__all__ = [
    "GENESIS",
    "Abstained",
    "AnswerRejected",
    "BaselineHeld",
    "BudgetReached",
    "CallLost",
    "CallMade",
    "CallSent",
    "DebateClosed",
    "DebateInterrupted",
    "DebateOpened",
    "DebateResumed",
    "DebateRow",
    "DecisionEscalated",
    "Event",
    "History",
    "MemoryStore",
    "OutcomeAttached",
    "PenaltyGiven",
    "ScoreGiven",
    "Sealed",
    "SignedOff",
    "Status",
    "Store",
    "ToolCalled",
    "TranscriptImported",
    "TurnAsked",
    "TurnTaken",
    "VoteCounted",
    "Writing",
    "broken_link",
    "canonical",
    "decode",
    "digest",
    "encode",
    "read_json",
    "seal",
    "semantic_content",
]
