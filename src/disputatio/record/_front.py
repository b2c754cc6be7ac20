"""The modules of this package and the names in each; see ``disputatio._rooms``."""

from __future__ import annotations

from typing import Final

from disputatio._rooms import front

_ROOMS: Final = {
    "chain": ("GENESIS", "Sealed", "broken_link", "seal"),
    "events": (
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
        "DecisionEscalated",
        "Event",
        "OutcomeAttached",
        "PenaltyGiven",
        "ScoreGiven",
        "SignedOff",
        "ToolCalled",
        "TranscriptImported",
        "TurnAsked",
        "TurnTaken",
        "VoteCounted",
        "decode",
        "encode",
    ),
    "history": ("History", "Status"),
    "memory": ("MemoryStore",),
    "semantics": ("semantic_content",),
    "store": ("DebateRow", "Store", "Writing"),
    "text": ("canonical", "digest", "read_json"),
}

__getattr__, __dir__ = front("disputatio.record", _ROOMS)
