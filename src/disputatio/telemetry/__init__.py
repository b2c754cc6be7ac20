"""Observers that turn events of debates into metrics and traces."""

from disputatio.telemetry.metrics import MetricsObserver
from disputatio.telemetry.tracing import TracingObserver, add_tracing

__all__ = ["MetricsObserver", "TracingObserver", "add_tracing"]
