"""Metrics and traces tell what the record tells: every call once, its tokens and its cost; no words of anybody."""

from __future__ import annotations

import json
import subprocess
import sys
from decimal import Decimal

import pytest
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from prometheus_client import CollectorRegistry
from rooms import Carrier, hold, proposal_of

from disputatio.engine.ports import CombinedObserver, DetachAware, NullObserver
from disputatio.errors import InvalidInputError
from disputatio.metrics.figures import EstimateRatio, Figures, FormatFigures, Mean, Period
from disputatio.metrics.report import Alert
from disputatio.participants.call import Fault, FaultKind, Reply, Usage
from disputatio.record.events import CallMade, TurnTaken
from disputatio.telemetry import MetricsObserver, TracingObserver, add_tracing
from disputatio.telemetry.metrics import gauges
from disputatio.testing.instances import instance
from record_makers import Pen, asked, call_sent, opened


def answering(call):
    """One answer in four fails at first; the others say what nobody outside may hear."""
    answering.count += 1
    if answering.count % 4 == 1:
        return Fault(FaultKind.SERVER_ERROR, "the server failed")
    return Reply(
        text=json.dumps(instance(call.schema, str(answering.count))),
        usage=Usage(100, 10, 40),
        served_model="served-7",
        finish="stop",
    )


async def held():
    answering.count = 0
    exporter = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    registry = CollectorRegistry()
    observer = CombinedObserver(MetricsObserver(registry), TracingObserver(provider.get_tracer("test")), NullObserver())
    debate, history, store = await hold(proposal_of(), lambda *_: Carrier(answering), observer=observer)
    return debate, history, store, exporter.get_finished_spans(), registry


async def test_there_is_a_span_for_the_debate_each_phase():
    """There is a span for the debate each phase and each call with what the record says."""
    debate, history, store, spans, _ = await held()
    (root,) = [row for row in spans if row.parent is None]
    assert root.name == "invoke_workflow structured"
    assert root.attributes["gen_ai.conversation.id"] == debate
    assert root.attributes["disputatio.status"] == history.status.value
    assert root.attributes["disputatio.head"] == store.read(debate)[-1].hash
    phases = {row.context.span_id: row for row in spans if row.name.startswith("phase ")}
    assert {row.parent.span_id for row in phases.values()} == {root.context.span_id}
    calls = [row for row in spans if row.name.startswith("chat ")]
    made = [row.event() for row in store.read(debate) if row.kind == CallMade.kind]
    assert len(calls) == len(made)
    assert all(row.parent.span_id in phases for row in calls)
    assert sum("error.type" in row.attributes for row in calls) == sum(bool(row.fault) for row in made) > 0
    good = [row for row in calls if "error.type" not in row.attributes]
    for row in good:
        assert row.attributes["gen_ai.operation.name"] == "chat"
        assert row.attributes["gen_ai.provider.name"] == "ollama"
        assert row.attributes["gen_ai.request.model"] == "fake"
        assert row.attributes["gen_ai.response.model"] == "served-7"
        assert row.attributes["gen_ai.usage.input_tokens"] == 100
        assert row.attributes["gen_ai.usage.cache_read.input_tokens"] == 40
    for row in spans:
        assert row.start_time <= row.end_time
        parent = next((each for each in spans if row.parent and each.context.span_id == row.parent.span_id), row)
        assert parent.start_time <= row.start_time
        assert row.end_time <= parent.end_time
    # What was said stays in the record.
    said = [text for row in store.read(debate) if row.kind == TurnTaken.kind for text in _texts(row.event().content)]
    assert said
    shown = repr([(row.name, dict(row.attributes), [each.attributes for each in row.events]) for row in spans])
    assert not any(text in shown for text in said if len(text) > 20)


def _texts(value):
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list | tuple):
        for row in value.values() if isinstance(value, dict) else value:
            yield from _texts(row)


async def test_metrics_count_what_the_record_has():
    debate, _, store, _, registry = await held()
    made = [row.event() for row in store.read(debate) if row.kind == CallMade.kind]
    answered = sum(not row.fault for row in made)
    model = "ollama:fake"

    def value(name, **labels):
        return registry.get_sample_value(f"disputatio_{name}", labels)

    (model,) = {row.labels["model"] for each in registry.collect() for row in each.samples if "model" in row.labels}
    assert value("calls_total", model=model, outcome="answered") == answered
    assert value("call_seconds_count", model=model) == len(made)
    assert value("tokens_total", model=model, direction="input") == 100 * answered
    assert value("tokens_total", model=model, direction="cached") == 40 * answered
    assert value("debates_opened_total", format="structured") == 1
    assert value("debates_running") == 0
    turns = [row for row in store.read(debate) if row.kind == TurnTaken.kind]
    found = [row for each in registry.collect() for row in each.samples if row.name == "disputatio_turns_total"]
    assert sum(row.value for row in found) == len(turns)


