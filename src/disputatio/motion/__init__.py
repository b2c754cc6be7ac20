"""The motion, the evidence texts, and how words are counted and cleaned."""

from disputatio.motion.motion import (
    LONGEST_RAW_EVIDENCE,
    MAX_EVIDENCE_CHARS,
    MAX_MOTION_CHARS,
    Evidence,
    Motion,
    read_evidence,
    read_motion,
    too_long,
)
from disputatio.motion.text import clean, count_words, one_line, spaced

__all__ = [
    "LONGEST_RAW_EVIDENCE",
    "MAX_EVIDENCE_CHARS",
    "MAX_MOTION_CHARS",
    "Evidence",
    "Motion",
    "clean",
    "count_words",
    "one_line",
    "read_evidence",
    "read_motion",
    "spaced",
    "too_long",
]
