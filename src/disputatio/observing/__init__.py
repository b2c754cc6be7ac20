"""Watchers that turn the events of debates into metrics and traces for the tools people already have."""

from disputatio.observing.metering import Metering
from disputatio.observing.setting import observed
from disputatio.observing.tracing import Tracing
from disputatio.observing.watchers import Several

__all__ = ["Metering", "Several", "Tracing", "observed"]
