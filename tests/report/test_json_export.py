"""The JSON export is what its published schema says, loses nothing and is safe to print."""

import json
import unicodedata
from typing import Any

import jsonschema_rs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from staged_debates import ENDINGS, go_on, held, hold, silent

from disputatio.record.text import canonical, digest
from disputatio.report.json_export import EXPORT_SCHEMA, export_json, export_schema, render_json
from disputatio.report.printing import printable_json
from disputatio.report.reading import DebateReport

_ALL = ("complete", "freeform", *ENDINGS, "embedded", "hostile", "hostile freeform", "wide", "long")
_CHECK = jsonschema_rs.validator_for(dict(export_schema()))


def faults(value: Any) -> list[str]:
    return [f"{list(row.instance_path)}: {row.message}" for row in _CHECK.iter_errors(value)]


def test_the_published_schema_is_a_schema() -> None:
    jsonschema_rs.meta.validate(dict(export_schema()))


@pytest.mark.parametrize("name", _ALL)
def test_every_export_is_valid_under_the_published_schema(name: str) -> None:
    debate = held(name)
    assert faults(json.loads(render_json(debate.report))) == []
    unsealed = DebateReport.of(debate.id, [row.event() for row in debate.events])
    assert faults(export_json(unsealed)) == []


def test_every_prefix_of_a_record_exports_validly() -> None:
    debate = held("degraded")
    for length in range(len(debate.events) + 1):
        assert faults(export_json(DebateReport.of(debate.id, debate.events[:length]))) == []


async def test_a_resumed_debate_exports_validly() -> None:
    debate = await hold(answering=silent("judge", "adjudication"))
    await go_on(debate)
    export = export_json(debate.report)
    assert faults(export) == []
    assert export["record"]["resumed"] == 1
    assert [row["seat"] for row in export["taken_back"]] == ["judge"]


def test_the_schema_refuses_an_export_that_lacks_something() -> None:
    export = export_json(held("complete").report)
    for key in export:
        assert faults({name: value for name, value in export.items() if name != key}), key
    assert faults({**export, "schema": "disputatio-debate-2"})
    assert faults({**export, "status": "DONE"})


@pytest.mark.parametrize("name", _ALL)
def test_export_text_equals_object_and_is_clean(name: str) -> None:
    text = render_json(held(name).report)
    assert json.loads(text) == export_json(held(name).report)
    assert not [char for char in text if char != "\n" and unicodedata.category(char) in {"Cc", "Cf", "Cs", "Co", "Zl"}]


@settings(max_examples=30, deadline=None)
@given(st.recursive(st.text() | st.integers() | st.none(), lambda inner: st.dictionaries(st.text(), inner, max_size=4)))
def test_printable_json_loses_nothing(value: Any) -> None:
    text = printable_json(value)
    assert json.loads(text) == value
    assert text.encode("utf-8")


def test_key_order_does_not_depend_on_sealing() -> None:
    debate = held("complete")
    report = debate.report
    plain = DebateReport.of(debate.id, [row.event() for row in debate.events])
    left, right = (json.loads(render_json(row)) for row in (report, plain))
    for export in (left, right):
        export.pop("record")
        export["totals"].pop("seconds")
        export["totals"].pop("text")
    assert json.dumps(left) == json.dumps(right)
    assert next(iter(left)) == "schema"
    assert left["schema"] == EXPORT_SCHEMA


def test_the_export_has_every_paid_call() -> None:
    debate = held("complete")
    export = export_json(debate.report)
    texts = debate.store.texts(debate.id)
    assert len(export["calls"]) == export["totals"]["calls"] == 7
    for call in export["calls"]:
        assert all(name in texts for _, name in call["prompt"])
        counts = {"input_tokens": 900, "output_tokens": 140, "cached_tokens": 600}
        assert call["usage"] == {**counts, "reasoning_tokens": None}
        assert call["cost_usd"] == "0"
        assert json.loads(call["text"])
    assert export["record"]["head"] == debate.events[-1].hash


def test_turns_scores_and_verdict_are_those_of_the_record() -> None:
    debate = held("complete")
    export = export_json(debate.report)
    recorded = {row.event().path: row.event() for row in debate.events if row.kind == "TurnTaken"}  # type: ignore[union-attr]
    asks = {ask["path"]: ask for phase in export["phases"] for ask in phase["asks"]}
    assert set(asks) == set(recorded)
    for path, turn in recorded.items():
        assert digest(canonical(asks[path]["content"])) == digest(canonical(turn.content))  # type: ignore[union-attr]
    assert {row["about"]: row["weighted"] for row in export["scores"]} == {
        row["id"]: row["weighted"] for row in export["outcome"]["trace"]
    }
    assert export["verdict"] == export["outcome"]["reading"]


def test_a_discarded_answer_stays_in_the_export() -> None:
    export = export_json(held("degraded").report)
    discarded = [row for row in export["calls"] if row["text"] == "{}"]
    assert len(discarded) == 3
    assert [row["because"] for row in export["rejected"]] == ["shape", "shape"]


def test_a_lone_surrogate_is_written_as_an_escape() -> None:
    assert json.loads(printable_json({"a": "\ud800 \x9b \u202e"}).encode("utf-8")) == {"a": "\ud800 \x9b \u202e"}
