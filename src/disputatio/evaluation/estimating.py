"""What a series of debates would take before any is held: calls, tokens and cost of each part, with its sum.

A few proposals of a part, evenly spread, are previewed as ``debate --dry-run`` does, and their mean stands for all.
A vote costs what the debate beside it costs, so its samples are reckoned from the preview of a single answer.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from disputatio.engine.opening import Proposal
from disputatio.engine.preview import Preview, preview
from disputatio.kernel import JsonObject

LOOKED_AT = 3
"""Proposals of a part that are previewed."""


@dataclass(frozen=True, slots=True)
class Part:
    """One part of a series. ``usd`` is None where the price of a model is not known."""

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
        """The sums for people."""
        cost = "price unknown" if self.usd is None else f"{self.usd:.4f} USD"
        return f"  {self.name:{width}}{self.debates:>8,}{self.calls:>10,}{self.tokens:>14,}  {cost}"


async def expected(name: str, proposals: Sequence[Proposal]) -> Part:
    """What ``proposals`` would take together.

    Raises:
        InvalidInputError: one of them cannot be held.
    """
    total = len(proposals)
    chosen = sorted({round(place * (total - 1) / max(1, LOOKED_AT - 1)) for place in range(min(LOOKED_AT, total))})
    seen = [await preview(proposals[place]) for place in chosen]

    def scaled(value: int) -> int:
        return round(value * total / len(seen)) if seen else 0

    return Part(
        name, total, scaled(sum(row.calls for row in seen)), scaled(sum(row.tokens for row in seen)), _usd(seen, total)
    )


def vote_beside(name: str, debates: Part, single: Part) -> Part:
    """As many single answers as come nearest to the tokens of ``debates``, which had as many questions."""
    each = single.tokens / single.calls if single.calls else 0.0
    samples = max(single.debates, round(debates.tokens / each)) if each else 0
    usd = None if single.usd is None or not single.calls else single.usd * samples / single.calls
    return Part(name, single.debates, samples, round(samples * each), usd if samples else Decimal(0))


def total_of(parts: Sequence[Part]) -> Part:
    """All parts together."""
    prices = [row.usd for row in parts]
    usd = None if None in prices else sum((row for row in prices if row is not None), Decimal(0))
    counts = (sum(row.debates for row in parts), sum(row.calls for row in parts), sum(row.tokens for row in parts))
    return Part("together", *counts, usd)


def estimate_lines(parts: Sequence[Part]) -> list[str]:
    """The parts and their sum for people."""
    whole = total_of(parts)
    width = max(len(row.name) for row in (*parts, whole)) + 2
    head = f"  {'':{width}}{'held':>8}{'calls':>10}{'tokens':>14}"
    note = "An estimate for all of it; what has a record already is not asked for again."
    return [head, *(row.line(width) for row in (*parts, whole)), note]


def estimate_json(parts: Sequence[Part]) -> JsonObject:
    """The parts and their sum."""
    rows = [row.as_json() for row in parts]
    return {"estimate": True, "parts": rows, "together": total_of(parts).as_json()}


def _usd(seen: Sequence[Preview], total: int) -> Decimal | None:
    prices = [row.usd for row in seen]
    if None in prices:
        return None
    return sum((row for row in prices if row is not None), Decimal(0)) * total / max(1, len(seen))
