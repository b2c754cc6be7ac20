"""The rulebooks: each file reads as the rules of one kind of debate."""

from typing import TYPE_CHECKING

from disputatio.formats._front import __dir__ as __dir__
from disputatio.formats._front import __getattr__ as __getattr__

if TYPE_CHECKING:
    from disputatio.formats.brief import Brief
    from disputatio.formats.competition_terms import CompetitionRules
    from disputatio.formats.decision import DecisionRule, RuleName
    from disputatio.formats.docket import Docket
    from disputatio.formats.format import Format
    from disputatio.formats.freeform import FreeformRules, FreeformVerdict
    from disputatio.formats.match_verdict import MatchVerdict
    from disputatio.formats.own import Answer, Speaker, choice, each, score, several, text, together
    from disputatio.formats.panel import PanelRules
    from disputatio.formats.panel_verdict import PanelReport, PanelVerdict
    from disputatio.formats.registry import FORMATS, find_format
    from disputatio.formats.review import ReviewRules
    from disputatio.formats.review_outcome import ReviewVerdict
    from disputatio.formats.structured import StructuredRules
    from disputatio.formats.trace import StructuredVerdict, TraceRow

__all__ = [
    "FORMATS",
    "Answer",
    "Brief",
    "CompetitionRules",
    "DecisionRule",
    "Docket",
    "Format",
    "FreeformRules",
    "FreeformVerdict",
    "MatchVerdict",
    "PanelReport",
    "PanelRules",
    "PanelVerdict",
    "ReviewRules",
    "ReviewVerdict",
    "RuleName",
    "Speaker",
    "StructuredRules",
    "StructuredVerdict",
    "TraceRow",
    "choice",
    "each",
    "find_format",
    "score",
    "several",
    "text",
    "together",
]
