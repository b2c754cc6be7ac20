"""Whether debates are traced: off, unless ``DISPUTATIO_TRACES`` says where traces go.

``otlp`` sends them over HTTP as the standard variables of OpenTelemetry say (``OTEL_EXPORTER_OTLP_ENDPOINT`` and its
like), ``console`` writes them to standard error, and ``global`` hands them to the provider that the program around has
set up. A collector that does not answer costs traces, never a debate: it is said once, and waited for briefly at the
end.
"""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING

from disputatio._version import VERSION
from disputatio.engine.ports import Observer
from disputatio.errors import InvalidInputError
from disputatio.telemetry.observers import Several

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.trace import Tracer

VARIABLE = "DISPUTATIO_TRACES"
_WAYS = ("otlp", "console", "global")
_SENDING_SECONDS = 3.0
"""So long may the sending of some spans take, attempts included, where the standard variables say nothing."""


def observed(observer: Observer, environ: Mapping[str, str] | None = None) -> Observer:
    """``observer``, with traces made beside it where they are asked for.

    Args:
        watcher: sees the debate in any case.
        environ: the process's own where not given.

    Raises:
        InvalidInputError: the variable says something else, or what it needs is not installed.
    """
    way = (os.environ if environ is None else environ).get(VARIABLE, "").strip().lower()
    if not way:
        return observer
    if way not in _WAYS:
        raise InvalidInputError(f"{VARIABLE} is {way[:40]!r}.", f"Allowed are {', '.join(_WAYS)}, or nothing.")
    from disputatio.telemetry.tracing import Tracing

    return Several(observer, Tracing(_tracer(way)))


@cache
def _tracer(way: str) -> Tracer:
    try:
        from opentelemetry import trace

        provider = trace.get_tracer_provider() if way == "global" else _provider(way)
    except ImportError:
        raise InvalidInputError(
            f"{VARIABLE}={way} needs a library that is not installed.", "pip install 'disputatio[traces]'"
        ) from None
    return provider.get_tracer("disputatio")


def _provider(way: str) -> TracerProvider:
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor, ConsoleSpanExporter, SimpleSpanProcessor

    own: dict[str, str] = {"service.version": VERSION}
    if not os.environ.get("OTEL_SERVICE_NAME") and "service.name" not in os.environ.get("OTEL_RESOURCE_ATTRIBUTES", ""):
        own["service.name"] = "disputatio"
    provider = TracerProvider(resource=Resource.create(own))
    if way == "console":
        provider.add_span_processor(SimpleSpanProcessor(ConsoleSpanExporter(out=sys.stderr)))
        return provider
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter

    _check_protocol()
    timed = any(os.environ.get(name) for name in ("OTEL_EXPORTER_OTLP_TIMEOUT", "OTEL_EXPORTER_OTLP_TRACES_TIMEOUT"))
    exporter = OTLPSpanExporter() if timed else OTLPSpanExporter(timeout=_SENDING_SECONDS)
    for name in ("exporter.otlp.proto.http.trace_exporter", "sdk._shared_internal"):
        logging.getLogger(f"opentelemetry.{name}").addFilter(_Once())
    provider.add_span_processor(BatchSpanProcessor(exporter))
    return provider


def _check_protocol() -> None:
    for name in ("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL"):
        said = os.environ.get(name, "").strip()
        if said and said != "http/protobuf":
            raise InvalidInputError(
                f"{name} is {said[:40]!r}, and traces are sent by http/protobuf alone.",
                "Set it to http/protobuf and OTEL_EXPORTER_OTLP_ENDPOINT to the collector's HTTP port, usually 4318.",
            )
        if said:
            return


class _Once(logging.Filter):
    """Says once, in a sentence, that traces do not arrive, in place of what the library says at each try."""

    said = False

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether ``record`` is to be seen."""
        if record.levelno < logging.WARNING:
            return True
        if not _Once.said:
            _Once.said = True
            place = os.environ.get("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT") or os.environ.get(
                "OTEL_EXPORTER_OTLP_ENDPOINT", "http://localhost:4318"
            )
            told = place.split("?", maxsplit=1)[0].rpartition("@")[2]
            sys.stderr.write(f"Traces do not arrive at {told}; debates go on without them.\n")
        return False
