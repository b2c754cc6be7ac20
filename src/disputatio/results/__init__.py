"""Results as typed values: what a program reads of a debate, whatever its format and however it ended."""

from disputatio.report.doubts import Doubt, DoubtKind
from disputatio.report.judges import Opinion
from disputatio.report.market import AnalystLine
from disputatio.report.match import PenaltyReading, Scored, SpeechReading
from disputatio.report.panel import BallotReading, CountReading, DebaterReading
from disputatio.report.review import CriticismOutcome, CriticismReading
from disputatio.report.verdict import AgreedLine
from disputatio.results.result import Result
from disputatio.results.values import (
    Argument,
    Call,
    CallState,
    Citation,
    Cost,
    Decision,
    DecisionKind,
    Fallacy,
    Response,
    Score,
    ScoreOf,
    ScoreState,
    Turn,
    TurnState,
    Vote,
    VoteState,
)
from disputatio.results.verdicts import (
    CompetitionVerdict,
    CustomVerdict,
    FreeformVerdict,
    MarketVerdict,
    PanelVerdict,
    ReviewVerdict,
    SingleVerdict,
    StatedVerdict,
    StructuredVerdict,
    Verdict,
)

__all__ = [
    "AgreedLine",
    "AnalystLine",
    "Argument",
    "BallotReading",
    "Call",
    "CallState",
    "Citation",
    "CompetitionVerdict",
    "Cost",
    "CountReading",
    "CriticismOutcome",
    "CriticismReading",
    "CustomVerdict",
    "DebaterReading",
    "Decision",
    "DecisionKind",
    "Doubt",
    "DoubtKind",
    "Fallacy",
    "FreeformVerdict",
    "MarketVerdict",
    "Opinion",
    "PanelVerdict",
    "PenaltyReading",
    "Response",
    "Result",
    "ReviewVerdict",
    "Score",
    "ScoreOf",
    "ScoreState",
    "Scored",
    "SingleVerdict",
    "SpeechReading",
    "StatedVerdict",
    "StructuredVerdict",
    "Turn",
    "TurnState",
    "Verdict",
    "Vote",
    "VoteState",
]
