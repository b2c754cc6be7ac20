"""The rooms behind the front door, opened when they are first entered.

The command line passes through ``disputatio/__init__`` before it can look after Ctrl-C, and a program that imports the
package should not wait for what it does not call.
"""

from __future__ import annotations

from disputatio._rooms import front

_ROOMS = {
    "debates": ("Debate", "load", "load_all", "open_store"),
    "door": (
        "attach_outcome",
        "debate",
        "debate_sync",
        "estimate",
        "estimate_sync",
        "import_transcripts",
        "import_transcripts_sync",
        "resume",
        "resume_sync",
        "sign_off",
    ),
    "config.catalogue": ("topics",),
    "engine.estimate": ("Estimate",),
    "failures": (
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
    "formats.options": ("Competition", "Freeform", "Market", "Panel", "Review", "Structured"),
    "judging.gate": ("GateDecision", "should_debate"),
    "motion": ("Evidence", "Motion"),
    "participants.human": ("Person",),
    "participants.scripted": ("Scripted", "recording"),
    "record.memory": ("MemoryStore",),
    "request.model": ("Budget", "DebateRequest", "Judging", "Limits", "SeatOptions", "Tools"),
}

__getattr__, __dir__ = front("disputatio", _ROOMS)
