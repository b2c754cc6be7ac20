"""Disputatio: structured debate between AI models, people and rule-based analysts.

The rules of a debate are kept by code: typed turns, cross-examination, scores computed from a rubric, a ceiling on
cost, and a tamper-evident record that can be resumed, replayed and audited::

    import disputatio

    result = await disputatio.debate("We should adopt microservices", seats={"all": "ollama:qwen3:8b"})
    print(result.text())

This module is the front door; everything in ``__all__`` is kept stable.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from disputatio.door import Debate, debate, debate_sync, open_store, resume, resume_sync
    from disputatio.failures import (
        DisputatioError,
        ExitCode,
        InvalidInputError,
        ProviderError,
        RecordError,
        ResumeMismatchError,
        StoreError,
        UnknownDebateError,
        VerificationError,
    )
    from disputatio.motion import Evidence, Motion
    from disputatio.participants.scripted import Scripted, recording
    from disputatio.record.memory import MemoryStore

__all__ = [
    "Debate",
    "DisputatioError",
    "Evidence",
    "ExitCode",
    "InvalidInputError",
    "MemoryStore",
    "Motion",
    "ProviderError",
    "RecordError",
    "ResumeMismatchError",
    "Scripted",
    "StoreError",
    "UnknownDebateError",
    "VerificationError",
    "debate",
    "debate_sync",
    "open_store",
    "recording",
    "resume",
    "resume_sync",
]

# What is used is imported when it is first used: the command line passes through here before it can look after
# Ctrl-C, and a program that imports the package should not wait for what it does not call.
_ROOMS = {
    "disputatio.door": ("Debate", "debate", "debate_sync", "open_store", "resume", "resume_sync"),
    "disputatio.motion": ("Evidence", "Motion"),
    "disputatio.participants.scripted": ("Scripted", "recording"),
    "disputatio.record.memory": ("MemoryStore",),
}
_ROOM_OF = {name: room for room, names in _ROOMS.items() for name in names}


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'disputatio' has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(_ROOM_OF.get(name, "disputatio.failures")), name)
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
