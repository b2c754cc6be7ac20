"""How a debate runs and ends, and what its record says of it."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest
from rooms import Carrier, PatientClock, first_events_of, go_on, hold, proposal_of

from disputatio.errors import InvalidInputError, ResumeMismatchError, VerificationError
from disputatio.kernel import Abstention
from disputatio.motion import Motion
from disputatio.participants.call import Fault, FaultKind, OutputMode, Reply, Usage
from disputatio.participants.scripted import Scripted, recording
from disputatio.record.history import semantic_content
from disputatio.record.memory import MemoryStore
from disputatio.record.verified import read_verified
from disputatio.testing.instances import instance
from disputatio.testing.scripted import InstanceClient


def meaning_of(store, debate):
    return semantic_content(row.event() for row in store.read(debate))


def instances(_seating, _key):
    return InstanceClient()


def by_instance(ask, path, _reasons):
    return instance(ask.spec.schema, path)


@pytest.mark.parametrize("format_name", ["structured", "freeform"])
async def test_a_debate_ends_complete_with_a_verifying_record(format_name):
    debate, history, store = await hold(proposal_of(format_name), instances)
    assert history.status.value == "COMPLETE"
    assert not history.in_flight
    assert set(history.asked) == set(history.answered)
    assert read_verified(store, debate)


async def test_every_call_is_written_down_before_it_leaves():
    written = []

    class Watching:
        def on_event(self, event, sealed):
            written.append(event)

        def on_text(self, path, part, text):
            pass

    model_client = InstanceClient()

    def checked(call):
        asked = [row for row in written if row.kind == "CallSent"]
        made = [row for row in written if row.kind == "CallMade"]
        assert len(asked) > len(made)
        return model_client.call(call)

    _, history, _ = await hold(proposal_of(), lambda *_: Carrier(checked), observer=Watching())
    assert history.status.value == "COMPLETE"


async def test_answer_order_does_not_change_a_debate():
    """The order of answers does not change what a debate means."""

    async def with_order(reverse):
        model_client = InstanceClient()
        waiting = []

        async def answer(call):
            turn = asyncio.Event()
            waiting.append(turn)
            for _ in range(5):
                await asyncio.sleep(0)
            if len(waiting) > 1:
                first, second = (waiting.pop(), waiting.pop()) if reverse else (waiting.pop(0), waiting.pop(0))
                first.set()
                for _ in range(5):
                    await asyncio.sleep(0)
                second.set()
            elif "judge" in call.segments[-1].text:
                turn.set()
            await turn.wait()
            return await model_client.call(call)

        debate, _, store = await hold(proposal_of(), lambda *_: Carrier(answer))
        return [row.event() for row in store.read(debate)]

    forwards, backwards = await with_order(reverse=False), await with_order(reverse=True)
    order = [[row.path for row in events if row.kind == "TurnTaken"] for events in (forwards, backwards)]
    assert order[0] != order[1]
    assert semantic_content(forwards) == semantic_content(backwards)


async def test_a_seat_that_abstains_degrades_the_debate():
    """A seat that abstains degrades the debate and nothing stands in its place."""

    def script(ask, path, reasons):
        if path == "closing/con":
            return Abstention(ask.seat, "absent", "left the room")
        return by_instance(ask, path, reasons)

    _, history, _ = await hold(proposal_of(participants=dict.fromkeys(("pro", "con", "judge"), Scripted(script))), None)
    assert history.status.value == "DEGRADED"
    assert [(row["path"], row["reason"]) for row in history.closed.missing] == [("closing/con", "absent")]
    assert "closing/con" in history.answered
    con_rows = [row for row in history.closed.outcome["trace"] if row["side"] == "con"]
    assert con_rows
    assert all(row["computed"] != "UPHELD" or row["drew"][0]["response"] == "concede" for row in con_rows)


async def test_a_misshapen_answer_is_asked_again():
    """A misshapen answer is asked again and then the seat abstains."""

    def script(ask, path, reasons):
        return "no json at all" if path == "opening/con" else by_instance(ask, path, reasons)

    _, history, _ = await hold(proposal_of(participants=dict.fromkeys(("pro", "con", "judge"), Scripted(script))), None)
    assert history.answered["opening/con"].reason == "misfit"
    assert len(history.rejected["opening/con"]) == 2
    assert history.closed.outcome["totals"]["con"] is None
    assert history.closed.outcome["gap"] is None
    assert "cross-examination/pro" not in history.asked


async def test_a_debate_in_which_nobody_speaks_has_failed():
    fault = Fault(FaultKind.KEY_REJECTED, "the key is not accepted")
    _, history, _ = await hold(proposal_of(), lambda *_: Carrier(lambda _call: fault))
    assert history.status.value == "FAILED"
    assert history.closed.outcome["judged"] is False


async def test_passing_faults_are_retried_with_growing_rests():
    """Passing faults are retried with growing rests and then abstained from."""
    clock = PatientClock()
    fault = Fault(FaultKind.SERVER_ERROR, "the server failed")
    _, history, _ = await hold(proposal_of(), lambda *_: Carrier(lambda _call: fault), clock=clock)
    assert sorted(clock.rests) == [1.0, 1.0, 2.0, 2.0, 4.0, 4.0]
    assert len(history.calls) == 8
    assert {row.reason for row in history.answered.values()} == {"server_error"}


async def test_a_fallback_takes_over_and_the_record_names_it():
    def client_factory(seating, _key):
        refused = Fault(FaultKind.REFUSED, "no")
        return Carrier(lambda _: refused) if seating.model == "judge" else InstanceClient()

    given = proposal_of(seat=("all=ollama:fake", "judge=ollama:judge"), set=("seats.judge.fallback=ollama:second",))
    _, history, _ = await hold(given, client_factory)
    models = [row.model for row in history.sent["judging/judge"]]
    assert models[:2] == ["ollama:judge"] * 2
    assert "second" in models[-1]


async def test_a_fallback_that_took_over_from_a_long_rest_takes_over():
    """A fallback that took over from a long rest takes over on resume too."""

    def client_factory(seating, _key):
        resting = Fault(FaultKind.RATE_LIMITED, "wait", retry_after_s=900.0)
        return Carrier(lambda _: resting) if seating.model == "judge" else InstanceClient()

    given = proposal_of(seat=("all=ollama:fake", "judge=ollama:judge"), set=("seats.judge.fallback=ollama:second",))
    debate, whole, store = await hold(given, client_factory)
    assert [row.model for row in whole.sent["judging/judge"]][:2] == ["ollama:judge", "ollama:second"]
    first_judging = whole.sent["judging/judge"][0].call
    place = next(row.seq for row in store.read(debate) if getattr(row.event(), "call", "") == first_judging)
    for kept in (place, place + 1, place + 2):
        cut = await first_events_of(store, debate, kept)
        resumed = await go_on(debate, given, client_factory, cut)
        assert resumed.sent["judging/judge"][-1].model == "ollama:second"
        assert meaning_of(cut, debate) == meaning_of(store, debate)


async def test_an_unsupported_output_mode_is_tried_once():
    """An unsupported output mode is tried once in the whole debate."""
    model_client = InstanceClient()

    async def answer(call):
        await asyncio.sleep(0)
        if call.mode is OutputMode.NATIVE:
            return Fault(FaultKind.SCHEMA_UNSUPPORTED, "response_format is not supported")
        return await model_client.call(call)

    modes = (OutputMode.NATIVE, OutputMode.TOOL, OutputMode.PROMPTED)
    carrier = Carrier(answer, modes)
    _, history, _ = await hold(proposal_of(), lambda *_: carrier)
    assert history.status.value == "COMPLETE"
    natives = [row.path for row in history.calls if row.mode == "native"]
    assert set(natives) == {"opening/pro", "opening/con"}


async def test_usage_that_was_not_reported_stays_unknown():
    """Usage that was not reported stays unknown and is no zero."""
    model_client = InstanceClient()

    async def answer(call):
        reply = await model_client.call(call)
        return Reply(reply.text, reply.served_model, Usage(), reply.finish)

    given = proposal_of(seat=("all=openai_compatible:m",), base_url="http://localhost:9/v1")
    _, history, _ = await hold(given, lambda *_: Carrier(answer))
    made = list(history.made.values())
    assert all(row.usage["input_tokens"] is None and row.cost_usd is None for row in made)
    assert all(row.charged_tokens > 0 for row in made)


async def test_stopping_from_outside_is_recorded_and_resuming_ends():
    """Stopping from outside is recorded and resuming ends as if nothing had happened."""
    proposal, store = proposal_of(seed=3), MemoryStore()
    _, whole, _ = await hold(proposal, instances, store)
    reached, never = asyncio.Event(), asyncio.Event()
    model_client = InstanceClient()

    async def answer(call):
        if "closing" in call.schema_name:
            reached.set()
            await never.wait()
        return await model_client.call(call)

    stopped = MemoryStore()
    task = asyncio.create_task(hold(proposal, lambda *_: Carrier(answer), stopped))
    await reached.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    (row,) = stopped.debates()
    assert row.status == "INTERRUPTED"
    history = await go_on(row.id, proposal, instances, stopped)
    assert len(history.lost) >= 1
    events = [sealed.event() for sealed in stopped.read(row.id)]
    (first,) = store.debates()
    assert semantic_content(events) == semantic_content(sealed.event() for sealed in store.read(first.id))
    assert whole.status == history.status


async def test_a_finished_debate_is_returned_as_it_is():
    proposal = proposal_of()
    debate, history, store = await hold(proposal, instances)
    before = len(store.read(debate))
    again = await go_on(debate, proposal, instances, store)
    assert len(store.read(debate)) == before
    assert again.closed == history.closed


async def test_a_judge_that_abstained_is_asked_again_on_resume():
    def no_judge(seating, _key):
        return Carrier(lambda _: Fault(FaultKind.KEY_REJECTED, "no")) if seating.model == "judge" else InstanceClient()

    proposal = proposal_of(seat=("all=ollama:fake", "judge=ollama:judge"))
    debate, history, store = await hold(proposal, no_judge)
    assert history.status.value == "DEGRADED"
    assert history.closed.outcome["judged"] is False
    calls = len(history.calls)
    resumed = await go_on(debate, proposal, instances, store)
    assert resumed.status.value == "COMPLETE"
    assert resumed.closed.outcome["judged"] is True
    assert all(row.path == "judging/judge" for row in resumed.calls if row.call not in {r.call for r in history.calls})
    assert len(resumed.calls) > calls
    assert read_verified(store, debate)


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"asked_format": "freeform"}, "format"),
        ({"asked_seats": ("pro",)}, "seat pro"),
    ],
)
async def test_resuming_with_another_format_or_seat_is_refused_by_name(change, named):
    proposal = proposal_of(max_calls=2)
    debate, _, store = await hold(proposal, instances)
    other = proposal_of(seat=("all=ollama:other",))
    before = len(store.read(debate))
    with pytest.raises(ResumeMismatchError, match=named):
        await go_on(debate, other, instances, store, **change)
    assert len(store.read(debate)) == before


async def test_resuming_with_another_prompt_is_refused_by_name(tmp_path):
    proposal = proposal_of(max_calls=2)
    debate, _, store = await hold(proposal, instances)
    folder = tmp_path / "structured"
    folder.mkdir()
    (folder / "closing.md").write_text("Close. $side $stance $questions $conceded $own $limit")
    with pytest.raises(ResumeMismatchError, match=r"structured/closing\.md"):
        await go_on(debate, proposal, instances, store, prompts=tmp_path)


async def test_a_script_given_for_a_seat_that_does_not_exist():
    """A script given for a seat that does not exist is refused."""
    with pytest.raises(InvalidInputError, match="seat called moderator"):
        await hold(proposal_of(participants={"moderator": Scripted(by_instance)}), instances)


async def test_a_recording_says_again_what_was_said():
    _, history, _ = await hold(proposal_of(), instances)
    seats = dict.fromkeys(("pro", "con", "judge"), recording(history, "first"))
    _, again, _ = await hold(proposal_of(participants=seats), None)
    assert again.closed.outcome == history.closed.outcome
    assert not again.calls


async def test_the_warning_of_shared_blind_spots_is_in_the_record():
    _, history, _ = await hold(proposal_of(), instances)
    assert any("blind spots" in row for row in history.opened.warnings)
    _, mixed, _ = await hold(proposal_of(seat=("all=ollama:qwen3", "judge=ollama:llama3")), instances)
    assert not mixed.opened.warnings


async def test_a_missing_key_is_refused_before_anything_is_written():
    store = MemoryStore()
    with pytest.raises(InvalidInputError, match="OPENAI_API_KEY"):
        await hold(proposal_of(seat=("all=openai:gpt-5",)), instances, store)
    assert not store.debates()


@pytest.mark.parametrize("format_name", ["structured", "freeform"])
async def test_a_debate_in_which_nobody_could_speak_is_held_whole(format_name):
    """A debate in which nobody could speak is held whole on resume."""
    refused = Fault(FaultKind.KEY_REJECTED, "the key is not accepted")
    given = proposal_of(format_name)
    debate, failed, store = await hold(given, lambda *_: Carrier(lambda _: refused))
    assert failed.status.value == "FAILED"
    assert (await go_on(debate, given, instances, store)).status.value == "COMPLETE"


async def test_a_language_that_the_small_model_does_not_write():
    """A language that the small model does not write is warned of."""
    german = Motion("Wir sollten handeln", "German")
    given = proposal_of(seat=("all=ollama:fake", "judge=embedded"))
    _, history, _ = await hold(replace(given, motion=german), instances)
    assert any("writes English only" in row and "judge" in row for row in history.opened.warnings)
    _, history, _ = await hold(replace(proposal_of(), motion=german), instances)
    assert not any("English" in row for row in history.opened.warnings)


async def test_a_text_that_comes_in_while_a_record_is_read_is_no_fault():
    """A text that comes in while a record is read is no fault of it."""
    proposal = proposal_of("freeform")
    debate, history, whole = await hold(proposal, instances)
    store = await first_events_of(whole, debate, len(whole.read(debate)) - 3)

    class Late(MemoryStore):
        """Another process writes between the first look at the texts and the reading of the events."""

        looks = 0

        def texts(self, debate):
            self.looks += 1
            return {} if self.looks == 1 else super().texts(debate)

    late = Late()
    late._events, late._texts = store._events, store._texts
    assert (await go_on(debate, proposal, instances, late)).status is history.status
    assert late.looks > 1


async def test_a_record_that_lost_a_text_is_refused_when_it_is_resumed():
    proposal = proposal_of("freeform")
    debate, _, whole = await hold(proposal, instances)
    store = await first_events_of(whole, debate, len(whole.read(debate)) - 3)
    name = next(iter(store._texts[debate]))
    del store._texts[debate][name]
    with pytest.raises(VerificationError, match=f"names a text that is missing \\({name[:12]}\\)"):
        await go_on(debate, proposal, instances, store)
