"""Watchers that turn the events of debates into metrics and traces for the tools people already have."""

from disputatio.telemetry.metrics import MetricsObserver
from disputatio.telemetry.tracing import TracingObserver, add_tracing

__all__ = ["MetricsObserver", "TracingObserver", "add_tracing"]
