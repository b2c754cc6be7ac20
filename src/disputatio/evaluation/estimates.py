"""Estimate calls, tokens and cost of an experiment by part, without calling a model.

A few evenly spaced proposals of each part are previewed, as ``debate --dry-run`` does, and their mean stands for all. A
vote costs as much as its debate, so its samples follow from the preview of a single answer.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from disputatio.engine.opening import Proposal
from disputatio.engine.preview import Preview, preview
from disputatio.kernel import JsonObject

PREVIEWED = 3
"""How many proposals of a part are previewed."""


@dataclass(frozen=True, slots=True)
class EstimatedPart:
    """One part of an experiment. ``usd`` is None where the price of a model is unknown."""

    name: str
    debates: int
    calls: int
    tokens: int
    usd: Decimal | None

    def as_json(self) -> JsonObject:
        """The sums; dollars are a string."""
        usd = None if self.usd is None else str(self.usd)
        return {"name": self.name, "debates": self.debates, "calls": self.calls, "tokens": self.tokens, "usd": usd}

    def line(self, width: int) -> str:
        """The sums as one line of text."""
        cost = "price unknown" if self.usd is None else f"{self.usd:.4f} USD"
        return f"  {self.name:{width}}{self.debates:>8,}{self.calls:>10,}{self.tokens:>14,}  {cost}"


async def estimate_part(name: str, proposals: Sequence[Proposal], *, batch: bool = False) -> EstimatedPart:
    """Estimate what ``proposals`` take together, with ``batch`` at the price of batches.

    Raises:
        InvalidInputError: one of them cannot run.
    """
    total = len(proposals)
    chosen = sorted({round(place * (total - 1) / max(1, PREVIEWED - 1)) for place in range(min(PREVIEWED, total))})
    seen = [await preview(proposals[place], batch=batch) for place in chosen]

    def scaled(value: int) -> int:
        return round(value * total / len(seen)) if seen else 0

    return EstimatedPart(
        name, total, scaled(sum(row.calls for row in seen)), scaled(sum(row.tokens for row in seen)), _usd(seen, total)
    )


def estimate_vote(name: str, debates: EstimatedPart, single: EstimatedPart) -> EstimatedPart:
    """Estimate a vote: as many single answers as come nearest to the tokens of ``debates``, question by question."""
    each = single.tokens / single.calls if single.calls else 0.0
    samples = max(single.debates, round(debates.tokens / each)) if each else 0
    usd = None if single.usd is None or not single.calls else single.usd * samples / single.calls
    return EstimatedPart(name, single.debates, samples, round(samples * each), usd if samples else Decimal(0))


def add_parts(parts: Sequence[EstimatedPart]) -> EstimatedPart:
    """Sum all parts."""
    prices = [row.usd for row in parts]
    usd = None if None in prices else sum((row for row in prices if row is not None), Decimal(0))
    counts = (sum(row.debates for row in parts), sum(row.calls for row in parts), sum(row.tokens for row in parts))
    return EstimatedPart("together", *counts, usd)


def estimate_lines(parts: Sequence[EstimatedPart]) -> list[str]:
    """Render the parts and their sum as text."""
    whole = add_parts(parts)
    width = max(len(row.name) for row in (*parts, whole)) + 2
    head = f"  {'':{width}}{'held':>8}{'calls':>10}{'tokens':>14}"
    note = "This estimates everything. Debates that already have a record call no model."
    return [head, *(row.line(width) for row in (*parts, whole)), note]


def estimate_json(parts: Sequence[EstimatedPart]) -> JsonObject:
    """The parts and their sum as JSON."""
    rows = [row.as_json() for row in parts]
    return {"estimate": True, "parts": rows, "together": add_parts(parts).as_json()}


def _usd(seen: Sequence[Preview], total: int) -> Decimal | None:
    prices = [row.usd for row in seen]
    if None in prices:
        return None
    return sum((row for row in prices if row is not None), Decimal(0)) * total / max(1, len(seen))
