"""Figures over many debates: a count beside every rate, and None where nothing was counted.

A store is read debate by debate, and each is dropped after counting.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from disputatio.kernel import JsonObject
from disputatio.metrics.measures import Measures
from disputatio.record.history import Status


@dataclass(slots=True)
class Mean:
    """A mean of ``of`` values, with the smallest and the largest."""

    of: int = 0
    total: float = 0.0
    least: float | None = None
    most: float | None = None

    def add(self, value: float | None) -> None:
        """Add one value; None is missing and not counted."""
        if value is None:
            return
        self.of += 1
        self.total += value
        self.least = value if self.least is None else min(self.least, value)
        self.most = value if self.most is None else max(self.most, value)

    @property
    def value(self) -> float | None:
        """The mean."""
        return self.total / self.of if self.of else None

    def as_json(self) -> JsonObject:
        """The mean and its count."""
        return {
            "mean": None if self.value is None else round(self.value, 4),
            "of": self.of,
            "least": self.least,
            "most": self.most,
        }


@dataclass(slots=True)
class Share:
    """``count`` of ``of``."""

    count: int = 0
    of: int = 0

    def add(self, value: bool | None) -> None:  # noqa: FBT001  (the counted value)
        """Add one case; None is missing and not counted."""
        if value is not None:
            self.of += 1
            self.count += value

    @property
    def value(self) -> float | None:
        """The share, 0 to 1."""
        return self.count / self.of if self.of else None

    def as_json(self) -> JsonObject:
        """The share and its counts."""
        return {"share": None if self.value is None else round(self.value, 4), "count": self.count, "of": self.of}


@dataclass(slots=True)
class EstimateRatio:
    """What debates took compared with their estimates.

    ``ratio`` is the total taken over the total estimated, so many cheap debates do not outweigh a dear one. Debates
    that were cut short, or lack an estimate or reported tokens, are left out.
    """

    of: int = 0
    tokens: int = 0
    estimated_tokens: int = 0
    priced: int = 0
    usd: Decimal = Decimal(0)
    estimated_usd: Decimal = Decimal(0)
    worst: float | None = None

    def add(self, row: Measures) -> None:
        """Add one debate."""
        if not row.ended or not row.estimated_tokens or row.tokens is None:
            return
        self.of += 1
        self.tokens += row.tokens
        self.estimated_tokens += row.estimated_tokens
        ratio = row.tokens / row.estimated_tokens
        self.worst = ratio if self.worst is None else max(self.worst, ratio)
        if row.usd is not None and row.estimated_usd:
            self.priced += 1
            self.usd += row.usd
            self.estimated_usd += row.estimated_usd

    @property
    def ratio(self) -> float | None:
        """Tokens taken over tokens estimated."""
        return self.tokens / self.estimated_tokens if self.of else None

    @property
    def usd_ratio(self) -> float | None:
        """Dollars spent over dollars estimated."""
        return float(self.usd / self.estimated_usd) if self.priced else None

    def as_json(self) -> JsonObject:
        """Both sums and their ratio."""
        return {
            "of": self.of,
            "tokens": self.tokens,
            "estimated_tokens": self.estimated_tokens,
            "ratio": _rounded(self.ratio),
            "worst": _rounded(self.worst),
            "priced": self.priced,
            "usd": str(self.usd) if self.priced else None,
            "estimated_usd": str(self.estimated_usd) if self.priced else None,
            "usd_ratio": _rounded(self.usd_ratio),
        }


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 4)


@dataclass(slots=True)
class FormatFigures:
    """The figures of one format."""

    debates: int = 0
    statuses: dict[str, int] = field(default_factory=dict)
    turns: int = 0
    abstentions: int = 0
    violations: int = 0
    rejected: int = 0
    calls: Mean = field(default_factory=Mean)
    failed: int = 0
    tokens: Mean = field(default_factory=Mean)
    usd: Decimal = Decimal(0)
    priced: int = 0
    latency_ms: int = 0
    latency_most_ms: int = 0
    timed: int = 0
    degraded: Share = field(default_factory=Share)
    tilt: Mean = field(default_factory=Mean)

    def add(self, row: Measures) -> None:
        """Add one debate."""
        self.debates += 1
        _count(self.statuses, row.status.value)
        self.turns += row.turns
        self.abstentions += row.abstentions
        self.violations += row.violations
        self.rejected += row.rejected
        self.failed += row.failed
        if row.status is not Status.IMPORTED:
            self.calls.add(row.calls)
            self.tokens.add(row.tokens)
        if row.usd is not None:
            self.usd += row.usd
            self.priced += 1
        total, most, of = row.latencies
        self.latency_ms, self.timed = self.latency_ms + total, self.timed + of
        self.latency_most_ms = max(self.latency_most_ms, most)
        here = {Status.COMPLETE, Status.DEGRADED, Status.TRUNCATED, Status.FAILED}
        self.tilt.add(row.tilt)
        self.degraded.add(row.status is not Status.COMPLETE if row.status in here else None)

    @property
    def latency(self) -> float | None:
        """Mean milliseconds of an answered call."""
        return self.latency_ms / self.timed if self.timed else None

    def as_json(self) -> JsonObject:
        """All of it."""
        return {
            "debates": self.debates,
            "statuses": dict(sorted(self.statuses.items())),
            "not_whole": self.degraded.as_json(),
            "tilt": self.tilt.as_json(),
            "turns": self.turns,
            "abstentions": self.abstentions,
            "violations": self.violations,
            "rejected_answers": self.rejected,
            "calls": self.calls.as_json(),
            "failed_calls": self.failed,
            "tokens": self.tokens.as_json(),
            "usd": {"total": str(self.usd) if self.priced else None, "of": self.priced},
            "latency_ms": {
                "mean": _rounded(self.latency),
                "most": self.latency_most_ms if self.timed else None,
                "of": self.timed,
            },
        }


@dataclass(slots=True)
class Period:
    """One month of reviews: the tilt of the moderators and the strength of the critiques."""

    tilt: Mean = field(default_factory=Mean)
    strength: Mean = field(default_factory=Mean)

    def as_json(self) -> JsonObject:
        """Both means."""
        return {"tilt": self.tilt.as_json(), "challenge_strength": self.strength.as_json()}


@dataclass(slots=True)
class Figures:
    """Figures over the added debates. ``left_out`` are records that do not verify, with the reason."""

    debates: int = 0
    strength: Mean = field(default_factory=Mean)
    claimed: Mean = field(default_factory=Mean)
    low_confidence: Share = field(default_factory=Share)
    confidence: dict[str, int] = field(default_factory=dict)
    uncertainties: dict[str, Mean] = field(default_factory=dict)
    expected: dict[str, EstimateRatio] = field(default_factory=dict)
    agreement: Share = field(default_factory=Share)
    one_conclusion: Share = field(default_factory=Share)
    tilt: Mean = field(default_factory=Mean)
    periods: dict[str, Period] = field(default_factory=dict)
    formats: dict[str, FormatFigures] = field(default_factory=dict)
    outcomes: dict[str, int] = field(default_factory=dict)
    sign_offs: dict[str, int] = field(default_factory=dict)
    left_out: dict[str, str] = field(default_factory=dict)

    def add(self, row: Measures) -> None:
        """Add one debate."""
        self.debates += 1
        _at(self.formats, row.format or "unknown", FormatFigures).add(row)
        if row.strengths:
            # One value for each debate, however many rounds it has.
            self.strength.add(sum(row.strengths) / len(row.strengths))
            self.claimed.add(sum(row.claimed) / len(row.claimed))
        if row.confidence:
            _count(self.confidence, row.confidence)
            self.low_confidence.add(row.confidence == "LOW")
        if row.uncertainties is not None:
            _at(self.uncertainties, row.task_type, Mean).add(row.uncertainties)
        if row.ended and row.estimated_tokens:
            _at(self.expected, row.task_type, EstimateRatio).add(row)
        self.agreement.add(row.agrees)
        self.one_conclusion.add(row.one_conclusion)
        if row.verdict is not None:
            _count(self.outcomes, row.verdict or "no verdict")
        if row.sign_off is not None:
            _count(self.sign_offs, row.sign_off)
        if row.format == "review":
            self._add_review(row)

    def _add_review(self, row: Measures) -> None:
        """Add the monthly values of a review."""
        self.tilt.add(row.tilt)
        month = _at(self.periods, row.opened_at[:7], Period)
        month.tilt.add(row.tilt)
        month.strength.add(sum(row.strengths) / len(row.strengths) if row.strengths else None)

    def as_json(self) -> JsonObject:
        """The stable JSON form; unknown values are null."""
        return {
            "debates": self.debates,
            "left_out": dict(self.left_out),
            "challenge_strength": {**self.strength.as_json(), "claimed": self.claimed.as_json()},
            "low_confidence": self.low_confidence.as_json(),
            "confidence": dict(sorted(self.confidence.items())),
            "uncertainties": {name: row.as_json() for name, row in sorted(self.uncertainties.items())},
            "against_estimate": {name: row.as_json() for name, row in sorted(self.expected.items())},
            "agreement_with_first_proposer": self.agreement.as_json(),
            "one_conclusion": self.one_conclusion.as_json(),
            "tilt": {**self.tilt.as_json(), "by_month": {m: row.as_json() for m, row in sorted(self.periods.items())}},
            "formats": {name: row.as_json() for name, row in sorted(self.formats.items())},
            "outcomes": dict(sorted(self.outcomes.items())),
            "sign_offs": dict(sorted(self.sign_offs.items())),
        }


def _count(rows: dict[str, int], name: str) -> None:
    rows[name] = rows.get(name, 0) + 1


def _at(rows: dict[str, Any], name: str, make: Callable[[], Any]) -> Any:
    return rows[name] if name in rows else rows.setdefault(name, make())


def figures_json(figures: Figures, selection: Mapping[str, str | None]) -> JsonObject:
    """The report of ``disputatio metrics``, version 1."""
    return {"schema": "disputatio/metrics", "version": 1, "selection": dict(selection), **figures.as_json()}
