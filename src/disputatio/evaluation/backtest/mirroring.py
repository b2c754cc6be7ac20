"""Market data with up and down exchanged: every price reflected in its log returns.

A close p becomes c² / p, c being the first close of the series: its log returns change their sign, their size stays.
Highs become lows. What is no price (volumes, the VIX, rates, the economy) stays as it is, and earnings are left out: a
reflected price has none. A lens that reads prices has to change its mind; one that always says the same is exposed.
"""

from __future__ import annotations

import numpy as np

from disputatio.evaluation.backtest.archive import Archive
from disputatio.market.sources.rows import Rows

_OPPOSITE = {"open": "open", "high": "low", "low": "high", "close": "close"}
_PRICES = ("index:", "sector:")


def mirrored(archive: Archive) -> Archive:
    """``archive`` with every price reflected; its name says so."""
    changed = archive.changed(_reflected)
    return Archive(f"{archive.name}:mirrored", changed.catalogue, changed.rows, changed.failed)


def _reflected(key: str, rows: Rows) -> Rows | None:
    if key == "earnings":
        return None
    if not key.startswith(_PRICES) or rows.is_empty:
        return rows
    square = float(rows.columns["close"][0]) ** 2
    with np.errstate(divide="ignore", invalid="ignore"):
        columns = {
            name: square / rows.columns[_OPPOSITE[name]] if _OPPOSITE.get(name) in rows.columns else values
            for name, values in rows.columns.items()
        }
    return Rows(rows.source, rows.days, rows.available, columns, rows.vintages, rows.warnings)
