"""The metrics of one server, for Prometheus."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from disputatio.fleet.exposing import queue_gauges
from disputatio.observing import Metering

if TYPE_CHECKING:
    from prometheus_client import CollectorRegistry

    from disputatio._service.service import Service

FIGURES_S = 60.0
"""How old figures over the whole store may be: every record is read for them."""


def metering() -> tuple[CollectorRegistry, Metering]:
    """A registry with the metrics of debates and of this process in it."""
    from prometheus_client import CollectorRegistry, ProcessCollector

    registry = CollectorRegistry()
    ProcessCollector(registry=registry)
    return registry, Metering(registry)


def exposed(service: Service) -> bytes:
    """All metrics in the text form of Prometheus."""
    from prometheus_client import generate_latest

    now = time.monotonic()
    if service.figures_kept is None or now - service.figures_kept[0] > FIGURES_S:
        service.figures_kept = (now, list(_figures(service)))
    families = [*service.figures_kept[1], *_now(service)]
    return generate_latest(service.registry) + generate_latest(_Collected(families))


def _figures(service: Service) -> Iterator[Any]:
    from disputatio._service.service import OpenView
    from disputatio.config import Arguments
    from disputatio.config.process import configured_store
    from disputatio.metrics import Selection, alerts_of, collect
    from disputatio.observing.metering import gauges

    figures = collect(OpenView(service.store), Selection())
    return gauges(figures, alerts_of(figures, configured_store(Arguments()).metrics))


def _now(service: Service) -> Iterator[Any]:
    from prometheus_client.core import GaugeMetricFamily

    yield GaugeMetricFamily("disputatio_streams", "Listeners that follow a debate now.", value=service.hub.count())
    yield from queue_gauges(service.store)


class _Collected:
    """Metric families that were worked out already."""

    def __init__(self, families: list[Any]) -> None:
        self._families = families

    def collect(self) -> list[Any]:
        """Them."""
        return self._families
