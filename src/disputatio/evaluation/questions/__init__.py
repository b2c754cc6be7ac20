"""Questions whose right answers are known: one's own files, and golden sets."""

from disputatio.evaluation.questions.golden import GOLDEN, GoldenSet, golden_set
from disputatio.evaluation.questions.items import Item, Kind, QuestionSet, read_questions

__all__ = ["GOLDEN", "GoldenSet", "Item", "Kind", "QuestionSet", "golden_set", "read_questions"]
