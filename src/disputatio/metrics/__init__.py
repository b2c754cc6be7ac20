"""What debates come to over time: measures of one record, figures over many, and the thresholds they are held to."""

from disputatio.metrics.collecting import Selection, collect, recomputed_multiple
from disputatio.metrics.figures import Figures, Mean, Share
from disputatio.metrics.lines import figures_lines
from disputatio.metrics.measures import Measures, measures_of
from disputatio.metrics.thresholds import Alert, alerts_of

__all__ = [
    "Alert",
    "Figures",
    "Mean",
    "Measures",
    "Selection",
    "Share",
    "alerts_of",
    "collect",
    "figures_lines",
    "measures_of",
    "recomputed_multiple",
]
