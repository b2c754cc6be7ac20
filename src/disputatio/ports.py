"""The ports of a debate: where it calls models, keeps its record and reports what happens.

Implement ``ModelClient``, ``Store`` or ``Observer`` to replace one of them. ``docs/reference/ports.md`` says what an
implementation must do, and has a small example of each.
"""

from disputatio.engine.ports import Observer
from disputatio.participants.call import (
    Call,
    Fault,
    FaultKind,
    ModelClient,
    OnText,
    OutputMode,
    Reply,
    Segment,
    Usage,
)
from disputatio.participants.shared_clients import ClientFactory
from disputatio.record.chain import GENESIS, Sealed
from disputatio.record.events import Event
from disputatio.record.memory import describe_debate
from disputatio.record.store import DebateRow, EventBatch, Store, held_elsewhere_error

__all__ = [
    "GENESIS",
    "Call",
    "ClientFactory",
    "DebateRow",
    "Event",
    "EventBatch",
    "Fault",
    "FaultKind",
    "ModelClient",
    "Observer",
    "OnText",
    "OutputMode",
    "Reply",
    "Sealed",
    "Segment",
    "Store",
    "Usage",
    "describe_debate",
    "held_elsewhere_error",
]
