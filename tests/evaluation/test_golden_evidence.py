"""The dossier of a debate carries what was measured on labelled questions of its task type, and what limits it."""

from __future__ import annotations

import asyncio
import json

import pytest
from answer_stage import held, questions, settings_of

from disputatio._cli.dossier import add_evidence, golden_report_path, store_golden_report
from disputatio.engine.opening import Proposal
from disputatio.engine.runtime import Runtime, start
from disputatio.errors import InvalidInputError
from disputatio.formats.registry import find_format
from disputatio.motion import Motion
from disputatio.record.memory import MemoryStore
from disputatio.report.dossier import Surroundings, dossier_markdown, dossier_of, read_performance
from disputatio.report.printing import printable_json
from disputatio.report.reading import DebateReport
from disputatio.testing import InstanceClient

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def body() -> dict:
    """An evaluation of a review and a single answer on eight questions called compliance."""
    report, _, _ = asyncio.run(held(questions(8), ("review", "single"), lambda *_: True, model="good-model"))
    made = json.loads(json.dumps(report.as_json()))
    return {**made, "questions": {**made["questions"], "name": "compliance"}}


@pytest.fixture(scope="module")
def debate() -> DebateReport:
    store = MemoryStore()
    settings = settings_of(("review",))["review"]
    runtime = Runtime(store, client_factory=lambda *_: InstanceClient(), checks_first=False)
    debate = asyncio.run(start(Proposal(Motion("We should keep it"), find_format("review"), settings), runtime))
    return DebateReport.of(debate, store.read(debate), store.texts(debate))


def section(report: DebateReport, around: Surroundings) -> str:
    return dossier_markdown(dossier_of(report, around)).split("## 11. ")[1].split("## 12. ")[0]


def around(kind: str = "compliance") -> Surroundings:
    return Surroundings(None, "sqlite:///d.sqlite", kind)


def test_a_dossier_shows_agreement_cost_and_comparison(body, debate, tmp_path):
    file = tmp_path / "report.json"
    file.write_text(printable_json(body), "utf-8")
    shown = section(debate, add_evidence(around(), file, "sqlite:////nowhere/d.sqlite"))
    review = next(row for row in body["arms"] if row["name"] == "review")
    assert f"{review['accuracy']['count']} of 8" in shown
    assert "review - single" in shown
    assert read_performance(file.read_text("utf-8"), "it").digest in shown
    assert body["questions"]["sha256"] in shown
    assert "no measured evidence" not in shown


def test_what_limits_it_stands_first(body, debate):
    harness = read_performance(json.dumps({**body, "harness_test": True}), "it")
    others = {way: dict.fromkeys(seats, "openai:another") for way, seats in body["who"].items()}
    elsewhere = read_performance(json.dumps({**body, "who": others}), "it")
    for found, says in ((harness, "A harness test and no evidence"), (elsewhere, "measured with other models")):
        shown = section(debate, Surroundings(None, "s", "compliance", measured=found))
        assert shown.index(says) < shown.index("agreement with labels")
    assert "other models" not in section(
        debate, Surroundings(None, "s", "compliance", measured=read_performance(json.dumps(body), "it"))
    )


def test_without_evaluation_or_questions_it_says_so(debate, tmp_path):
    store = f"sqlite:///{tmp_path}/d.sqlite"
    assert "disputatio eval --golden compliance" in section(debate, add_evidence(around(), None, store))
    assert "--data FOLDER" in section(debate, add_evidence(around("security"), None, store))
    assert "no labelled set of questions" in section(debate, add_evidence(around("pricing"), None, store))


def test_a_harness_test_never_replaces_evidence(body, tmp_path):
    store = f"sqlite:///{tmp_path}/d.sqlite"
    place = golden_report_path(store, "compliance")
    store_golden_report(store, "compliance", {**body, "harness_test": False})
    kept = place.read_text("utf-8")
    store_golden_report(store, "compliance", {**body, "harness_test": True})
    store_golden_report(store, "compliance", {**body, "harness_test": False, "stopped": "the ceiling was reached"})
    assert place.read_text("utf-8") == kept
    assert add_evidence(around(), None, store).measured.kind == "compliance"


def test_evidence_of_another_kind_or_of_no_kind_is_refused(body, tmp_path):
    file = tmp_path / "report.json"
    file.write_text(printable_json(body), "utf-8")
    with pytest.raises(InvalidInputError, match="about questions of the kind compliance"):
        add_evidence(around("security"), file, "sqlite:///d.sqlite")
    file.write_text('{"schema": "disputatio/replay"}', "utf-8")
    with pytest.raises(InvalidInputError, match="no report of an evaluation"):
        add_evidence(around(), file, "sqlite:///d.sqlite")
    file.write_text(json.dumps({**body, "arms": [{}]}), "utf-8")
    with pytest.raises(InvalidInputError, match="parts missing"):
        add_evidence(around(), file, "sqlite:///d.sqlite")
