"""The modules of this package and the names in each; see ``disputatio._rooms``."""

from __future__ import annotations

from typing import Final

from disputatio._rooms import front

_ROOMS: Final = {
    "brief": ("Brief",),
    "competition_terms": ("CompetitionRules",),
    "decision": ("DecisionRule", "RuleName"),
    "docket": ("Docket",),
    "format": ("Format",),
    "freeform": ("FreeformRules", "FreeformVerdict"),
    "match_verdict": ("MatchVerdict",),
    "own": ("Answer", "Speaker", "choice", "each", "score", "several", "text", "together"),
    "panel": ("PanelRules",),
    "panel_verdict": ("PanelReport", "PanelVerdict"),
    "registry": ("FORMATS", "find_format"),
    "review": ("ReviewRules",),
    "review_outcome": ("ReviewVerdict",),
    "structured": ("StructuredRules",),
    "trace": ("StructuredVerdict", "TraceRow"),
}

__getattr__, __dir__ = front("disputatio.formats", _ROOMS)
