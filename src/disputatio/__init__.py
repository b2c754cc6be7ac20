"""Disputatio: structured debate between AI models, people and rule-based analysts.

Code enforces the rules of a debate: typed turns, cross-examination, scores computed from a rubric, a ceiling on
cost, and a tamper-evident record that can be resumed, replayed and audited::

    import disputatio

    result = await disputatio.debate("We should adopt microservices", seats={"all": "ollama:qwen3:8b"})
    print(result.text())

Everything in ``__all__`` is public and stays stable.
"""

from disputatio._lazy import __dir__ as __dir__
from disputatio._lazy import __getattr__ as __getattr__

TYPE_CHECKING = False
if TYPE_CHECKING:
    from disputatio.api import (
        attach_outcome,
        debate,
        debate_sync,
        estimate,
        estimate_sync,
        fork,
        fork_sync,
        import_transcripts,
        import_transcripts_sync,
        resume,
        resume_sync,
        sign_off,
    )
    from disputatio.config.catalogue import topics
    from disputatio.debates import Debate, load, load_all, open_store
    from disputatio.engine.estimate import Estimate
    from disputatio.errors import (
        DisputatioError,
        ExitCode,
        InvalidInputError,
        PersonLeftError,
        ProviderError,
        RecordError,
        ResumeMismatchError,
        StoreError,
        UnknownDebateError,
        VerificationError,
    )
    from disputatio.formats.options import Competition, Freeform, Market, Panel, Review, Structured
    from disputatio.judging.gate import GateDecision, should_debate
    from disputatio.motion import Evidence, Motion
    from disputatio.participants.human import Person
    from disputatio.participants.scripted import Scripted, recording
    from disputatio.record.memory import MemoryStore
    from disputatio.request.model import Budget, DebateRequest, Judging, Limits, SeatOptions, Tools

__all__ = [
    "Budget",
    "Competition",
    "Debate",
    "DebateRequest",
    "DisputatioError",
    "Estimate",
    "Evidence",
    "ExitCode",
    "Freeform",
    "GateDecision",
    "InvalidInputError",
    "Judging",
    "Limits",
    "Market",
    "MemoryStore",
    "Motion",
    "Panel",
    "Person",
    "PersonLeftError",
    "ProviderError",
    "RecordError",
    "ResumeMismatchError",
    "Review",
    "Scripted",
    "SeatOptions",
    "StoreError",
    "Structured",
    "Tools",
    "UnknownDebateError",
    "VerificationError",
    "attach_outcome",
    "debate",
    "debate_sync",
    "estimate",
    "estimate_sync",
    "fork",
    "fork_sync",
    "import_transcripts",
    "import_transcripts_sync",
    "load",
    "load_all",
    "open_store",
    "recording",
    "resume",
    "resume_sync",
    "should_debate",
    "sign_off",
    "topics",
]
