"""The statistics of comparisons and forecasts. Libraries do the work; what none has is here, with its source."""

from disputatio.evaluation.statistics.answers import (
    AnswerScores,
    MacroScores,
    answer_scores,
    balanced_accuracy,
    macro_scores,
)
from disputatio.evaluation.statistics.bootstrap import RESAMPLES, BootstrapInterval, stationary_bootstrap, times_drawn
from disputatio.evaluation.statistics.forecasts import (
    BrierReport,
    Reliability,
    ReliabilityBin,
    brier_report,
    expanding_climatology,
    reliability_of,
)
from disputatio.evaluation.statistics.paired import (
    Comparison,
    PairedCounts,
    compare_all,
    holm_adjusted,
    mcnemar_exact,
    mcnemar_mid_p,
    mcnemar_power,
    paired_difference,
)
from disputatio.evaluation.statistics.selective import SelectivePoint, selective_points

__all__ = [
    "RESAMPLES",
    "AnswerScores",
    "BootstrapInterval",
    "BrierReport",
    "Comparison",
    "MacroScores",
    "PairedCounts",
    "Reliability",
    "ReliabilityBin",
    "SelectivePoint",
    "answer_scores",
    "balanced_accuracy",
    "brier_report",
    "compare_all",
    "expanding_climatology",
    "holm_adjusted",
    "macro_scores",
    "mcnemar_exact",
    "mcnemar_mid_p",
    "mcnemar_power",
    "paired_difference",
    "reliability_of",
    "selective_points",
    "stationary_bootstrap",
    "times_drawn",
]
