"""What a part of the benchmark hands in: figures, each with its limit where it has one."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """One row of the table.

    Attributes:
        name: what was measured.
        value: the figure, or None where it could not be measured; ``note`` then says why.
        unit: ``x`` for a ratio, ``%``, ``ms``, ``s``, ``MB``, ``calls/s``, ``tokens``...
        at_most: the limit it must not pass, or None.
        at_least: the limit it must reach, or None.
        note: a few words.
    """

    name: str
    value: float | None
    unit: str = ""
    at_most: float | None = None
    at_least: float | None = None
    note: str = ""

    @property
    def met(self) -> bool | None:
        """Whether the limit is kept; None where there is none, or where nothing was measured."""
        if self.value is None or (self.at_most is None and self.at_least is None):
            return None
        return (self.at_most is None or self.value <= self.at_most) and (
            self.at_least is None or self.value >= self.at_least
        )

    @property
    def limit(self) -> str:
        """The limit as people read it."""
        most = "" if self.at_most is None else f"at most {number(self.at_most)}"
        least = "" if self.at_least is None else f"at least {number(self.at_least)}"
        return ", ".join(word for word in (least, most) if word)


def number(value: float) -> str:
    """``value`` with as many digits as can be meant: three that count, no fraction from a hundred on."""
    if value == int(value) or abs(value) >= 100:
        return f"{round(value):,}"
    return f"{value:.{1 if abs(value) >= 10 else 2 if abs(value) >= 0.1 else 3}f}"
