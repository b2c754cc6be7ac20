"""How turns are judged: rubrics, scores, fallacies, standings, agreement. Arithmetic is exact, and code's."""

from disputatio.judging.consensus import AgreedPoint, agreed_points
from disputatio.judging.fallacies import FALLACIES, Fallacy, FoundFallacy, words_are_in
from disputatio.judging.rubric import EVIDENCE_FIRST, RUBRICS, STANDARD, Criterion, Rubric
from disputatio.judging.scoring import Edge, edge, mean, rounded, weighted
from disputatio.judging.standing import Exchange, Reply, Standing, computed_standing

__all__ = [
    "EVIDENCE_FIRST",
    "FALLACIES",
    "RUBRICS",
    "STANDARD",
    "AgreedPoint",
    "Criterion",
    "Edge",
    "Exchange",
    "Fallacy",
    "FoundFallacy",
    "Reply",
    "Rubric",
    "Standing",
    "agreed_points",
    "computed_standing",
    "edge",
    "mean",
    "rounded",
    "weighted",
    "words_are_in",
]
