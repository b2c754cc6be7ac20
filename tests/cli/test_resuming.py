"""What ``disputatio resume`` takes and refuses: ids, ceilings, seats, addresses, formats."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import pytest
from cli_commands import Call, Ended, is_clear

from disputatio.testing import FakeProvider, Mishap, Mishaps

MOTION = "We should act"
WHOLE = 3


@dataclass(frozen=True, slots=True)
class Truncated:
    """A debate that stopped at a ceiling of two calls."""

    call: Call
    id: str
    provider: FakeProvider

    def resume(self, *arguments: str) -> Ended:
        return self.call("resume", self.id, *arguments)

    def refused(self, *arguments: str) -> str:
        """Assert that nothing is done and nothing asked; returns the sentence."""
        before, asked = self.events, self.provider.arrived.count
        ended = self.resume(*arguments)
        assert ended.code == 2, ended.said
        assert ended.out == ""
        assert (self.events, self.provider.arrived.count) == (before, asked)
        return is_clear(ended.err)

    @property
    def events(self) -> int:
        """How long its record is."""
        return int(self.call("verify", self.id).out.split()[2])


@pytest.fixture
def truncated(call: Call, seated: tuple[str, ...], provider: FakeProvider) -> Truncated:
    ended = call("debate", MOTION, *seated, "--max-calls", "2", "--json")
    assert ended.code == 3
    return Truncated(call, json.loads(ended.out)["id"], provider)


@pytest.mark.slow
def test_a_truncated_debate_says_so_and_how_to_go_on(call: Call, seated: tuple[str, ...]) -> None:
    ended = call("debate", MOTION, *seated, "--max-calls", "2")
    assert ended.code == 3
    said = is_clear(ended.err)
    assert "2 of 2 calls spent" in said
    assert "--max-calls N" in said
    assert "DEBATE_TRUNCATED" in ended.out


@pytest.mark.slow
def test_a_higher_ceiling_ends_it_and_nothing_is_asked_twice(truncated: Truncated) -> None:
    ended = truncated.resume("--max-calls", "10")
    assert (ended.code, ended.err) == (0, "")
    assert truncated.provider.arrived.count == WHOLE


@pytest.mark.slow
@pytest.mark.parametrize(
    ("option", "ceiling", "unit"), [("--max-calls", "1", "calls"), ("--budget-tokens", "10", "tokens")]
)
def test_a_ceiling_below_what_is_spent_is_refused(truncated: Truncated, option: str, ceiling: str, unit: str) -> None:
    said = truncated.refused(option, ceiling)
    assert f"A ceiling of {ceiling} {unit} is below what this debate has spent" in said
    assert option in said


@pytest.mark.slow
def test_the_same_ceiling_stops_it_again(truncated: Truncated) -> None:
    ended = truncated.resume("--max-calls", "2")
    assert ended.code == 3
    assert "2 of 2 calls spent" in is_clear(ended.err)
    assert truncated.provider.arrived.count == 2


@pytest.mark.slow
def test_resuming_without_a_new_ceiling_is_refused(truncated: Truncated) -> None:
    ended = truncated.resume()
    assert ended.code == 2
    said = is_clear(ended.err)
    assert "2 of 2 calls spent" in said
    assert "--max-calls" in said
    assert truncated.provider.arrived.count == 2


@pytest.mark.slow
def test_what_would_make_it_another_debate_is_refused_by_name(truncated: Truncated) -> None:
    address = truncated.provider.base_url
    same = ("--seat", "all=openai_compatible:fake")
    elsewhere = "http://127.0.0.1:1/v1"
    assert "The seat pro was taken by openai_compatible:fake" in truncated.refused("--seat", "pro=ollama:qwen3:8b")
    assert "it cannot become openai_compatible:other" in truncated.refused(
        "--seat", "all=openai_compatible:other", "--base-url", address
    )
    assert f"it cannot become openai_compatible:fake at {elsewhere}" in truncated.refused(
        *same, "--base-url", elsewhere
    )
    assert "its address cannot become another one" in truncated.refused("--base-url", elsewhere)
    assert "The format was freeform; it cannot become structured" in truncated.refused("--format", "structured")
    assert "no seat 'third'" in truncated.refused("--seat", "third=openai_compatible:fake")
    assert "holds no .md file" in truncated.refused("--prompts", "nowhere")


@pytest.mark.slow
def test_what_was_said_the_same_way_again_is_taken(truncated: Truncated, monkeypatch: pytest.MonkeyPatch) -> None:
    address = truncated.provider.base_url
    ended = truncated.resume(
        "--seat", "all=openai_compatible:fake", "--base-url", f"{address}/", "--format", "freeform", "--max-calls", "9"
    )
    assert ended.code == 0


@pytest.mark.slow
@pytest.mark.parametrize(
    "environ",
    [
        {"LLM_PROVIDER": "openai_compatible"},
        {"LLM_PROVIDER": "nonsense"},
        {"OPENAI_API_KEY": "sk-0123456789abcdef", "PRO_LLM_MODEL": "gpt-5"},
    ],
)
def test_who_would_sit_in_a_new_debate_today_does_not_matter(
    truncated: Truncated, monkeypatch: pytest.MonkeyPatch, environ: dict[str, str]
) -> None:
    for name, value in environ.items():
        monkeypatch.setenv(name, value)
    ended = truncated.resume("--max-calls", "10")
    assert ended.code == 0
    assert {request.model for request in truncated.provider.requests} == {"fake"}


@pytest.mark.slow
def test_a_finished_debate_is_shown_and_said_to_be_over(
    call: Call, seated: tuple[str, ...], provider: FakeProvider
) -> None:
    debate = json.loads(call("debate", MOTION, *seated, "--json").out)["id"]
    asked = provider.arrived.count
    ended = call("resume", debate, "--max-calls", "50")
    assert ended.code == 0
    assert "is over (COMPLETE)" in ended.err
    assert "Judge's finding" in ended.out
    assert provider.arrived.count == asked


@pytest.mark.slow
def test_a_degraded_debate_asks_only_what_is_missing(
    call: Call, seated: tuple[str, ...], provider: FakeProvider
) -> None:
    provider.mishaps = Mishaps().when(lambda request: request.index == WHOLE - 1, Mishap.HTTP_401)
    ended = call("debate", MOTION, *seated, "--json")
    assert ended.code == 4
    assert "does not accept the key" in is_clear(ended.err)
    resumed = call("resume", json.loads(ended.out)["id"])
    assert (resumed.code, resumed.err) == (0, "")
    assert provider.arrived.count == WHOLE + 1


@pytest.mark.slow
def test_ids_that_are_none_or_several_are_told(call: Call, bare: Path, seated: tuple[str, ...]) -> None:
    first = str(json.loads(call("debate", MOTION, *seated, "--json").out)["id"])
    second = first[:-1] + ("0" if first[-1] != "0" else "1")
    with closing(sqlite3.connect(bare.parent / "data" / "disputatio" / "debates.sqlite")) as database, database:
        columns = "opened_at, format, motion, status, events, head"
        database.execute(f"INSERT INTO debates SELECT ?, {columns} FROM debates", (second,))  # noqa: S608
    for command in ("show", "verify", "resume"):
        for prefix in ("", "zz", "%", "_", "../../etc", f"{first}0", "\x1b[31m", "x" * 5_000):
            ended = call(command, prefix)
            assert ended.code == 2
            said = is_clear(ended.err)
            assert "There is no debate" in said
            assert "disputatio list" in said
            assert len(said) < 200
        several = call(command, first[:4])
        assert several.code == 2
        assert f"could be {', '.join(sorted((first, second)))}" in is_clear(several.err)
        assert "Give more of the id" in several.err
    assert call("verify", first).code == 0
