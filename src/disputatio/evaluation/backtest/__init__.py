"""A backtest: its plan, its labels, its benchmarks, the debates it holds, and what they come to.

Nothing that argues or that builds a knowledge base may import anything from here: labels are outcomes.
"""

from disputatio.evaluation.backtest.agents import AgentForecast, Agents, HeldAgents
from disputatio.evaluation.backtest.archive import Archive, open_archive
from disputatio.evaluation.backtest.benchmarks import BenchmarkScores, benchmark_scores
from disputatio.evaluation.backtest.cases import ARMS, Bases, Case, proposal_of
from disputatio.evaluation.backtest.cutoff import CutoffSplit, cutoff_splits, read_cutoff
from disputatio.evaluation.backtest.forecasting import argument_weight, lens_forecasts, probability_up
from disputatio.evaluation.backtest.holding import HeldDates, Holding, Run
from disputatio.evaluation.backtest.labels import Label, labels_of
from disputatio.evaluation.backtest.models import ModelEvidence, model_evidence
from disputatio.evaluation.backtest.plan import PLAN_SCHEMA, BacktestPlan, plan_named, read_plan
from disputatio.evaluation.backtest.prices import PriceSeries, read_prices
from disputatio.evaluation.backtest.reading import DateRecord, read_date
from disputatio.evaluation.backtest.recognition import RecognitionReport, recognition_report
from disputatio.evaluation.backtest.report import BacktestReport, backtest_report, cases_of
from disputatio.evaluation.backtest.running import BacktestResult, Dates, dates_of, run_backtest, score_benchmarks
from disputatio.evaluation.backtest.telling import backtest_lines, benchmark_lines
from disputatio.evaluation.backtest.weights import WeightSearch, nested_weights
from disputatio.evaluation.backtest.windows import Fold, expanding_folds

__all__ = [
    "ARMS",
    "PLAN_SCHEMA",
    "AgentForecast",
    "Agents",
    "Archive",
    "BacktestPlan",
    "BacktestReport",
    "BacktestResult",
    "Bases",
    "BenchmarkScores",
    "Case",
    "CutoffSplit",
    "DateRecord",
    "Dates",
    "Fold",
    "HeldAgents",
    "HeldDates",
    "Holding",
    "Label",
    "ModelEvidence",
    "PriceSeries",
    "RecognitionReport",
    "Run",
    "WeightSearch",
    "argument_weight",
    "backtest_lines",
    "backtest_report",
    "benchmark_lines",
    "benchmark_scores",
    "cases_of",
    "cutoff_splits",
    "dates_of",
    "expanding_folds",
    "labels_of",
    "lens_forecasts",
    "model_evidence",
    "nested_weights",
    "open_archive",
    "plan_named",
    "probability_up",
    "proposal_of",
    "read_cutoff",
    "read_date",
    "read_plan",
    "read_prices",
    "recognition_report",
    "run_backtest",
    "score_benchmarks",
]
