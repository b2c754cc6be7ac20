"""Votes that were recorded elsewhere, counted again under every rule and panel, with no model."""

from disputatio.evaluation.replay.counting import PanelCount, RuleCount, replayed_sets
from disputatio.evaluation.replay.recorded import RecordedItem, RecordedSet, read_recorded
from disputatio.evaluation.replay.reporting import ReplayReport, replay_lines, replay_report
from disputatio.evaluation.replay.swaps import JudgeSwaps

__all__ = [
    "JudgeSwaps",
    "PanelCount",
    "RecordedItem",
    "RecordedSet",
    "ReplayReport",
    "RuleCount",
    "read_recorded",
    "replay_lines",
    "replay_report",
    "replayed_sets",
]
