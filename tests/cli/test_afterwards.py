"""``outcome``, ``sign-off``, ``metrics``, ``dossier`` and ``gate --recompute`` as a user has them."""

from __future__ import annotations

import asyncio
import json

import pytest
from cli_commands import Commands, is_clear

from disputatio.record.sql import SqlStore
from disputatio.workers import Job, JobState
from disputatio.workers.job_table import JobTable

pytestmark = pytest.mark.slow


@pytest.fixture
def debate(call, seated) -> str:
    """A closed debate in the store of this test."""
    assert call("debate", "Should we act?", *seated, "--json").code == 0
    return str(json.loads(call("list", "--json").out)[0]["id"])


def test_outcome_and_sign_off_are_shown_and_verify(call, debate):
    attached = call("outcome", debate, "--result", "It held.", "--verdict", "right", "--by", "A. Reviewer")
    assert attached.code == 0
    signed = call("sign-off", debate[:5], "--by", "B", "--decision", "reject", "--comment", "Too thin.")
    assert signed.code == 0
    heads = [row.out.split("Head ")[1].strip() for row in (attached, signed)]
    for head in heads:
        assert call("verify", debate, "--head", head).code == 0
    shown = call("show", debate).out
    assert "Outcome: right, by A. Reviewer" in shown
    assert "Sign-off: rejected, by B" in shown
    assert json.loads(call("list", "--json").out)[0]["status"] == "COMPLETE"


@pytest.mark.parametrize(
    "command",
    [
        ("outcome", "{id}", "--result", " "),
        ("outcome", "{id}", "--result", "x", "--verdict", "fine"),
        ("outcome", "nothing", "--result", "x"),
        ("sign-off", "{id}", "--by", "", "--decision", "approve"),
        ("sign-off", "{id}", "--by", "B", "--decision", "return"),
        ("sign-off", "{id}", "--by", "B", "--decision", "perhaps"),
    ],
)
def test_what_cannot_be_attached_is_refused_in_a_sentence(call, debate, command):
    ended = call(*(word.replace("{id}", debate) for word in command))
    assert ended.code == 2
    is_clear(ended.err)


def test_metrics_count_and_alert_with_a_code_of_their_own(call, debate):
    told = call("metrics")
    assert told.code == 0
    assert "freeform: 1 debate" in told.out
    body = json.loads(call("metrics", "--json").out)
    assert (body["schema"], body["debates"]) == ("disputatio/metrics", 1)
    assert body["formats"]["freeform"]["statuses"] == {"COMPLETE": 1}
    assert body["against_estimate"]["freeform"]["of"] == 1
    assert body["challenge_strength"]["mean"] is None
    # A fake provider's speeches are short: what is taken is far below the estimate, and above a tenth of it.
    past = call("metrics", "--alert", "--set", "metrics.cost_ratio=0.01")
    assert past.code == 9
    assert "ALERT: Tokens taken over tokens estimated of freeform" in past.out
    assert call("metrics", "--alert", "--set", "metrics.cost_ratio=100").code == 0
    assert call("metrics", "--set", "metrics.cost_ratio=no").code == 2
    assert call("metrics", "--since", "2026-13-01").code == 2
    assert call("metrics", "--since", "2999-01-01").out.startswith("0 debates")


def test_a_dossier_of_an_altered_record_says_so(call, debate, bare):
    written = call("dossier", debate, "--as", "html", "--out", "d.html")
    assert (written.code, written.out) == (0, "")
    assert "Model risk dossier" in (bare / "d.html").read_text("utf-8")
    assert call("dossier", debate).out.startswith("# Model risk dossier")
    import sqlite3

    (store,) = bare.parent.rglob("debates.sqlite")
    with sqlite3.connect(store) as connection:
        connection.execute("UPDATE events SET body = replace(body, 'act', 'ask') WHERE seq = 1")
    altered = call("dossier", debate, "--out", "e.md")
    assert altered.code == 6
    assert "Do not rely on this dossier" in altered.err
    assert "THE RECORD DOES NOT VERIFY" in (bare / "e.md").read_text("utf-8")


def test_the_gate_recomputes_nothing_from_too_few_outcomes(call, debate):
    call("outcome", debate, "--result", "It held.", "--verdict", "right")
    ended = call("gate", "--recompute")
    assert ended.code == 0
    assert "20 are needed" in ended.out
    assert json.loads(call("gate", "--recompute", "--json").out)["multiple"] is None


@pytest.mark.slow
def test_a_dry_run_reports_past_estimation_error(call, seated):
    command = ("debate", "Should we act?", "--dry-run", *seated)
    assert "times their estimate" not in call(*command).out
    for motion in ("Should we act now?", "Should we wait?", "Should we ask?"):
        assert call("debate", motion, *seated).code == 0
    assert "The last 3 debates like this in the store took" in " ".join(call(*command).out.split())
    assert json.loads(call(*command, "--json").out)["calibrated"]["debates"] == 3


@pytest.mark.slow
def test_two_processes_attach_and_both_are_recorded(commands: Commands):
    assert commands.debate("Should we act?", "--json").code == 0
    debate = json.loads(commands.run("list", "--json").out)[0]["id"]
    running = [commands.start("outcome", debate, "--result", f"Finding {number}") for number in (1, 2)]
    ended = [row.ended() for row in running]
    kept = [row for row in ended if row.code == 0]
    assert kept
    assert all("held by another process" in row.err for row in ended if row.code)
    assert commands.run("verify", debate).code == 0
    assert commands.run("show", debate).out.count("Finding ") == len(kept)


@pytest.mark.parametrize("command", ["verify", "show", "resume", "dossier"])
def test_a_debate_that_has_not_started_says_so(call, tmp_path, command):
    store = SqlStore(f"sqlite:///{tmp_path}/store.sqlite")
    for debate, state in (("5ab1e0", JobState.WAITING), ("5ab1f0", JobState.CANCELLED), ("77", JobState.FAILED)):
        order = {"motion": "We should act"}
        JobTable(store).add_job(Job(debate, JobState.WAITING, "debates", 0, "2026-01-01"), order, None)
        if state.is_over:
            JobTable(store).finish(debate, state, "Nobody answered.", "Start a model.")
    asyncio.run(store.aclose())
    for prefix, words in (
        ("5ab1e0", "The debate 5ab1e0 has not started, so it has no record yet."),
        ("5ab1e", "The debate 5ab1e0 has not started"),
        ("5ab1f", "was cancelled before it had started"),
        ("77", "did not start: Nobody answered. Start a model."),
        ("5ab1", "There is no debate '5ab1'"),
        ("other", "There is no debate 'other'"),
    ):
        ended = call(command, prefix, "--store", str(tmp_path / "store.sqlite"))
        assert ended.code == 2
        assert words in " ".join(ended.err.split())
