"""Trace debates by OpenTelemetry's conventions for generative AI: a span for each debate, phase and call.

No span contains a prompt or an answer: those are in the record that it names. Times are those of the record. A resumed
debate has a span for each session, all with one conversation id.

Tracing is off unless ``DISPUTATIO_TRACES`` is set. ``otlp`` sends traces over HTTP as the standard variables say
(``OTEL_EXPORTER_OTLP_ENDPOINT`` and others). ``console`` writes them to standard error. ``global`` uses the provider of
the host program. A silent collector costs traces, never a debate: it is reported once, and waited for briefly at the
end.

Source: opentelemetry.io/docs/specs/semconv/gen-ai, as in ``opentelemetry-semantic-conventions`` 0.66.
"""

from __future__ import annotations

import logging
import os
import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import cache
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from disputatio._version import VERSION
from disputatio.engine.ports import CombinedObserver, Observer
from disputatio.errors import InvalidInputError
from disputatio.record.chain import Sealed
from disputatio.record.events import (
    Abstained,
    BudgetReached,
    CallLost,
    CallMade,
    CallSent,
    DebateClosed,
    DebateInterrupted,
    DebateOpened,
    DebateResumed,
    Event,
    ToolCalled,
    TurnAsked,
    TurnTaken,
)

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.trace import Span, Tracer

_PROVIDERS = {
    "openai": "openai",
    "openai_responses": "openai",
    "azure": "azure.ai.openai",
    "anthropic": "anthropic",
    "google": "gcp.gemini",
    "mistral": "mistral_ai",
    "groq": "groq",
    "bedrock": "aws.bedrock",
    "deepseek": "deepseek",
}
"""The names that the conventions define; other providers keep their own."""
_ADDRESS = re.compile(r"(?P<provider>[^:]+)(?::(?P<model>.*?))?(?: at (?P<url>\S+))?")


@dataclass(slots=True)
class _Session:
    """The open spans of one debate."""

    debate: Span
    format: str
    phases: dict[str, Span] = field(default_factory=dict)
    answered: dict[str, int] = field(default_factory=dict)
    """The phases without an open ask, and when the last answer of each came."""
    asked: dict[str, str] = field(default_factory=dict)
    calls: dict[str, Span] = field(default_factory=dict)
    at: int = 0
    """When its last event was."""


class TracingObserver:
    """Makes spans of any number of debates.

    Args:
        tracer: of OpenTelemetry's API.
    """

    def __init__(self, tracer: Tracer) -> None:
        self._tracer = tracer
        self._sessions: dict[str, _Session] = {}

    def on_text(self, path: str, part: str, text: str) -> None:
        """Ignore the text."""

    def on_event(self, event: Event, sealed: Sealed) -> None:
        """Open, annotate or close a span."""
        at = _nanoseconds(sealed.at)
        if isinstance(event, DebateOpened | DebateResumed):
            self._begin(event, sealed, at)
        session = self._sessions.get(sealed.debate)
        if session is None:
            return
        session.at = at
        match event:
            case TurnAsked():
                self._ask(session, event, at)
            case CallSent():
                self._send(session, event, at)
            case CallMade():
                _return(session, event, at)
            case CallLost():
                _lose(session, event, at)
            case ToolCalled():
                self._consult(session, event, at)
            case TurnTaken() | Abstained():
                _answer(session, event, at)
            case BudgetReached():
                session.debate.add_event("ceiling reached", {"disputatio.limit": event.limit}, at)
            case DebateClosed() | DebateInterrupted():
                self._end(session, event, sealed, at)

    def on_detach(self, debate: str) -> None:
        """End the open spans of ``debate``: another process may have taken it over, so its end is not seen here."""
        session = self._sessions.pop(debate, None)
        if session is None:
            return
        _end_answered(session)
        for span in (*session.calls.values(), *session.phases.values(), session.debate):
            _fail(span, "lost")
            span.end(session.at)

    def _begin(self, event: DebateOpened | DebateResumed, sealed: Sealed, at: int) -> None:
        form = event.format if isinstance(event, DebateOpened) else ""
        span = self._tracer.start_span(
            f"invoke_workflow {form}".strip(),
            attributes={
                "gen_ai.operation.name": "invoke_workflow",
                "gen_ai.conversation.id": sealed.debate,
                "disputatio.debate.resumed": isinstance(event, DebateResumed),
                **({"gen_ai.workflow.name": form} if form else {}),
            },
            start_time=at,
        )
        self._sessions[sealed.debate] = _Session(span, form)

    def _ask(self, session: _Session, event: TurnAsked, at: int) -> None:
        self._phase(session, event.phase, at)
        session.asked[event.path] = event.phase

    def _phase(self, session: _Session, phase: str, at: int) -> Span:
        from opentelemetry import trace

        session.answered.pop(phase, None)
        if phase not in session.phases:
            _end_answered(session)
            session.phases[phase] = self._tracer.start_span(
                f"phase {phase}",
                trace.set_span_in_context(session.debate),
                attributes={"disputatio.phase": phase},
                start_time=at,
            )
        return session.phases[phase]

    def _send(self, session: _Session, event: CallSent, at: int) -> None:
        from opentelemetry import trace
        from opentelemetry.trace import SpanKind

        named = _ADDRESS.fullmatch(event.model)
        provider, model = (named["provider"], named["model"] or event.model) if named else ("", event.model)
        attributes: dict[str, Any] = {
            "gen_ai.operation.name": "chat",
            "gen_ai.provider.name": _PROVIDERS.get(provider, provider or "unknown"),
            "gen_ai.request.model": model,
            "gen_ai.request.max_tokens": event.max_tokens,
            "gen_ai.output.type": "json" if event.schema else "text",
            "disputatio.seat": event.seat,
            "disputatio.path": event.path,
        }
        if event.temperature is not None:
            attributes["gen_ai.request.temperature"] = event.temperature
        if named and named["url"]:
            attributes |= _server(named["url"])
        # On resume a call may belong to an earlier ask.
        phase = session.asked.get(event.path)
        parent = session.debate if phase is None else self._phase(session, phase, at)
        session.calls[event.call] = self._tracer.start_span(
            f"chat {model}",
            trace.set_span_in_context(parent),
            kind=SpanKind.CLIENT,
            attributes=attributes,
            start_time=at,
        )

    def _consult(self, session: _Session, event: ToolCalled, at: int) -> None:
        from opentelemetry import trace

        phase = session.asked.get(event.path)
        parent = session.debate if phase is None else self._phase(session, phase, at)
        span = self._tracer.start_span(
            f"execute_tool {event.tool}",
            trace.set_span_in_context(parent),
            attributes={
                "gen_ai.operation.name": "execute_tool",
                "gen_ai.tool.name": event.tool,
                "disputatio.seat": event.seat,
                **({"error.type": event.fault} if event.fault else {}),
            },
            start_time=at - event.latency_ms * 1_000_000,
        )
        span.end(at)

    def _end(self, session: _Session, event: DebateClosed | DebateInterrupted, sealed: Sealed, at: int) -> None:
        status = event.status if isinstance(event, DebateClosed) else "INTERRUPTED"
        _end_answered(session)
        for span in (*session.calls.values(), *session.phases.values()):
            span.end(at)
        session.debate.set_attributes({"disputatio.status": status, "disputatio.head": sealed.hash})
        if status == "FAILED":
            _fail(session.debate, "debate_failed")
        session.debate.end(at)
        del self._sessions[sealed.debate]


