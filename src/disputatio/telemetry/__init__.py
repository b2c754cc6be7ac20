"""Watchers that turn the events of debates into metrics and traces for the tools people already have."""

from disputatio.telemetry.metrics import Metering
from disputatio.telemetry.observers import Several
from disputatio.telemetry.settings import observed
from disputatio.telemetry.tracing import Tracing

__all__ = ["Metering", "Several", "Tracing", "observed"]
