"""The product: an append-only, hash-chained history of one debate, and everything read from it."""

from disputatio.record.chain import GENESIS, Sealed, broken_link, seal
from disputatio.record.events import (
    Abstained,
    AnswerRejected,
    BudgetReached,
    CallLost,
    CallMade,
    CallSent,
    DebateClosed,
    DebateInterrupted,
    DebateOpened,
    DebateResumed,
    Event,
    PenaltyGiven,
    ScoreGiven,
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
    "BudgetReached",
    "CallLost",
    "CallMade",
    "CallSent",
    "DebateClosed",
    "DebateInterrupted",
    "DebateOpened",
    "DebateResumed",
    "DebateRow",
    "Event",
    "History",
    "MemoryStore",
    "PenaltyGiven",
    "ScoreGiven",
    "Sealed",
    "Status",
    "Store",
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
