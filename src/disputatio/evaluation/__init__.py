"""How good a judge is, measured: on texts that others labelled, and on debates with flaws planted in them."""

from disputatio.evaluation.cases import CASE_SCHEMA, CaseDebate, packaged_cases, read_cases
from disputatio.evaluation.drift import Baseline, Drift, compare, read_baseline, write_baseline
from disputatio.evaluation.experiment import Experiment, ExperimentResult, Trial
from disputatio.evaluation.fallacy_check import FallacyReport, fallacy_report, fallacy_trials
from disputatio.evaluation.fallacy_scores import FallacyScores, fallacy_scores
from disputatio.evaluation.injected_flaws import FLAWS, CaseTwin, plant
from disputatio.evaluation.judge_check import JudgeReport, judge_report, judge_trials, twins_of
from disputatio.evaluation.labelled_csv import read_csv_texts
from disputatio.evaluation.labelled_texts import LabelledSet, LabelledText, read_labelled

__all__ = [
    "CASE_SCHEMA",
    "FLAWS",
    "Baseline",
    "CaseDebate",
    "CaseTwin",
    "Drift",
    "Experiment",
    "ExperimentResult",
    "FallacyReport",
    "FallacyScores",
    "JudgeReport",
    "LabelledSet",
    "LabelledText",
    "Trial",
    "compare",
    "fallacy_report",
    "fallacy_scores",
    "fallacy_trials",
    "judge_report",
    "judge_trials",
    "packaged_cases",
    "plant",
    "read_baseline",
    "read_cases",
    "read_csv_texts",
    "read_labelled",
    "twins_of",
    "write_baseline",
]
