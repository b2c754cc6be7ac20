"""The public names of the package, each imported when it is first used (PEP 562).

The command line passes through ``disputatio/__init__`` before it can handle Ctrl-C, and a program that imports the
package should not wait for modules it does not use.
"""

from __future__ import annotations

import sys

EXPORTS = {
    "debates": ("Debate", "load", "load_all", "open_store"),
    "api": (
        "attach_outcome",
        "debate",
        "debate_sync",
        "estimate",
        "estimate_sync",
        "fork",
        "fork_sync",
        "import_transcripts",
        "import_transcripts_sync",
        "resume",
        "resume_sync",
        "sign_off",
    ),
    "config.catalogue": ("topics",),
    "engine.estimate": ("Estimate",),
    "errors": (
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
"""Names by the module that defines them. No name may be that of a module of the package."""

_MODULE_OF = {name: module for module, names in EXPORTS.items() for name in names}


def __getattr__(name: str) -> object:
    """Import the public ``name`` and store it in the package, so that this happens once."""
    from importlib import import_module

    if name not in _MODULE_OF:
        raise AttributeError(f"module 'disputatio' has no attribute {name!r}")
    value: object = getattr(import_module(f"disputatio.{_MODULE_OF[name]}"), name)
    setattr(sys.modules["disputatio"], name, value)
    return value


def __dir__() -> list[str]:
    """List the public names."""
    return sorted(_MODULE_OF)
