"""Debates and their baselines on identical questions: held, read by code, and compared."""

from disputatio.evaluation.comparing.arms import DEBATES, WAYS, Arm, arms_of, declared_pairs
from disputatio.evaluation.comparing.holding import Comparing, Held
from disputatio.evaluation.comparing.reading import Given, Outcome
from disputatio.evaluation.comparing.report import EvaluationReport, evaluation_lines, evaluation_report

__all__ = [
    "DEBATES",
    "WAYS",
    "Arm",
    "Comparing",
    "EvaluationReport",
    "Given",
    "Held",
    "Outcome",
    "arms_of",
    "declared_pairs",
    "evaluation_lines",
    "evaluation_report",
]
