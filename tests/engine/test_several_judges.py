"""Several judges in a running debate: asked, recorded, resumed, counted beforehand, and missed where they fail."""

from __future__ import annotations

import json

import pytest
from rooms import Carrier, first_events_of, go_on, hold, proposal_of

from disputatio.engine.preview import preview
from disputatio.errors import InvalidInputError
from disputatio.ledger.budget import Budget
from disputatio.participants.call import Fault, FaultKind, OutputMode, Reply, Usage
from disputatio.participants.scripted import Scripted
from disputatio.record.history import semantic_content
from disputatio.testing.instances import instance
from disputatio.testing.scripted import InstanceClient

pytestmark = pytest.mark.slow

PANEL = {"judges": "2", "both_orders": True, "retest": True}


def instances(_seating, _key):
    return InstanceClient()


def judging(history):
    return sorted(path for path in history.answered if path.startswith("judging/"))


async def test_every_judging_is_an_ask_of_its_own_with_a_path():
    """Every judging is an ask of its own with a path that says which."""
    _, history, _ = await hold(proposal_of(**PANEL), instances)
    assert history.status.value == "COMPLETE"
    assert set(judging(history)) == {
        f"judging/{sitting}/{judge}"
        for sitting in ("con-first", "pro-first", "pro-first-again")
        for judge in ("judge", "judge_2")
    }
    assert history.closed.outcome["panel"]["panel"] == ["judge", "judge_2"]


async def test_a_debate_with_one_judge_asks_as_it_always_did():
    _, history, _ = await hold(proposal_of(), instances)
    assert judging(history) == ["judging/judge"]
    assert history.closed.outcome["panel"] is None


async def test_a_debate_killed_between_its_judges_goes():
    """A debate killed between its judges goes on to the same verdict."""
    proposal = proposal_of(**PANEL)
    debate, whole, store = await hold(proposal, instances)
    events = [row.event() for row in store.read(debate)]
    judged = [place for place, row in enumerate(events) if row.kind == "TurnTaken" and row.path.startswith("judging/")]
    for place in (judged[0] + 1, judged[2], judged[-1]):
        cut = await first_events_of(store, debate, place)
        resumed = await go_on(debate, proposal, instances, cut)
        assert resumed.closed.outcome == whole.closed.outcome
        again = semantic_content(row.event() for row in cut.read(debate))
        assert again == semantic_content(events)


async def test_a_preview_counts_every_judging_and_a_ceiling_stops():
    """A preview counts every judging and a ceiling stops before it."""
    seen = await preview(proposal_of(**PANEL))
    assert {row.seat: row.calls for row in seen.seats if row.seat.startswith("judge")} == {"judge": 3, "judge_2": 3}
    debate, history, store = await hold(proposal_of(**PANEL, max_calls=8), instances)
    assert history.status.value == "DEBATE_TRUNCATED"
    assert len(history.calls) == 8
    assert history.closed.outcome["panel"]["status"] == "undecided"
    resumed = await go_on(debate, proposal_of(**PANEL), instances, store, budget=Budget(calls=40))
    assert resumed.status.value == "COMPLETE"
    assert resumed.closed.outcome["panel"]["status"] in {"won", "tied"}


async def test_a_judge_that_fails_degrades_the_debate():
    """A judge that fails degrades the debate and stays in the denominator."""

    def client_factory(seating, _key):
        if seating.model != "gone":
            return InstanceClient()
        return Carrier(lambda _call: Fault(FaultKind.KEY_REJECTED, "the key was refused"))

    proposal = proposal_of(seat=("all=ollama:fake", "judge_3=ollama:gone"))
    _, history, _ = await hold(proposal, client_factory)
    assert history.status.value == "DEGRADED"
    outcome = history.closed.outcome
    assert [row["judge"] for row in outcome["panel"]["failed"]] == ["judge_3"]
    assert outcome["panel"]["panel"] == ["judge", "judge_2", "judge_3"]
    assert "1 not heard" in outcome["reading"] or "no verdict" in outcome["reading"]
    assert all(row["judges"]["judge_3"] == "NOT_HEARD" for row in outcome["trace"])


class Inventing:
    """A judge behind a server that holds no schema: it names PRO-9, however often it is asked."""

    def __init__(self, argument="PRO-9"):
        self.named, self.asked = argument, 0

    def __call__(self, call):
        content = instance(call.schema, call.schema_name)
        if call.schema_name == "adjudication":
            self.asked += 1
            for row in content["arguments"].values():
                row["reason"] = "The answer met the question."
            content["arguments"]["PRO-1"]["rests_on"] = [self.named]
        return Reply(json.dumps(content), "fake", Usage(1, 1))


async def test_a_finding_on_an_argument_that_does_not_exist():
    """A finding on an argument that does not exist is asked again and then void."""
    judge = Inventing()
    _, history, _ = await hold(proposal_of(), lambda *_: Carrier(judge, modes=(OutputMode.PROMPTED,)))
    assert judge.asked == 3, "the first ask and two more for the shape, and no further one for the rule"
    rejected = history.rejected["judging/judge"]
    assert [row.because for row in rejected] == ["shape", "shape"]
    assert history.status.value == "COMPLETE"
    rows = {row["id"]: row for row in history.closed.outcome["trace"]}
    assert rows["PRO-1"]["found"] == "VOID"
    assert rows["PRO-1"]["weighted"] is None
    assert "PRO-9" in rows["PRO-1"]["void"]
    assert all(row["weighted"] for name, row in rows.items() if name != "PRO-1")
    (violation,) = [row for row in history.answered["judging/judge"].violations if row["rule"] == "ungrounded"]
    assert "PRO-9" in violation["detail"]


async def test_a_scripted_judge_that_invents_is_void_too():
    """A scripted judge that invents is void too and its record goes on alike."""

    def said(ask, path, _reasons):
        content = instance(ask.spec.schema, path)
        if ask.spec.name == "adjudication":
            content["arguments"]["PRO-1"]["rests_on"] = []
        return content

    proposal = proposal_of(participants={seat: Scripted(said) for seat in ("pro", "con", "judge")})
    debate, history, store = await hold(proposal, instances)
    row = next(row for row in history.closed.outcome["trace"] if row["id"] == "PRO-1")
    assert (row["found"], row["weighted"]) == ("VOID", None)
    cut = await first_events_of(store, debate, len(store.read(debate)) - 1)
    assert (await go_on(debate, proposal, instances, cut)).closed.outcome == history.closed.outcome


@pytest.mark.parametrize(
    ("given", "cause"),
    [
        ({"judges": "2", "panel_method": "weighted"}, "needs the weight of every judge"),
        ({"judges": "2", "set": ("judging.weights.judge=2",)}, "does not weigh"),
        ({"panel_method": "weighted", "judges": "2", "set": ("judging.weights.judge=2",)}, "weight of every judge"),
        ({"format_name": "freeform", "both_orders": True}, "formats whose judges give scores"),
    ],
)
async def test_what_the_judges_cannot_do_is_refused(given, cause):
    """What the judges cannot do is refused before anything is asked."""
    asked = []
    with pytest.raises(InvalidInputError) as refused:
        await hold(proposal_of(**given), lambda *_: Carrier(asked.append))
    assert cause in refused.value.cause
    assert refused.value.next_step
    assert not asked
