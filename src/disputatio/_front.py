"""Opens the rooms behind the front door when they are first entered (PEP 562).

The command line passes through ``disputatio/__init__`` before it can look after Ctrl-C, and a program that imports the
package should not wait for what it does not call.
"""

from __future__ import annotations

import sys
from importlib import import_module

_ROOMS = {
    "disputatio.door": (
        "Debate",
        "attach_outcome",
        "debate",
        "debate_sync",
        "import_transcripts",
        "import_transcripts_sync",
        "open_store",
        "resume",
        "resume_sync",
        "sign_off",
    ),
    "disputatio.failures": (
        "DisputatioError",
        "ExitCode",
        "InvalidInputError",
        "PersonLeftError",
        "ProviderError",
        "RecordError",
        "ResumeMismatchError",
        "StoreError",
        "UnknownDebateError",
        "VerificationError",
    ),
    "disputatio.judging.gate": ("GateDecision", "should_debate"),
    "disputatio.motion": ("Evidence", "Motion"),
    "disputatio.participants.human": ("Person",),
    "disputatio.participants.scripted": ("Scripted", "recording"),
    "disputatio.record.memory": ("MemoryStore",),
}
_ROOM_OF = {name: room for room, names in _ROOMS.items() for name in names}


def __getattr__(name: str) -> object:
    """What the package lists as ``name``, fetched from its module and kept."""
    if name not in _ROOM_OF:
        raise AttributeError(f"module 'disputatio' has no attribute {name!r}")
    value = getattr(import_module(_ROOM_OF[name]), name)
    setattr(sys.modules["disputatio"], name, value)
    return value


def __dir__() -> list[str]:
    """What the package lists."""
    return sorted(_ROOM_OF)
