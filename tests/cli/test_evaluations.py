"""``disputatio eval`` and ``debate --baseline`` as a user has them, over a provider that fakes a model."""

from __future__ import annotations

import json
import signal

import pytest
from cli_commands import Commands

from disputatio.testing import FakeProvider

pytestmark = pytest.mark.slow


@pytest.fixture
def models(provider: FakeProvider) -> tuple[str, ...]:
    return ("--seat", "all=openai_compatible:fake", "--base-url", provider.base_url)


def test_a_killed_evaluation_reports_the_same(call, models, provider, bare):
    whole = ("eval", "--golden", "architecture", "--limit", "1", "--compare", "freeform,single,vote", *models)
    first = call(*whole, "--json", "--store", str(bare / "one.sqlite"))
    assert first.code == 0, first.err
    body = json.loads(first.out)
    assert body["harness_test"] is True
    calls = provider.arrived.count
    again = call(*whole, "--json", "--store", str(bare / "one.sqlite"), "--from-records", "--out", "report")
    assert json.loads(again.out) == body
    assert provider.arrived.count == calls
    assert json.loads((bare / "report/report.json").read_text()) == body
    assert "A HARNESS TEST" in (bare / "report/report.html").read_text()


def test_kill_nine_in_the_middle_costs_no_answered_call_again(commands: Commands, models, provider) -> None:
    """The debates that ended are read, the one that was cut off is gone on with, and its lost call counts as spent."""
    line = ("eval", "--golden", "investment", "--limit", "2", "--compare", "freeform,single", *models, "--json")
    provider.hold()
    provider.release(*range(6))
    running = commands.start(*line)
    provider.arrived.wait(8)
    running.signal(signal.SIGKILL)
    running.ended()
    provider.release()
    done = commands.run(*line)
    assert done.code == 0, done.err
    body = json.loads(done.out)
    assert all(row["outcomes"]["not held"] == row["outcomes"]["failed"] == 0 for row in body["arms"])
    assert provider.arrived.count <= body["spent"]["calls"], "every call that left is in a record"


def test_baselines_beside_a_debate_are_in_its_result(call, models, bare):
    done = call("debate", "We should act", "-f", "freeform", "--set", "rounds=1", *models, "--baseline", "single,vote")
    assert done.code == 0, done.err
    assert "Baseline: a single answer." in done.err
    assert "Vote of single answers" in done.out
    assert "Single answer" in done.out


def test_what_cannot_be_evaluated_is_said_in_one_sentence(call, bare):
    assert "There are no questions to evaluate" in call("eval").err
    assert "no golden set called" in call("eval", "--golden", "cooking").err
    assert "cannot be read" in call("eval", "nowhere.jsonl").err
    assert "no recorded votes" in call("eval", "--replay", ".").err
    done = call(
        "debate",
        "We should act",
        "--baseline",
        "oracle",
        "--seat",
        "all=openai_compatible:x",
        "--base-url",
        "http://127.0.0.1:9/v1",
    )
    assert done.code == 2
    assert "no baseline called" in done.err
