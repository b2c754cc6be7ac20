"""What a call of an assistant is refused for, by the official client in this process: each time nothing is done."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from disputatio._mcp.server import server_of
from disputatio._mcp.tools import LONGEST_TEXT, Debates
from disputatio.record.sql import SqlStore
from disputatio.record.verified import read_verified
from disputatio.report.text import MOST_BRIEFING
from disputatio.testing import FakeProvider
from disputatio.workers import JobState
from disputatio.workers.in_process_runner import InProcessRunner
from disputatio.workers.job_table import JobTable
from mcp import Client

MOTION = "We should split the service"


@dataclass
class Offered:
    """The server, its client, and where it keeps what it was asked for."""

    client: Client
    store: SqlStore
    desk: JobTable

    async def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        result = await self.client.call_tool(tool, arguments)
        assert not result.is_error, result.content
        assert result.structured_content is not None
        return result.structured_content

    async def refused(self, tool: str, **arguments: Any) -> str:
        result = await self.client.call_tool(tool, arguments)
        assert result.is_error
        (content,) = result.content
        assert content.type == "text"
        return content.text


@pytest.fixture(autouse=True)
def _seated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("LLM_PROVIDER", "ollama")
    monkeypatch.setenv("LLM_MODEL", "fake")


@asynccontextmanager
async def offering(folder: Path, concurrency: int = 0) -> AsyncIterator[Offered]:
    """A server. Unless it is told otherwise it takes orders and holds none, so that every debate waits."""
    store = SqlStore(f"sqlite:///{folder}/store.sqlite")
    runner = InProcessRunner(store, concurrency=concurrency)
    async with Client(server_of(Debates(store, runner))) as client:
        yield Offered(client, store, JobTable(store))
    await runner.aclose()
    await store.aclose()


@pytest.mark.parametrize(
    ("tool", "arguments", "unknown", "near"),
    [
        ("follow_debate", {"debate_id": "nothing", "afer": 1}, "afer", "after"),
        ("read_debate", {"debate_id": "nothing", "veiw": "json"}, "veiw", "view"),
        ("list_debates", {"limits": 5}, "limits", "limit"),
        ("verify_debate", {"debate_id": "nothing", "head": "0"}, "head", ""),
        ("cancel_debate", {"debate_id": "nothing", "sure": True}, "sure", ""),
        ("should_debate", {"task_type": "contract", "downside": 5}, "downside", "downside_usd"),
    ],
)
async def test_an_unknown_argument_is_refused(
    tmp_path: Path, tool: str, arguments: dict[str, Any], unknown: str, near: str
) -> None:
    async with offering(tmp_path) as offered:
        said = await offered.refused(tool, **arguments)
        assert f"{tool} has no argument '{unknown}'" in said
        assert "nothing was done" in said
        assert f"Did you mean {near}" in said if near else "Its arguments are" in said
        assert not offered.desk.jobs()


async def test_the_schemas_say_that_nothing_else_is_taken(tmp_path: Path) -> None:
    async with offering(tmp_path) as offered:
        for tool in (await offered.client.list_tools()).tools:
            assert tool.input_schema["additionalProperties"] is False, tool.name
            assert tool.input_schema["type"] == "object"


@pytest.mark.parametrize(
    ("tool", "arguments", "place"),
    [
        ("follow_debate", {"debate_id": "nothing", "after": True}, "after"),
        ("follow_debate", {"debate_id": "nothing", "wait_seconds": "5"}, "wait_seconds"),
        ("read_debate", {"debate_id": "nothing", "offset": True}, "offset"),
        ("list_debates", {"limit": "5"}, "limit"),
        ("should_debate", {"task_type": "contract", "confidence": True}, "confidence"),
        ("should_debate", {"task_type": "contract", "downside_usd": "5"}, "downside_usd"),
    ],
)
async def test_a_number_is_no_text_and_no_boolean(
    tmp_path: Path, tool: str, arguments: dict[str, Any], place: str
) -> None:
    async with offering(tmp_path) as offered:
        said = await offered.refused(tool, **arguments)
        assert f"{place}: " in said
        assert "Nothing was done" in said
        assert "pydantic" not in said
        assert not offered.desk.jobs()


@pytest.mark.parametrize(
    ("given", "cause", "step"),
    [
        ({"bugdet": {"usd": "1"}}, "has no option 'bugdet'", "Did you mean budget?"),
        ({"judging": {"judgse": 3}}, "has no option 'judging.judgse'", "Did you mean judges?"),
        ({"format": {"name": "panel", "treshold": 2}}, "has no option 'treshold'", "Did you mean threshold?"),
        ({"format": {"name": "review", "threshold": 2}}, "threshold is for panel debates", "choose the format panel"),
        ({"format": "pannel"}, "no format called 'pannel'", "Did you mean panel?"),
        ({"base_url": "http://127.0.0.1:1/v1"}, "has no option 'base_url'", "Allowed are: "),
        ({"tools": {"mcp": {"x": "sh"}}}, "may not set tools.mcp", "Leave it out."),
        ({"prompts": "/etc"}, "may not set prompts", "Leave it out."),
        ({"judging": {"judges": True}}, "judges is true", "a whole number from 1 to 9"),
        ({"judging": {"judges": 12}}, "judges is 12", "a whole number from 1 to 9"),
        ({"judging": {"judges": "2"}}, "judging.judges is '2', and it should be a number, not text", ""),
        ({"judging": 3}, "judging is 3, and it should be a table of options by name", ""),
        ({"evidence": "notes.md"}, "evidence is 'notes.md', and it should be a list", ""),
        ({"evidence": [{"title": "a.md"}]}, "evidence.0: give either text or content", ""),
        ({"budget": {"tokens": True}}, "budget.tokens is true", "a whole number"),
        ({"budget": {"usd": True}}, "budget.usd is true", "a positive amount"),
        ({"rounds": True, "format": "panel"}, "rounds is true", "a whole number from 1 to 10"),
        ({"max_calls": "9"}, "budget.calls is '9', and it should be a number", ""),
    ],
)
@pytest.mark.parametrize("tool", ["start_debate", "estimate_debate"])
async def test_what_is_wrong_in_a_request_is_a_sentence(
    tmp_path: Path, tool: str, given: dict[str, Any], cause: str, step: str
) -> None:
    async with offering(tmp_path) as offered:
        said = await offered.refused(tool, motion=MOTION, **given)
        assert cause in said
        assert step in said
        assert "pydantic" not in said
        assert not offered.desk.jobs()


async def test_an_estimate_has_a_range_and_starts_nothing(tmp_path: Path) -> None:
    async with offering(tmp_path) as offered:
        found = await offered.call("estimate_debate", motion=MOTION, judging={"judges": 3})
        fewer = await offered.call("estimate_debate", motion=MOTION)
        assert fewer["calls"] < found["calls"]
        assert 0 < found["least"]["calls"] <= found["calls"] <= found["most"]["calls"]
        assert not offered.desk.jobs()
        assert not offered.store.debates()


async def test_a_request_may_come_in_groups_or_in_earlier_words(tmp_path: Path) -> None:
    groups = {"format": {"name": "panel", "debaters": ["ada", "bo"]}, "budget": {"tokens": 9_000}}
    flat = {"format": "panel", "debaters": ["ada", "bo"], "budget_tokens": 9_000}
    as_text = {name: json.dumps(value) for name, value in groups.items()}
    async with offering(tmp_path) as offered:
        kept = []
        for row in (groups, flat, as_text):
            debate = (await offered.call("start_debate", motion=MOTION, **row))["debate_id"]
            kept.append(offered.desk.order(debate))
    assert kept[0] == kept[1] == kept[2] == {"motion": MOTION, **groups}


async def test_a_request_id_stands_for_one_request(tmp_path: Path) -> None:
    async with offering(tmp_path) as offered:
        asked = {
            "motion": MOTION,
            "format": "panel",
            "debaters": ["ada", "bo"],
            "settings": {"limits.closing_words": 150},
        }
        first = await offered.call("start_debate", **asked, request_id="one")
        assert await offered.call("start_debate", **asked, request_id="one") == first
        for other in ({"motion": "Another"}, {"settings": {"limits.closing_words": 151}}, {"rounds": 2}):
            said = await offered.refused("start_debate", **{**asked, **other}, request_id="one")
            assert "This request_id was used for the debate" in said
            assert first["debate_id"] in said
        assert [job.debate for job in offered.desk.jobs()] == [first["debate_id"]]
        assert (await offered.call("start_debate", **{**asked, "rounds": 2}, request_id="two")) != first


async def test_a_debate_that_has_not_started_says_so(tmp_path: Path) -> None:
    async with offering(tmp_path) as offered:
        debate = (await offered.call("start_debate", motion=MOTION))["debate_id"]
        for prefix in (debate, debate[:6]):
            for tool in ("verify_debate", "read_debate"):
                said = await offered.refused(tool, debate_id=prefix)
                assert f"The debate {debate} has not started, so it has no record yet." in said
            assert (await offered.call("follow_debate", debate_id=prefix, wait_seconds=0))["status"] == "WAITING"
        assert (await offered.call("cancel_debate", debate_id=debate))["was_going"] is True
        assert "cancelled before it had started" in await offered.refused("verify_debate", debate_id=debate)
        broken = (await offered.call("start_debate", motion=MOTION))["debate_id"]
        offered.desk.finish(broken, JobState.FAILED, "Nobody answered.", "Start a model.")
        assert "did not start: Nobody answered. Start a model." in await offered.refused(
            "verify_debate", debate_id=broken
        )


@pytest.mark.slow
async def test_a_baseline_is_in_the_report_and_not_in_the_list(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with FakeProvider() as provider:
        monkeypatch.setenv("LLM_PROVIDER", "openai_compatible")
        monkeypatch.setenv("LLM_BASE_URL", provider.base_url)
        async with offering(tmp_path, concurrency=1) as here:
            debate = (await here.call("start_debate", motion=MOTION, format="freeform", baseline="single"))["debate_id"]
            told: dict[str, Any] = {"after": 0, "over": False}
            while not told["over"]:
                told = await here.call("follow_debate", debate_id=debate, after=told["after"], wait_seconds=25)
            whole = json.loads((await here.call("read_debate", debate_id=debate, view="json"))["text"])
            listed = await here.call("list_debates")
    assert [row["baseline"] for row in whole["baselines"]] == ["single"]
    assert [row["debate_id"] for row in listed["debates"]] == [debate]


@pytest.mark.slow
async def test_the_briefing_is_the_result_and_no_transcript(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with FakeProvider() as provider:
        monkeypatch.setenv("LLM_PROVIDER", "openai_compatible")
        monkeypatch.setenv("LLM_BASE_URL", provider.base_url)
        async with offering(tmp_path, concurrency=1) as here:
            debate = (await here.call("start_debate", motion=MOTION))["debate_id"]
            told: dict[str, Any] = {"after": 0, "over": False}
            while not told["over"]:
                told = await here.call("follow_debate", debate_id=debate, after=told["after"], wait_seconds=25)
            briefing = await here.call("read_debate", debate_id=debate)
            report = await here.call("read_debate", debate_id=debate, view="report")
            said: list[Any] = [row.event() for row in read_verified(here.store, debate) if row.kind == "TurnTaken"]
    text = briefing["text"]
    assert briefing["next_offset"] is None
    assert text.startswith("Debate: structured")
    for label in ("Motion: ", "Recommendation: ", "Rests on: ", "Worst doubt: ", "Cost: ", "Scores: "):
        assert f"\n{label}" in text
    evidence = [row["evidence"] for turn in said if turn.phase == "opening" for row in turn.content["arguments"]]
    assert evidence
    assert not [row for row in evidence if row in text]
    assert len(text) <= MOST_BRIEFING < LONGEST_TEXT
    assert len(report["text"]) > 3 * len(text)