def test_spans_end_when_another_process_takes_over():
    """A debate that another process took over runs here no more and its spans end."""
    exporter, provider, registry = InMemorySpanExporter(), TracerProvider(), CollectorRegistry()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    observer = CombinedObserver(MetricsObserver(registry), NullObserver(), TracingObserver(provider.get_tracer("test")))
    assert isinstance(observer, DetachAware)
    for debate in ("d1", "d2"):
        events = (opened(), asked(1), call_sent("round-1/pro"))
        for event, sealed in zip(events, Pen(debate).write(*events).events, strict=True):
            observer.on_event(event, sealed)
    for debate in ("d1", "d1", "d3"):
        observer.on_detach(debate)
    assert registry.get_sample_value("disputatio_debates_running") == 1
    spans = exporter.get_finished_spans()
    assert {row.name.split()[0] for row in spans} == {"invoke_workflow", "phase", "chat"}
    assert {row.attributes["error.type"] for row in spans} == {"lost"}
    assert len({row.end_time for row in spans}) == 1


def samples(figures, alerts=()):
    return {(row.name, *row.labels.values()): row.value for each in gauges(figures, alerts) for row in each.samples}


def test_the_figures_of_a_store_are_gauges():
    """The figures of a store are gauges and what is not known has none."""
    assert samples(Figures()) == {}
    figures = Figures(formats={"review": FormatFigures(debates=4)})
    figures.strength.add(6.0)
    figures.low_confidence.add(True)
    figures.low_confidence.add(False)
    figures.uncertainties["risk"] = Mean(of=2, total=5.0)
    figures.expected["risk"] = EstimateRatio(1, 200, 100, 1, Decimal("0.6"), Decimal("0.4"))
    figures.agreement.add(True)
    figures.one_conclusion.add(False)
    for month, tilt in (("2026-01", 3.0), ("2026-02", 1.0), ("2026-03", -1.0), ("2026-04", -2.0)):
        figures.tilt.add(tilt)
        figures.periods[month] = Period(tilt=Mean(1, tilt), strength=Mean(1, 6.0))
    alert = Alert("challenge_strength", "", 6.0, 6.5, 1, below=True)
    found = {
        (name.removeprefix("disputatio_"), *labels): value
        for (name, *labels), value in samples(figures, [alert]).items()
    }
    assert found == {
        ("challenge_strength_mean",): 6.0,
        ("low_confidence_share",): 0.5,
        ("uncertainties_mean", "risk"): 2.5,
        ("tokens_against_estimate_ratio", "risk"): 2.0,
        ("cost_against_estimate_ratio", "risk"): 1.5,
        ("first_proposer_agreement_share",): 1.0,
        ("one_conclusion_share",): 0.0,
        ("moderator_tilt_mean",): 0.25,
        **{("moderator_tilt_month_mean", f"2026-0{month}"): value for month, value in ((2, 1.0), (3, -1.0), (4, -2.0))},
        **{("challenge_strength_month_mean", f"2026-0{month}"): 6.0 for month in (2, 3, 4)},
        ("debates_kept", "review"): 4.0,
        ("threshold_passed", "challenge_strength", ""): 1.0,
    }


def test_nothing_is_traced_unless_it_is_asked_for():
    observer = NullObserver()
    assert add_tracing(observer, {}) is observer
    assert add_tracing(observer, {"DISPUTATIO_TRACES": " "}) is observer
    with pytest.raises(InvalidInputError, match="Allowed are"):
        add_tracing(observer, {"DISPUTATIO_TRACES": "everywhere"})
    assert isinstance(add_tracing(observer, {"DISPUTATIO_TRACES": "global"}), CombinedObserver)


@pytest.mark.slow
def test_a_debate_that_is_not_traced_loads_no_library_for_it():
    code = (
        "import sys; from disputatio.telemetry.tracing import add_tracing; "
        "from disputatio.engine.ports import NullObserver; "
        "add_tracing(NullObserver(), {}); sys.exit(any(name.startswith('opentelemetry.sdk') for name in sys.modules))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