def _return(session: _Session, event: CallMade, at: int) -> None:
    span = session.calls.pop(event.call, None)
    if span is None:
        return
    usage: Any = event.usage
    counts = {
        "gen_ai.usage.input_tokens": usage.get("input_tokens"),
        "gen_ai.usage.output_tokens": usage.get("output_tokens"),
        "gen_ai.usage.cache_read.input_tokens": usage.get("cached_tokens"),
        "gen_ai.usage.reasoning.output_tokens": usage.get("reasoning_tokens"),
        "gen_ai.response.model": event.served_model,
        "disputatio.cost_usd": None if event.cost_usd is None else float(event.cost_usd),
    }
    span.set_attributes({name: value for name, value in counts.items() if value is not None})
    if event.finish:
        span.set_attribute("gen_ai.response.finish_reasons", [event.finish])
    if event.fault:
        _fail(span, event.fault)
    span.end(at)


def _lose(session: _Session, event: CallLost, at: int) -> None:
    span = session.calls.pop(event.call, None)
    if span is not None:
        _fail(span, "lost")
        span.end(at)


def _answer(session: _Session, event: TurnTaken | Abstained, at: int) -> None:
    phase = session.asked.pop(event.path, None)
    if phase is None or phase not in session.phases:
        return
    span = session.phases[phase]
    if isinstance(event, Abstained):
        span.add_event("abstained", {"disputatio.seat": event.seat, "disputatio.reason": event.reason}, at)
    if phase not in session.asked.values():
        # The next ask may belong to the same phase: two sides that speak in turn are one phase.
        session.answered[phase] = at


def _end_answered(session: _Session) -> None:
    for phase, at in session.answered.items():
        session.phases.pop(phase).end(at)
    session.answered.clear()


def _server(url: str) -> dict[str, Any]:
    place = urlsplit(url)
    port = {"server.port": place.port} if place.port else {}
    return {"server.address": place.hostname or "", **port}


def _fail(span: Span, kind: str) -> None:
    from opentelemetry.trace import Status, StatusCode

    span.set_attribute("error.type", kind)
    span.set_status(Status(StatusCode.ERROR))


def _nanoseconds(at: str) -> int:
    moment = datetime.fromisoformat(at)
    return int(moment.timestamp()) * 1_000_000_000 + moment.microsecond * 1_000


VARIABLE = "DISPUTATIO_TRACES"
_TARGETS = ("otlp", "console", "global")
_SENDING_SECONDS = 3.0
"""How long sending some spans may take, retries included, unless the standard variables say otherwise."""


def add_tracing(observer: Observer, environ: Mapping[str, str] | None = None) -> Observer:
    """``observer``, with traces if they are configured.

    Args:
        observer: sees the debate in any case.
        environ: the process's own where not given.

    Raises:
        InvalidInputError: the variable has another value, or its library is not installed.
    """
    way = (os.environ if environ is None else environ).get(VARIABLE, "").strip().lower()
    if not way:
        return observer
    if way not in _TARGETS:
        raise InvalidInputError(f"{VARIABLE} is {way[:40]!r}.", f"Allowed are {', '.join(_TARGETS)}, or nothing.")
    from disputatio.telemetry.tracing import TracingObserver

    return CombinedObserver(observer, TracingObserver(_tracer(way)))


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
        logging.getLogger(f"opentelemetry.{name}").addFilter(_ReportOnce())
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


class _ReportOnce(logging.Filter):
    """Reports once, in a sentence, that traces do not arrive, instead of the library's message at each try."""

    said = False

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether ``record`` is to be seen."""
        if record.levelno < logging.WARNING:
            return True
        if not _ReportOnce.said:
            _ReportOnce.said = True
            place = os.environ.get("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT") or os.environ.get(
                "OTEL_EXPORTER_OTLP_ENDPOINT", "http://localhost:4318"
            )
            told = place.split("?", maxsplit=1)[0].rpartition("@")[2]
            sys.stderr.write(f"Traces do not arrive at {told}; debates go on without them.\n")
        return False
