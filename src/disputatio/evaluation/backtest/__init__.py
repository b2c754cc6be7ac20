"""The statistics of a backtest: its plan, its labels, its benchmarks, its windows, and the search for judge weights.

Nothing that argues or that builds a knowledge base may import anything from here: labels are outcomes.
"""

from disputatio.evaluation.backtest.benchmarks import BenchmarkScores, benchmark_scores
from disputatio.evaluation.backtest.forecasting import lens_forecasts, probability_up
from disputatio.evaluation.backtest.labels import Label, labels_of
from disputatio.evaluation.backtest.plan import PLAN_SCHEMA, BacktestPlan, read_plan
from disputatio.evaluation.backtest.prices import PriceSeries, read_prices
from disputatio.evaluation.backtest.running import BacktestResult, run_backtest
from disputatio.evaluation.backtest.weights import WeightSearch, nested_weights
from disputatio.evaluation.backtest.windows import Fold, expanding_folds

__all__ = [
    "PLAN_SCHEMA",
    "BacktestPlan",
    "BacktestResult",
    "BenchmarkScores",
    "Fold",
    "Label",
    "PriceSeries",
    "WeightSearch",
    "benchmark_scores",
    "expanding_folds",
    "labels_of",
    "lens_forecasts",
    "nested_weights",
    "probability_up",
    "read_plan",
    "read_prices",
    "run_backtest",
]
