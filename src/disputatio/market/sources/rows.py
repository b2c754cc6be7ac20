"""Rows of a series with the moment from which on each could be known; cutting them is the only way to read them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from disputatio.market.indicators import Floats

Days: TypeAlias = NDArray[np.str_]
Seconds: TypeAlias = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Rows:
    """Observations of one series, ordered by the moment from which on they could be known.

    Attributes:
        source: who says so.
        days: what each row is about: ISO days.
        available: UTC seconds, ascending.
        columns: numbers by name; NaN for none.
        vintages: for revised series, the publication that each row belongs to.
        warnings: what was odd in the source, as sentences, each with the moment from which on it shows.
    """

    source: str
    days: Days
    available: Seconds
    columns: Mapping[str, Floats]
    vintages: Days | None = None
    warnings: tuple[tuple[int, str], ...] = field(default=())

    def until(self, cut: int) -> Rows:
        """What could be known at ``cut``: rows and warnings."""
        end = int(np.searchsorted(self.available, cut, side="right"))
        return Rows(
            self.source,
            self.days[:end],
            self.available[:end],
            {name: values[:end] for name, values in self.columns.items()},
            None if self.vintages is None else self.vintages[:end],
            tuple(row for row in self.warnings if row[0] <= cut),
        )

    @property
    def is_empty(self) -> bool:
        """Whether there are no rows."""
        return self.days.size == 0


def ordered(rows: Rows) -> Rows:
    """``rows`` ordered by the moment from which on they could be known, then by day."""
    order = np.lexsort((rows.days, rows.available))
    return Rows(
        rows.source,
        rows.days[order],
        rows.available[order],
        {name: values[order] for name, values in rows.columns.items()},
        None if rows.vintages is None else rows.vintages[order],
        rows.warnings,
    )
