"""Whole panels: over models that fail, at a ceiling, resumed, and handed over when they escalate."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

import pytest
from rooms import Carrier, PatientClock, go_on, hold, proposal_of, settings_for

import disputatio
from disputatio._cli.arguments import make_arguments
from disputatio.engine.escalation import choose_target, hand_over
from disputatio.engine.opening import Proposal
from disputatio.engine.runtime import Runtime
from disputatio.errors import InvalidInputError
from disputatio.formats.registry import find_format
from disputatio.ledger.budget import Budget
from disputatio.participants.call import Call, Fault, FaultKind, Reply, Usage
from disputatio.record.events import DebateOpened, DecisionEscalated, VoteCounted
from disputatio.record.history import History
from disputatio.record.memory import MemoryStore
from disputatio.record.verified import read_verified
from disputatio.testing import InstanceClient, instance

pytestmark = pytest.mark.slow

NAMES = ("planner", "critic", "operator")


def voting(votes: dict[str, str], models: dict[str, str] | None = None) -> Callable[[Any, Any], Any]:
    """Models that vote as told; a debater that is told nothing fails."""

    def answer(call: Call) -> Reply | Fault:
        task = call.segments[-1].text
        name = task.split("You are ", 1)[1].split(".", 1)[0]
        if name not in votes:
            return Fault(FaultKind.REFUSED, f"{name} refuses")
        content = {
            "stance": f"The secret stance of {name}.",
            "rationale": f"{name} has a reason for that.",
            "vote": votes[name],
        }
        return Reply(json.dumps(content), "fake-1", Usage(10, 10))

    carrier = Carrier(answer)
    return lambda *_: carrier


def panel(*, debaters: str = ",".join(NAMES), **given: Any) -> Proposal:
    return proposal_of("panel", debaters=debaters, **given)


async def test_a_debater_whose_model_fails_stays_in_the_denominator():
    """A debater whose model fails stays in the denominator and the heading says so."""
    votes = {"planner": "release", "critic": "release"}
    debate, history, store = await hold(panel(threshold=3, rounds=1), voting(votes))
    assert history.closed is not None
    outcome: Any = history.closed.outcome
    assert outcome["report"]["vote_tally"] == {"release": 2}
    assert (outcome["report"]["decision"], outcome["report"]["decision_rule"]) == ("escalate", "max_rounds_exhausted")
    assert [count["failed"] for count in outcome["votes"]] == [["operator"]] * 4
    report = disputatio.Debate(debate, tuple(store.read(debate)), store.texts(debate)).text(80)
    assert "DEGRADED: operator abstained" in report
    assert "operator has no vote and still counts" in " ".join(report.split())


async def test_every_count_is_a_fact_of_the_record():
    """Every count is a fact of the record and states the schedule."""
    _, history, _ = await hold(
        panel(rounds=1, threshold=3), voting(dict(zip(NAMES, ("release", "revise", "escalate"), strict=True)))
    )
    counts = [fact for fact in history.facts if isinstance(fact, VoteCounted)]
    phases = ("proposal", "critique", "revision", "consensus")
    assert [fact.about for fact in counts] == [f"round_1_{phase}" for phase in phases]
    bodies: list[Any] = [fact.body for fact in counts]
    assert all(body["speaker_selected_by"] == "schedule" for body in bodies)
    assert all(tuple(body["speaker_schedule"]) == NAMES for body in bodies)
    assert history.opened is not None
    assert history.opened.rules["speaker_selected_by"] == "schedule"
    assert list(history.opened.rules["debaters"]) == list(NAMES)  # type: ignore[call-overload]
    asked = [row.seat for row in history.asked.values()]
    assert asked == list(NAMES) * 4, "they speak in the order of the schedule"


async def test_first_phase_prompts_hide_other_debaters():
    """No prompt of the first phase holds what another debater says."""
    sent: list[Call] = []
    votes = dict(zip(NAMES, ("release", "revise", "escalate"), strict=True))
    client_factory = voting(votes)
    carrier = client_factory(None, None)
    await hold(panel(rounds=1), client_factory)
    sent = carrier.calls
    for place, call in enumerate(sent):
        text = "\n".join(segment.text for segment in call.segments)
        assert ("The secret stance of" in text) == (place >= len(NAMES)), place


async def test_look_alikes_draw_a_warning_and_different_models():
    """Look alikes draw a warning and different models or personas do not."""
    alike = "All debaters are the same model"
    for given, warned in (
        ({}, True),
        ({"seat": ("planner=ollama:a", "critic=ollama:b", "operator=ollama:a")}, False),
        ({"set": ("seats.critic.persona=You count costs.",)}, False),
    ):
        _, history, _ = await hold(panel(**given), voting(dict.fromkeys(NAMES, "release")))
        assert history.opened is not None
        assert any(alike in row for row in history.opened.warnings) == warned
        assert history.closed is not None
        diversity: Any = history.closed.outcome["diversity"]
        assert diversity["alike"] == warned
        assert [row["debater"] for row in diversity["debaters"]] == list(NAMES)


async def test_a_panel_stopped_at_its_ceiling_decides_nothing():
    """A panel stopped at its ceiling decides nothing and resumes to what it would have been."""
    votes = dict(zip(NAMES, ("release", "revise", "escalate"), strict=True))
    _, whole, _ = await hold(panel(rounds=1), voting(votes))
    debate, history, store = await hold(panel(rounds=1, max_calls="4"), voting(votes))
    assert history.closed is not None
    assert history.closed.status == "DEBATE_TRUNCATED"
    report: Any = history.closed.outcome["report"]
    assert (report["decision"], report["decision_rule"]) == (None, "budget_reached")
    resumed = await go_on(debate, panel(rounds=1), voting(votes), store, budget=Budget(calls=50))
    assert resumed.closed is not None
    assert whole.closed is not None
    assert resumed.closed.outcome == whole.closed.outcome


async def test_a_panel_over_models_that_answer_any_schema_is_complete():
    _, history, _ = await hold(panel(rounds=1), lambda *_: InstanceClient())
    assert history.status.value == "COMPLETE"


# --- the code of the document -------------------------------------------------------------------------------------


def scripted(votes: dict[str, str]) -> dict[str, Any]:
    def script(ask: Any, path: Any, reasons: Any) -> Any:
        return {
            "stance": f"{ask.seat} position during {ask.phase}",
            "rationale": f"{ask.seat} rationale during {ask.phase}",
            "vote": votes[ask.seat],
        }

    return {name: disputatio.Scripted(script) for name in votes}


async def published(votes: dict[str, str], **options: Any) -> disputatio.Debate:
    return await disputatio.debate(
        "We should release the migration",
        format=disputatio.Panel(rounds=2, threshold=2, **options),
        seats=scripted(votes),
        store=MemoryStore(),
    )


async def test_the_published_example_comes_to_its_own_report():
    result = await published({"planner": "release", "critic": "revise", "operator": "revise"})
    report: Any = result.outcome["report"]
    assert set(report) == {
        "debater_ids",
        "rounds_run",
        "max_rounds",
        "phase_sequence",
        "consensus_threshold",
        "vote_tally",
        "decision",
        "decision_rule",
        "speaker_schedule",
    }
    assert report["decision"] == "revise"
    assert report["vote_tally"] == {"release": 1, "revise": 2}
    assert report["decision_rule"] == "threshold_vote"
    assert report["rounds_run"] == 1
    assert [row.seat for row in result.report().turns] == list(report["speaker_schedule"])
    assert result.outcome["report_text"] == (
        "debater_ids: [planner, critic, operator]\n"
        "rounds_run: 1\n"
        "max_rounds: 2\n"
        "phase_sequence: [proposal]\n"
        "consensus_threshold: 2\n"
        "vote_tally: {release: 1, revise: 2}\n"
        "decision: revise\n"
        "decision_rule: threshold_vote\n"
        "speaker_schedule: [planner, critic, operator]"
    )


async def test_the_published_split_vote_is_escalated_by_exhaustion():
    result = await published({"planner": "release", "critic": "revise", "operator": "escalate"})
    report: Any = result.outcome["report"]
    assert report["decision_rule"] == "max_rounds_exhausted"
    assert report["decision"] == "escalate"
    assert report["rounds_run"] == report["max_rounds"] == 2
    assert report["vote_tally"] == {"release": 1, "revise": 1, "escalate": 1}
    assert len(report["speaker_schedule"]) == 2 * 4 * 3


@pytest.mark.parametrize(
    ("given", "word"),
    [
        ({"debaters": []}, "debaters"),
        ({"debaters": ["a", "a"]}, "twice"),
        ({"rounds": 0}, "rounds"),
        ({"threshold": 4}, "cannot be reached"),
        ({"threshold": 0}, "threshold"),
        ({"options": ["release"]}, "options"),
        ({"decision": "acclamation"}, "decision.rule"),
        ({"escalate": "person"}, "No person can be asked"),
        ({"escalate": "gopher://x"}, "escalate"),
        ({"escalate": "tribunal"}, "tribunal"),
    ],
)
async def test_what_cannot_be_held_is_refused_before_anybody_is_asked(given: dict[str, Any], word: str):
    store = MemoryStore()
    asked: list[object] = []
    seats = {"all": disputatio.Scripted(lambda *what: asked.append(what) or {})}
    with pytest.raises(InvalidInputError) as refused:
        await disputatio.debate("Be it so", format=disputatio.Panel(**given), seats=seats, store=store)
    assert word in f"{refused.value.cause} {refused.value.next_step}"
    assert (asked, list(store.debates())) == ([], [])


@pytest.mark.parametrize("name", ["structured", "freeform"])
def test_what_only_panels_have_is_refused_where_nobody_votes(name: str):
    from disputatio.engine.opening import make_rules

    for given in ({"debaters": "a,b"}, {"options": "a,b"}, {"threshold": "2"}, {"decision": "majority"}):
        with pytest.raises(InvalidInputError, match="panel"):
            make_rules(find_format(name), settings_for(name, **given))


# --- where an escalation goes -------------------------------------------------------------------------------------

SPLIT = {"planner": "release", "critic": "revise", "operator": "escalate"}


@contextmanager
def callback(status: int = 200, location: str = "") -> Iterator[tuple[str, list[Any]]]:
    """A server that is told of decisions."""
    told: list[Any] = []

    class Told(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            told.append((self.path, json.loads(self.rfile.read(int(self.headers["content-length"])))))
            self.send_response(status)
            if location:
                self.send_header("location", location)
            self.end_headers()
            self.wfile.write(b"ticket 17")

        def log_message(self, *_: object) -> None:
            return None

    server = HTTPServer(("127.0.0.1", 0), Told)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", told
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def escalations(result: disputatio.Debate) -> list[DecisionEscalated]:
    return [event for event in result.events if isinstance(event, DecisionEscalated)]


async def test_a_function_is_told_and_its_answer_is_recorded():
    told: list[disputatio.Debate] = []

    async def decide(debate: disputatio.Debate) -> str:
        told.append(debate)
        return "release it on Monday"

    result = await published(SPLIT, escalate=decide)
    (row,) = escalations(result)
    assert (row.to, row.name, row.answer, row.failure) == ("function", "decide", "release it on Monday", "")
    assert told[0].outcome["report"]["decision"] == "escalate"  # type: ignore[index,call-overload]
    assert result.status == "COMPLETE"
    assert "release it on Monday" in " ".join(result.text(80).split())


async def test_a_callback_is_posted_the_export():
    """A callback is posted the export and its address is not recorded."""
    with callback() as (address, told):
        result = await published(SPLIT, escalate=f"{address}/hook?token=hidden-word")
    ((path, body),) = told
    assert path == "/hook?token=hidden-word"
    assert body["schema"] == "disputatio-debate-1"
    assert body["outcome"]["report"]["decision"] == "escalate"
    (row,) = escalations(result)
    assert (row.to, row.name, row.answer) == ("callback", address, "ticket 17")
    assert not any("hidden-word" in str(sealed.body) for sealed in result.record)


@pytest.mark.parametrize(("status", "location"), [(500, ""), (302, "http://127.0.0.1:9/elsewhere")])
async def test_a_callback_that_refuses_is_told_and_loses_nothing(status: int, location: str):
    with callback(status, location) as (address, told):
        result = await published(SPLIT, escalate=address)
    (row,) = escalations(result)
    assert len(told) == 1, "no redirect is followed"
    assert row.failure == f"the server answered {status}"
    assert result.outcome["report"]["decision"] == "escalate"  # type: ignore[index,call-overload]
    assert "could not be handed over" in " ".join(result.text(80).split())


async def test_a_function_that_breaks_and_a_server():
    """A function that breaks and a server that is gone are told and lose nothing."""

    def breaks(debate: disputatio.Debate) -> str:
        raise ValueError("no such queue")

    for target, word in ((breaks, "no such queue"), ("http://127.0.0.1:9/", "not reached")):
        result = await published(SPLIT, escalate=target)
        (row,) = escalations(result)
        assert word in row.failure
        assert result.status == "COMPLETE"


async def test_nothing_is_handed_over_where_the_panel_decided():
    told: list[object] = []
    result = await published(dict.fromkeys(SPLIT, "release"), escalate=told.append)
    assert (told, escalations(result)) == ([], [])


async def test_an_escalation_to_nobody_says_how_to_hand_it_over():
    result = await published(SPLIT)
    assert escalations(result) == []
    assert f"disputatio resume {result.id} --escalate" in " ".join(result.text(100).split())


@pytest.mark.slow
async def test_a_debate_takes_the_decision_over_with_the_report(monkeypatch: pytest.MonkeyPatch, tmp_path: Any):
    """A debate takes the decision over with the report before it."""
    monkeypatch.chdir(tmp_path)
    store = MemoryStore()
    runtime = Runtime(store, client_factory=lambda *_: InstanceClient(), checks_first=False, clock=PatientClock())
    held, _, _ = await hold(panel(rounds=1), voting(SPLIT), store)
    arguments = make_arguments(seat=["all=ollama:fake"], debaters=NAMES, escalate="structured")
    handed = await hand_over(held, choose_target("structured", find_format("panel"), arguments, ()), runtime)
    assert handed is not None
    assert handed.failure == ""
    opened = History.of(row.event() for row in store.read(handed.debate)).opened
    assert isinstance(opened, DebateOpened)
    assert opened.format == "structured"
    (source,) = opened.evidence
    assert "max_rounds_exhausted" in store.texts(handed.debate)[str(source["text"])]
    last = read_verified(store, held)[-1].event()
    assert isinstance(last, DecisionEscalated)
    assert last.debate == handed.debate


async def test_a_debater_who_failed_in_the_last_phase_is_asked_again():
    """A debater who failed in the last phase is asked again on resume and its vote counts."""
    votes = {"planner": "release", "critic": "release"}
    debate, history, store = await hold(panel(threshold=3, rounds=1), voting(votes))
    assert history.status.value == "DEGRADED"
    resumed = await go_on(debate, panel(threshold=3, rounds=1), voting({**votes, "operator": "release"}), store)
    assert resumed.closed is not None
    report: Any = resumed.closed.outcome["report"]
    assert (report["decision"], report["decision_rule"]) == ("release", "threshold_vote")
    assert list(report["phase_sequence"]) == ["proposal", "critique", "revision", "consensus"]
    assert read_verified(store, debate)
    counts = [fact for fact in resumed.facts if isinstance(fact, VoteCounted)]
    assert [fact.about for fact in counts] == [f"round_1_{phase}" for phase in report["phase_sequence"]]


async def test_a_panel_that_is_over_can_be_handed_over_later():
    """A panel that is over can be handed over later and is not handed over twice unasked."""
    store = MemoryStore()
    seats = scripted(SPLIT)
    held = await disputatio.debate("Be it so", format=disputatio.Panel(rounds=1), seats=seats, store=store)
    assert escalations(held) == []
    later = await disputatio.resume(held.id, seats=seats, store=store, escalate=lambda debate: "release it")
    assert [row.answer for row in escalations(later)] == ["release it"]
    again = await disputatio.resume(held.id, seats=seats, store=store)
    assert again.record == later.record
    assert read_verified(store, held.id)


async def test_a_function_is_refused_where_nobody_ever_escalates():
    """Only a panel has the option; a debate of another format that is over is handed to nobody either."""
    store = MemoryStore()
    seats = {"all": disputatio.Scripted(lambda ask, path, _: instance(ask.spec.schema, path))}
    held = await disputatio.debate("Be it so", format=disputatio.Freeform(rounds=1), seats=seats, store=store)
    with pytest.raises(InvalidInputError, match="Only panels escalate"):
        await disputatio.resume(held.id, seats=seats, store=store, escalate=print)


async def test_what_a_file_says_of_escalations_is_no_matter(monkeypatch: Any, tmp_path: Any):
    """What a file says of escalations is no matter to other formats."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "disputatio.toml").write_text('escalate = "person"\n')
    seats = {"all": disputatio.Scripted(lambda ask, path, reasons: instance(ask.spec.schema, path))}
    result = await disputatio.debate("Be it so", format="freeform", seats=seats, store=MemoryStore())
    assert result.status == "COMPLETE"
    with pytest.raises(InvalidInputError, match="No person can be asked"):
        await disputatio.debate("Be it so", format="panel", seats=seats, store=MemoryStore())
