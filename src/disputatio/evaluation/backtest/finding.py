"""What a backtest found, in sentences that say no more than its comparisons do.

An edge is spoken of where two conditions are met, both by the test that the plan names: the debate is right more often
than the benchmark of the plan on up and down, and on the balanced label. Where one fails the sentence names it. The
power is that of this rule: each condition is met, by a true lead of ten points at the discordance that was seen, with
a probability that can be computed, and both are met at most as often as the rarer one.
"""

from __future__ import annotations

from collections.abc import Mapping

from disputatio.evaluation.backtest.running import DEBATE, BacktestResult
from disputatio.evaluation.intervals import ALPHA
from disputatio.evaluation.statistics import Comparison
from disputatio.evaluation.statistics.paired import p_text

NAMES: Mapping[str, str] = {
    DEBATE: "the debate",
    "openings": "its openings alone, undebated",
    "always_up": "always up",
    "climatology": "climatology",
    "average_200": "the 200-day rule",
    "vix_below_20": "VIX below 20",
    "tech alone": "technical lens alone",
    "fund alone": "fundamental lens alone",
    "macro alone": "macro lens alone",
    "senti alone": "sentiment lens alone",
}
"""What forecasters are called for people."""

_UP_AND_DOWN, _BALANCED = "on up and down", "on the balanced label"


def accuracy_text(result: BacktestResult) -> str:
    """How often the debate and the benchmark of the plan were right; empty where nothing could be scored."""
    counts = result.primary.counts
    if not counts.items:
        return ""
    if all(call is None for call in result.said[DEBATE]):
        return f"The debate made no call on any of {counts.items} {result.plan.asks_for}s."
    own, other = (100 * (counts.both + row) / counts.items for row in (counts.first, counts.second))
    against = NAMES.get(result.plan.primary_against, result.plan.primary_against)
    return f"Of {counts.items} {result.plan.asks_for}s the debate called {own:.1f} % right, {against} {other:.1f} %."


def verdict_text(result: BacktestResult) -> str:
    """Whether there is an edge; which condition failed where there is none, and how likely one would have been seen."""
    against = NAMES.get(result.plan.primary_against, result.plan.primary_against)
    if result.has_edge:
        return (
            "That is beyond chance on both labels. An edge in prices is rare and a leak is common: look for one before "
            "you believe it."
        )
    if all(call is None for call in result.said[DEBATE]):
        return "Without a call there is nothing to compare."
    primary, counts = result.primary, result.primary.counts
    if primary.significant and counts.second > counts.first:
        return f"It is right less often than {against}, beyond chance."
    rows = ((_UP_AND_DOWN, primary), (_BALANCED, result.co_primary))
    said = [_condition(where, row, against) for where, row in rows]
    return f"No demonstrable edge: {'; '.join(said)}. {power_text(result)}"


def power_text(result: BacktestResult) -> str:
    """How likely both conditions would have been met by a true lead of the planned size."""
    rows = {_UP_AND_DOWN: result.primary, _BALANCED: result.co_primary}
    points = f"{100 * result.primary.gain:g} points"
    parts = []
    for where, row in rows.items():
        if row is None or not row.counts.items:
            return f"Without an outcome {where} no edge can be shown."
        if row.power_seen is None:
            share = 100 * row.counts.discordant / row.counts.items
            return f"A lead of {points} cannot be where only {share:.1f} % of the dates tell the two apart {where}."
        parts.append((where, row.power_seen))
    least = min(power for _, power in parts)
    each = ", ".join(f"{where} {power:.2f}" for where, power in parts)
    return (
        f"Were there a lead of {points}, both would be met with a probability of at most {least:.2f} at the "
        f"discordance seen ({each})."
    )


def _condition(where: str, row: Comparison | None, against: str) -> str:
    """One condition, and what became of it."""
    if row is None or not row.counts.items:
        return f"{where} no date has an outcome"
    gap, p = row.counts.first - row.counts.second, row.adjusted
    test = f"{'mid-p' if row.mid else 'exact p'} {p_text(p)}"
    if not gap:
        return f"{where} it is right as often as {against}"
    points = f"{100 * abs(gap) / row.counts.items:.1f} points {'ahead of' if gap > 0 else 'behind'} {against}"
    if p > ALPHA:
        return f"{where} it is {points}, which chance explains ({test})"
    return f"{where} it is {points}, beyond chance ({test})"
