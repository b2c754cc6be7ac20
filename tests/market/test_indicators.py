"""Indicators equal TA-Lib's, an independent implementation in C, once their start is forgotten."""

from __future__ import annotations

import math

import numpy as np
import pytest

from disputatio.market.indicators import WARM_UP, atr, find_last_jump, macd, moving_average, rsi

talib = pytest.importorskip("talib", reason="TA-Lib, the oracle of the indicators, is not installed")

RANDOM = np.random.default_rng(20_081_128)
SERIES = {
    "a random walk": 1_000 * np.exp(np.cumsum(RANDOM.normal(0, 0.012, 900))),
    "a calm market": 100 + np.cumsum(RANDOM.normal(0, 0.01, 900)),
    "a steady rise": np.linspace(50, 400, 900),
    "falls and flat stretches": 500 - np.cumsum(np.repeat(RANDOM.integers(0, 3, 90), 10) * 0.1),
}


def farthest(ours: np.ndarray, theirs: np.ndarray) -> float:
    kept = slice(WARM_UP, None)
    assert not np.isnan(theirs[kept]).any()
    return float(np.max(np.abs(ours[kept] - theirs[kept])))


@pytest.mark.parametrize("name", SERIES)
def test_all_equal_the_oracle_after_the_warm_up(name):
    close = SERIES[name]
    high, low = close + RANDOM.uniform(0, 5, close.size), close - RANDOM.uniform(0, 5, close.size)
    assert farthest(rsi(close), talib.RSI(close, 14)) < 1e-9
    for ours, theirs in zip(macd(close), talib.MACD(close, 12, 26, 9), strict=True):
        assert farthest(ours, theirs) < 1e-9
    assert farthest(atr(high, low, close), talib.ATR(high, low, close, 14)) < 1e-9
    for period in (20, 50, 200):
        assert farthest(moving_average(close, period), talib.SMA(close, period)) < 1e-9


def test_what_never_moved_has_no_relative_strength():
    """TA-Lib says 0 there, as if everything had fallen; nothing fell."""
    assert np.isnan(rsi(np.full(300, 100.0))).all()


@pytest.mark.parametrize("sessions", [0, 1, 14])
def test_too_few_sessions_give_nothing(sessions):
    close = np.linspace(100, 110, sessions)
    for values in (rsi(close), atr(close, close, close), moving_average(close, 20), *macd(close)):
        assert values.size == sessions
        assert np.isnan(values).all()


def test_a_jump_is_found_where_it_is():
    close = np.array([100.0, 101, 102, 51, 52, 50])
    assert find_last_jump(close, 0.3) == 3
    assert find_last_jump(close[:3], 0.3) == 0
    assert find_last_jump(close[:1], 0.3) == 0


def test_the_start_is_forgotten_within_the_warm_up():
    """Two pasts that differ in everything give one present, which is why a base may read a window alone."""
    tail = SERIES["a random walk"][-600:]
    other = np.concatenate([np.linspace(10, float(tail[0]), 200), tail])
    for ours, theirs in zip((rsi(tail), *macd(tail)), (rsi(other), *macd(other)), strict=True):
        assert math.isclose(ours[-1], theirs[-1], abs_tol=1e-9)
