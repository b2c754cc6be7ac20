"""Whether debates are traced: off, unless ``DISPUTATIO_TRACES`` says where traces go.

``otlp`` sends them over HTTP as the standard variables of OpenTelemetry say (``OTEL_EXPORTER_OTLP_ENDPOINT`` and its
like), ``console`` writes them to standard error, and ``global`` hands them to the provider that the program around has
set up.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING

from disputatio.engine.ports import Watcher
from disputatio.failures import InvalidInputError
from disputatio.observing.watchers import Several

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.trace import Tracer

VARIABLE = "DISPUTATIO_TRACES"
_WAYS = ("otlp", "console", "global")


def observed(watcher: Watcher, environ: Mapping[str, str] | None = None) -> Watcher:
    """``watcher``, with traces made beside it where they are asked for.

    Args:
        watcher: sees the debate in any case.
        environ: the process's own where not given.

    Raises:
        InvalidInputError: the variable says something else, or what it needs is not installed.
    """
    way = (os.environ if environ is None else environ).get(VARIABLE, "").strip().lower()
    if not way:
        return watcher
    if way not in _WAYS:
        raise InvalidInputError(f"{VARIABLE} is {way[:40]!r}.", f"Allowed are {', '.join(_WAYS)}, or nothing.")
    from disputatio.observing.tracing import Tracing

    return Several(watcher, Tracing(_tracer(way)))


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

    provider = TracerProvider(
        resource=Resource.create({"service.name": os.environ.get("OTEL_SERVICE_NAME", "disputatio")})
    )
    if way == "console":
        provider.add_span_processor(SimpleSpanProcessor(ConsoleSpanExporter(out=sys.stderr)))
        return provider
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter

    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    return provider
