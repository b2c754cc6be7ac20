"""What a call of an assistant is refused for, by the official client in this process: each time nothing is done."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from mcp import Client

from disputatio._mcp.desk import LONGEST_TEXT, Debates
from disputatio._mcp.server import server_of
from disputatio.engine.verified import read_verified
from disputatio.fleet import JobState
from disputatio.fleet.desk import Desk
from disputatio.fleet.in_process import OwnHolder
from disputatio.record.sql import SqlStore
from disputatio.report.text import MOST_BRIEFING
from disputatio.testing import FakeProvider

MOTION = "We should split the service"


@dataclass
class Offered:
    """The server, its client, and where it keeps what it was asked for."""

    client: Client
    store: SqlStore
    desk: Desk

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
    holder = OwnHolder(store, concurrency=concurrency)
    async with Client(server_of(Debates(store, holder))) as client:
        yield Offered(client, store, Desk(store))
    await holder.aclose()
    await store.aclose()


@pytest.mark.parametrize(
    ("tool", "arguments", "unknown", "near"),
    [
        ("start_debate", {"motion": MOTION, "bugdet_usd": "1"}, "bugdet_usd", "budget_usd"),
        ("start_debate", {"motion": MOTION, "base_url": "http://127.0.0.1:1/v1"}, "base_url", ""),
        ("start_debate", {"motion": MOTION, "tools": {"all": ["search"]}}, "tools", ""),
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
        ("start_debate", {"motion": MOTION, "rounds": True}, "rounds"),
        ("start_debate", {"motion": MOTION, "judges": "2"}, "judges"),
        ("start_debate", {"motion": MOTION, "budget_tokens": True}, "budget_tokens"),
        ("start_debate", {"motion": MOTION, "max_calls": "9"}, "max_calls"),
        ("start_debate", {"motion": MOTION, "budget_usd": True}, "budget_usd"),
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
            assert "This request_id stands for the debate" in said
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
