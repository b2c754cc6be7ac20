"""The metrics of one server, for Prometheus."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from disputatio._service.hub import Hub
from disputatio.record.sql import SqlStore
from disputatio.record.store import Store
from disputatio.telemetry import MetricsObserver
from disputatio.workers.metrics import queue_gauges

if TYPE_CHECKING:
    from prometheus_client.core import Metric

FIGURES_S = 60.0
"""How old figures over the whole store may be: all its debates are counted for them."""


class Exposition:
    """The metrics of one server.

    Args:
        store: the store that has the queue.
        open_view: the debates that figures over the whole store may count.
        hub: counts the listeners.

    Attributes:
        registry: the metrics of this process and of its debates.
        metering: watches debates and counts for the registry.
    """

    def __init__(self, store: SqlStore, open_view: Store, hub: Hub) -> None:
        from prometheus_client import CollectorRegistry, ProcessCollector

        self._store, self._open_view, self._hub = store, open_view, hub
        self._figures: list[Metric] = []
        self._figures_until = float("-inf")
        self.registry = CollectorRegistry()
        ProcessCollector(registry=self.registry)
        self.metering = MetricsObserver(self.registry)

    def text(self) -> bytes:
        """All metrics as Prometheus reads them; those over the whole store are at most a minute old."""
        from prometheus_client import generate_latest

        return generate_latest(self.registry) + generate_latest(self)

    def collect(self) -> Iterator[Metric]:
        """The metrics that are worked out when they are asked for."""
        from prometheus_client.core import GaugeMetricFamily

        if time.monotonic() > self._figures_until:
            self._figures = list(self._worked_out())
            self._figures_until = time.monotonic() + FIGURES_S
        yield from self._figures
        yield GaugeMetricFamily("disputatio_streams", "Listeners that follow a debate now.", value=self._hub.count())
        yield from queue_gauges(self._store)

    def _worked_out(self) -> Iterator[Any]:
        from disputatio.config import Arguments
        from disputatio.config.process import configured_store
        from disputatio.metrics.collecting import Selection, collect
        from disputatio.metrics.report import find_alerts
        from disputatio.telemetry.metrics import gauges

        figures = collect(self._open_view, Selection())
        return gauges(figures, find_alerts(figures, configured_store(Arguments()).metrics))
