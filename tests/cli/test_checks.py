"""``check-judge`` and ``check-fallacies`` as a user has them, over a provider that fakes a model."""

from __future__ import annotations

import json
import re
import signal

import pytest
from cli_commands import Commands, is_clear

from disputatio.testing import FakeProvider

pytestmark = pytest.mark.slow


@pytest.fixture
def judge(provider: FakeProvider) -> tuple[str, ...]:
    return ("--seat", "judge=openai_compatible:fake", "--base-url", provider.base_url)


def test_a_check_reports_and_the_same_again_calls_nobody(call, judge, provider):
    command = ("check-judge", "--limit", "1", "--probe", "ad_hominem", "--probe", "retest", *judge, "--json")
    first = call(*command)
    calls = provider.arrived.count
    again = call(*command)
    assert first.code == again.code == 0, first.err
    body, same = json.loads(first.out), json.loads(again.out)
    assert (body["schema"], body["debates"], list(body["caught_by_flaw"])) == (
        "disputatio/judge-check",
        3,
        ["ad_hominem"],
    )
    assert same == body
    assert provider.arrived.count == calls


def test_checks_are_kept_apart_from_debates(call, judge, bare):
    call("check-judge", "--limit", "1", "--probe", "ad_hominem", *judge)
    assert "No debates yet" in call("list").out or call("list").out == ""
    found = list(bare.parent.rglob("checks.sqlite"))
    assert len(found) == 1
    assert call("list", "--store", str(found[0])).out.count("structured") == 2


def test_a_worse_baseline_has_its_own_exit_code(call, judge, bare):
    command = ("check-judge", "--limit", "1", "--probe", "flaws", *judge)
    saved = call(*command, "--save-baseline", "judge.json")
    assert saved.code == 0, saved.err
    same = call(*command, "--baseline", "judge.json")
    assert same.code == 0
    assert "Nothing got worse beyond chance" in same.out
    body = json.loads((bare / "judge.json").read_text())
    body["flaws"] = dict.fromkeys(body["flaws"], True)
    (bare / "judge.json").write_text(json.dumps(body))
    worse = call(*command, "--baseline", "judge.json")
    assert worse.code == 8
    assert "The judge got worse at: catching flaws" in worse.out


def test_a_ceiling_leaves_the_rest_unasked_and_says_so(call, judge):
    ended = call("check-judge", "--limit", "1", "--probe", "flaws", *judge, "--max-calls", "2")
    assert ended.code == 3
    assert "not asked" in ended.out
    assert "Run the same command again" in ended.out


def test_labelled_texts_are_judged_and_reported(call, judge, bare):
    (bare / "edu_test.csv").write_text("source_article,updated_label\nAll or nothing it is.,false dilemma\n")
    ended = call("check-fallacies", "logic", "--data", ".", *judge, "--json")
    assert ended.code == 0, ended.err
    body = json.loads(ended.out)
    assert (body["schema"], body["texts"], body["answered"]) == ("disputatio/fallacy-check", 1, 1)
    assert "Labelled (rows)" in call("check-fallacies", "logic", "--data", "edu_test.csv", *judge).out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("check-judge", "--probe", "charm"), "no probe called"),
        (("check-judge", "--limit", "none"), "--limit"),
        (("check-judge", "--cases", "missing.json"), "cannot be read"),
        (("check-judge", "--baseline", "missing.json"), "cannot be read"),
        (("check-fallacies", "logic", "--data", "nowhere"), "cannot be read"),
        (("check-fallacies", "tea", "--data", "."), "no set of labelled texts"),
    ],
)
def test_what_cannot_be_used_is_said_in_a_sentence(call, arguments, said):
    ended = call(*arguments)
    assert ended.code == 2
    assert said in is_clear(ended.err)


def test_ctrl_c_keeps_results_and_rerunning_continues(
    commands: Commands, judge: tuple[str, ...], provider: FakeProvider
) -> None:
    commands.given = []
    provider.hold()
    provider.release(*range(8))
    # Under a ceiling one debate is held at a time, and none of this judge's takes more than four calls.
    command = ("check-judge", "--limit", "1", "--probe", "flaws", *judge, "--max-calls", "200")
    running = commands.start(*command)
    provider.arrived.wait(9)
    running.signal(signal.SIGINT)
    ended = running.ended()
    assert ended.code == 130
    kept = re.search(r"Stopped: (\d+) of 11 debates are recorded", ended.err)
    assert kept is not None, ended.err
    assert int(kept[1]) >= 2
    provider.release()
    again = commands.start(*command).ended()
    assert again.code == 0, again.err
    assert "11 of 11 judged" in again.out
    # Only the call that was in flight is made again.
    assert sum(row.attempt > 0 for row in provider.requests) <= 1
