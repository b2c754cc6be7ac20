"""Indicators of a price series in plain numpy, as Wilder and Appel define them.

Each takes one-dimensional arrays of sessions, oldest first, without gaps. It returns an array of the same length, with
NaN at the start until there are enough sessions. After ``WARM_UP`` sessions less than 1e-8 of a recursive indicator's
start remains.
"""

from __future__ import annotations

import math
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float64]

WARM_UP = 250
"""Sessions that a recursive indicator needs."""


def moving_average(close: Floats, period: int) -> Floats:
    """The mean of the last ``period`` closes, including the session's own."""
    out = np.full(close.size, np.nan)
    if close.size >= period:
        out[period - 1 :] = np.lib.stride_tricks.sliding_window_view(close, period).mean(axis=1)
    return out


def rsi(close: Floats, period: int = 14) -> Floats:
    """Relative strength index, 0 to 100: Wilder's smoothing of gains and losses, started with their mean.

    A constant series gives NaN.
    """
    if close.size <= period:
        return np.full(close.size, np.nan)
    moves = np.diff(close)
    gains, losses = np.maximum(moves, 0).tolist(), np.maximum(-moves, 0).tolist()
    gain, loss = sum(gains[:period]) / period, sum(losses[:period]) / period
    up, down = np.array(_smooth(gain, gains[period:], period)), np.array(_smooth(loss, losses[period:], period))
    out = np.full(close.size, np.nan)
    np.divide(100 * up, up + down, out=out[period:], where=up + down > 0)
    return out


def _smooth(level: float, rows: list[float], period: int) -> list[float]:
    """Smooth ``rows`` as Wilder does, starting at ``level``, which is included."""
    found = [level]
    for value in rows:
        level = (level * (period - 1) + value) / period
        found.append(level)
    return found


def exponential_average(values: Floats, period: int) -> Floats:
    """Smooth by 2 / (period + 1), starting with the mean of the first ``period`` values."""
    known = np.flatnonzero(~np.isnan(values))
    if known.size < period:
        return np.full(values.size, np.nan)
    start = int(known[0]) + period - 1
    rows = values.tolist()
    level = sum(rows[start - period + 1 : start + 1]) / period
    out = [math.nan] * start + [level]
    weight = 2 / (period + 1)
    for value in rows[start + 1 :]:
        level += weight * (value - level)
        out.append(level)
    return np.array(out)


def macd(close: Floats, fast: int = 12, slow: int = 26, signal: int = 9) -> tuple[Floats, Floats, Floats]:
    """Line (fast less slow average), signal (the line's average) and histogram (line less signal), in points."""
    line = exponential_average(close, fast) - exponential_average(close, slow)
    smoothed = exponential_average(line, signal)
    return line, smoothed, line - smoothed


def atr(high: Floats, low: Floats, close: Floats, period: int = 14) -> Floats:
    """Average true range in points: Wilder's smoothing, started with the mean of the first ``period`` ranges.

    The first session has no previous close and so no true range.
    """
    if close.size <= period:
        return np.full(close.size, np.nan)
    before = close[:-1]
    ranges = np.maximum(high[1:], before) - np.minimum(low[1:], before)
    rows = ranges.tolist()
    level = sum(rows[:period]) / period
    out = [math.nan] * period + [level]
    for value in rows[period:]:
        level = (level * (period - 1) + value) / period
        out.append(level)
    return np.array(out)


def find_last_jump(close: Floats, largest: float) -> int:
    """Return the place of the last session that moved by more than ``largest`` (0.3 is 30 per cent); 0 for none."""
    if close.size < 2:
        return 0
    moves = np.abs(np.log(close[1:] / close[:-1]))
    places = np.flatnonzero(moves > abs(np.log1p(largest)))
    return int(places[-1]) + 1 if places.size else 0
