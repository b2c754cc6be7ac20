"""Count what debates do, for Prometheus: debates, turns, calls, tokens, cost and durations.

These counters cover this process. ``gauges`` turns the figures over a whole store, from ``disputatio.metrics``, into
gauges. Unknown values have no sample, not a zero.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Any, TypeAlias

from disputatio.metrics.figures import Figures
from disputatio.metrics.report import Alert
from disputatio.record.chain import Sealed
from disputatio.record.events import (
    Abstained,
    AnswerRejected,
    BudgetReached,
    CallLost,
    CallMade,
    CallSent,
    DebateClosed,
    DebateInterrupted,
    DebateOpened,
    DebateResumed,
    Event,
    TurnTaken,
)

if TYPE_CHECKING:
    from prometheus_client import CollectorRegistry

_SECONDS = (0.1, 0.25, 0.5, 1, 2, 4, 8, 15, 30, 60, 120, 300)
_MONTHS = 3
_ByLabel: TypeAlias = "tuple[str, str, str, dict[str, float | None]]"
"""A figure, its description, the name of its label, and its values by label."""
_LONG = (1, 5, 15, 30, 60, 120, 300, 600, 1_800, 3_600)


@dataclass(slots=True)
class _RunningDebate:
    """What is remembered of a running debate."""

    format: str
    began: str
    calls: dict[str, str]


class MetricsObserver:
    """Counts the events of any number of debates.

    Args:
        registry: where the metrics are kept.
    """

    def __init__(self, registry: CollectorRegistry) -> None:
        from prometheus_client import Counter, Gauge, Histogram

        def counter(name: str, about: str, *labels: str) -> Counter:
            return Counter(f"disputatio_{name}", about, labels, registry=registry)

        self._opened = counter("debates_opened", "Debates that began here.", "format")
        self._ended = counter("debates_ended", "Debates that ended here, by status.", "format", "status")
        self._running = Gauge("disputatio_debates_running", "Debates that run here now.", registry=registry)
        self._seconds = Histogram(
            "disputatio_debate_seconds", "From the opening to the end.", ["format"], buckets=_LONG, registry=registry
        )
        self._calls = counter("calls", "Calls that came back, by what came of them.", "model", "outcome")
        self._latency = Histogram(
            "disputatio_call_seconds", "How long calls took.", ["model"], buckets=_SECONDS, registry=registry
        )
        self._tokens = counter("tokens", "Tokens that providers reported.", "model", "direction")
        self._cost = counter("cost_usd", "Known costs, in US dollars.", "model")
        self._turns = counter("turns", "Turns taken.", "format", "phase")
        self._abstained = counter("abstentions", "Turns not taken, by reason.", "format", "reason")
        self._violations = counter("violations", "Rules broken by accepted turns.", "format")
        self._rejected = counter("answers_rejected", "Answers not accepted.", "because")
        self._ceilings = counter("ceilings_reached", "Calls not made because of a ceiling.", "limit")
        self._held: dict[str, _RunningDebate] = {}

    def on_text(self, path: str, part: str, text: str) -> None:
        """Ignore the text."""

    def on_event(self, event: Event, sealed: Sealed) -> None:
        """Count the event."""
        held = self._held.setdefault(sealed.debate, _RunningDebate("unknown", "", {}))
        match event:
            case DebateOpened():
                held.format, held.began = event.format, sealed.at
                self._opened.labels(event.format).inc()
                self._running.set(len(self._held))
            case DebateResumed():
                self._running.set(len(self._held))
            case DebateClosed() | DebateInterrupted():
                self._end(event, sealed, held)
            case TurnTaken():
                self._turns.labels(held.format, event.phase).inc()
                self._violations.labels(held.format).inc(len(event.violations))
            case Abstained():
                self._abstained.labels(held.format, event.reason).inc()
            case AnswerRejected():
                self._rejected.labels(event.because).inc()
            case BudgetReached():
                self._ceilings.labels(event.limit).inc()
            case CallSent():
                held.calls[event.call] = event.model
            case CallLost():
                self._calls.labels(held.calls.pop(event.call, "unknown"), "lost").inc()
            case CallMade():
                self._call(event, held.calls.pop(event.call, "unknown"))
            case _:
                if not held.began:
                    # Attached to a finished debate.
                    del self._held[sealed.debate]

    def on_detach(self, debate: str) -> None:
        """Count ``debate`` as no longer running. If another process took it over, it has no end here."""
        if self._held.pop(debate, None) is not None:
            self._running.set(len(self._held))

    def _end(self, event: DebateClosed | DebateInterrupted, sealed: Sealed, held: _RunningDebate) -> None:
        status = event.status if isinstance(event, DebateClosed) else "INTERRUPTED"
        self._ended.labels(held.format, status).inc()
        if held.began:
            took = datetime.fromisoformat(sealed.at) - datetime.fromisoformat(held.began)
            self._seconds.labels(held.format).observe(took.total_seconds())
        del self._held[sealed.debate]
        self._running.set(len(self._held))

    def _call(self, made: CallMade, model: str) -> None:
        self._calls.labels(model, made.fault or "answered").inc()
        self._latency.labels(model).observe(made.latency_ms / 1000)
        usage: Any = made.usage
        for direction in ("input", "output", "cached", "reasoning"):
            count = usage.get(f"{direction}_tokens")
            if count is not None:
                self._tokens.labels(model, direction).inc(count)
        if made.cost_usd is not None:
            self._cost.labels(model).inc(float(Decimal(made.cost_usd)))


def gauges(figures: Figures, alerts: Iterable[Alert]) -> Iterator[Any]:
    """The figures over a store as gauges, and which thresholds they exceed."""
    from prometheus_client.core import GaugeMetricFamily

    alone = (
        ("challenge_strength_mean", "Mean strength of critiques, 1 to 10.", figures.strength.value),
        ("low_confidence_share", "Share of syntheses with LOW confidence.", figures.low_confidence.value),
        ("first_proposer_agreement_share", "Share that agrees with the first proposer.", figures.agreement.value),
        ("one_conclusion_share", "Share in which all roles reach one conclusion.", figures.one_conclusion.value),
        ("moderator_tilt_mean", "Mean tilt of moderators, in points.", figures.tilt.value),
    )
    for name, about, value in alone:
        if value is not None:
            yield GaugeMetricFamily(f"disputatio_{name}", about, value=value)
    yield from _labelled(figures)
    passed = GaugeMetricFamily(
        "disputatio_threshold_passed", "1 for each figure past its threshold.", labels=["name", "about"]
    )
    for alert in alerts:
        passed.add_metric([alert.name, alert.about], 1)
    yield passed


def _labelled(figures: Figures) -> Iterator[Any]:
    by_label: tuple[_ByLabel, ...] = (
        (
            "uncertainties_mean",
            "Uncertainties a debate.",
            "task_type",
            {name: row.value for name, row in figures.uncertainties.items()},
        ),
        (
            "tokens_against_estimate_ratio",
            "Tokens taken over tokens expected.",
            "task_type",
            {name: row.ratio for name, row in figures.expected.items()},
        ),
        (
            "cost_against_estimate_ratio",
            "US dollars spent over US dollars expected, where prices are known.",
            "task_type",
            {name: row.usd_ratio for name, row in figures.expected.items()},
        ),
        (
            "not_whole_share",
            "Share of debates that are not whole.",
            "format",
            {name: row.degraded.value for name, row in figures.formats.items()},
        ),
        (
            "debates_kept",
            "Debates in the store.",
            "format",
            {name: float(row.debates) for name, row in figures.formats.items()},
        ),
    )
    yield from _families(by_label)
    yield from _families(_by_month(figures))


def _by_month(figures: Figures) -> tuple[_ByLabel, ...]:
    """Figures of the last months, because a drift would average out over the whole time."""
    months = sorted(figures.periods)[-_MONTHS:]
    return (
        (
            "moderator_tilt_month_mean",
            "Mean tilt of moderators in a month, in points.",
            "month",
            {name: figures.periods[name].tilt.value for name in months},
        ),
        (
            "challenge_strength_month_mean",
            "Mean strength of critiques in a month, 1 to 10.",
            "month",
            {name: figures.periods[name].strength.value for name in months},
        ),
    )


def _families(rows: tuple[_ByLabel, ...]) -> Iterator[Any]:
    from prometheus_client.core import GaugeMetricFamily

    for name, about, label, values in rows:
        family = GaugeMetricFamily(f"disputatio_{name}", about, labels=[label])
        for key, value in values.items():
            if value is not None:
                family.add_metric([key], value)
        yield family
