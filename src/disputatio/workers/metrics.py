"""Serve Prometheus metrics of a worker: what its debates do, and how long the queues are."""

from __future__ import annotations

import socket
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from socketserver import ThreadingMixIn
from typing import TYPE_CHECKING, Any
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer, make_server

from disputatio.errors import InvalidInputError, StoreError
from disputatio.telemetry import MetricsObserver
from disputatio.workers.job_table import JobTable
from disputatio.workers.limits import list_limits
from disputatio.workers.port import JobState

if TYPE_CHECKING:
    from disputatio.record.sql import SqlStore

PATIENCE_S = 10.0
"""Seconds that a request for metrics may take. Each has a thread, which a silent client would keep."""


def queue_gauges(store: SqlStore) -> Iterator[Any]:
    """Jobs by queue and state, and calls by limit and state, in the whole store."""
    from prometheus_client.core import GaugeMetricFamily

    counts = Counter((row.queue, row.state) for row in JobTable(store).jobs(unfinished=True))
    family = GaugeMetricFamily("disputatio_orders", "Debates that wait or run.", labels=["queue", "state"])
    for queue in sorted({queue for queue, _ in counts}):
        for state in (JobState.WAITING, JobState.RUNNING):
            family.add_metric([queue, state.value.lower()], counts[queue, state])
    yield family
    limited = GaugeMetricFamily("disputatio_limited_calls", "Calls under a limit.", labels=["limit", "state"])
    for row in list_limits(store):
        limited.add_metric([row.name, "waiting"], row.waiting)
        limited.add_metric([row.name, "running"], row.under_way)
    yield limited


@contextmanager
def serve_metrics(place: tuple[str, int], store: SqlStore, concurrency: int) -> Iterator[MetricsObserver]:
    """Serve the metrics of a worker at ``place`` until the block ends. Gives the observer that counts its debates.

    Args:
        place: address and port; see ``parse_place``.
        store: whose queues are reported.
        concurrency: most debates that the worker runs at once.

    Raises:
        InvalidInputError: the address cannot be used, or the library is not installed.
    """
    try:
        from prometheus_client import CollectorRegistry, Gauge, ProcessCollector, make_wsgi_app
    except ImportError:
        raise InvalidInputError(
            "Metrics need the library prometheus-client, which is not installed.", "pip install 'disputatio[workers]'"
        ) from None
    host, port = place
    registry = CollectorRegistry()
    ProcessCollector(registry=registry)
    Gauge("disputatio_places", "Debates that this worker runs at most.", registry=registry).set(concurrency)
    registry.register(_Queues(store))
    try:
        server = make_server(host, port, make_wsgi_app(registry), _Server6 if ":" in host else _Server, _Request)
    except OSError as error:
        raise InvalidInputError(
            f"Metrics cannot be served at {host} port {port}: {(error.strerror or str(error)).lower()}.",
            "Choose another place with --metrics HOST:PORT.",
        ) from None
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield MetricsObserver(registry)
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


class _Server(ThreadingMixIn, WSGIServer):
    """Answers each request in its own thread."""

    daemon_threads = True


class _Server6(_Server):
    """The same for IPv6."""

    address_family = socket.AF_INET6


class _Request(WSGIRequestHandler):
    """One request, closed when it takes too long."""

    def handle(self) -> None:
        """Answer it."""
        clock = threading.Timer(PATIENCE_S, self._hang_up)
        clock.daemon = True
        clock.start()
        try:
            with suppress(OSError):
                super().handle()
        finally:
            clock.cancel()

    def finish(self) -> None:
        """Close the connection, even if the client has."""
        with suppress(OSError):
            super().finish()

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002  (the library's word)
        """Log nothing: Prometheus asks every few seconds."""

    def _hang_up(self) -> None:
        with suppress(OSError):
            self.connection.shutdown(socket.SHUT_RDWR)


def parse_place(place: str) -> tuple[str, int]:
    """Where to listen: ``PORT`` on this machine alone, or ``HOST:PORT``.

    Raises:
        InvalidInputError: it is neither.
    """
    host, _, port = place.rpartition(":")
    if not (port.isascii() and port.isdigit()) or not 0 < int(port) < 65_536:
        raise InvalidInputError(
            f"--metrics {place[:60]!r} is no port and no address with a port.",
            "Write --metrics 9464, or --metrics 0.0.0.0:9464 where other machines ask.",
        )
    return host.strip("[]") or "127.0.0.1", int(port)


class _Queues:
    """Collected when Prometheus asks."""

    def __init__(self, store: SqlStore) -> None:
        self._store = store

    def describe(self) -> list[Any]:
        """Nothing, so that the database is not queried before a request."""
        return []

    def collect(self) -> list[Any]:
        """The queues; nothing while the database is away."""
        try:
            return list(queue_gauges(self._store))
        except StoreError:
            return []
