"""A model is asked in the mode that costs less; the dry run says so, and the record and its resuming keep it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from rooms import Carrier, first_events_of, go_on, hold, proposal_of

from disputatio.engine.estimate import make_estimate
from disputatio.engine.output_modes import with_cheaper_modes
from disputatio.engine.preview import preview
from disputatio.participants.call import Call, OutputMode, Reply, Usage
from disputatio.participants.model_seat import ModelSeating
from disputatio.participants.remote.prompt import Breakpoints, messages_of
from disputatio.prompts.definitions import with_definitions, without_definitions
from disputatio.record.text import canonical
from disputatio.testing.instances import instance

KEYS = dict.fromkeys(("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "DEEPSEEK_API_KEY", "GEMINI_API_KEY"), "unused")
ALL = (OutputMode.NATIVE, OutputMode.TOOL, OutputMode.PROMPTED)


def proposed(model: str, format_name: str = "structured", **given: Any) -> Any:
    return proposal_of(format_name, seat=(f"all={model}",), environ=KEYS, **given)


def answers(modes: tuple[OutputMode, ...] = ALL) -> Carrier:
    def answer(call: Call) -> Reply:
        return Reply(canonical(instance(call.schema or {}, call.schema_name)), None, Usage(1, 1, 0))

    return Carrier(answer, modes)


@pytest.mark.parametrize("model", ["openai:gpt-6.1-terra", "anthropic:claude-sonnet-5-5", "deepseek:deepseek-flash"])
@pytest.mark.parametrize("format_name", ["structured", "review"])
async def test_a_schema_goes_behind_the_history_where_that_costs_less(model: str, format_name: str) -> None:
    proposal = proposed(model, format_name)
    changed, (choice,) = await with_cheaper_modes(proposal)
    assert {row.mode for row in changed.settings.seats.values()} == {OutputMode.PROMPTED}
    assert choice.usd < choice.native_usd
    found = await make_estimate(proposal)
    assert found.modes == (choice.sentence,)
    assert found.as_json()["modes"] == [choice.sentence]
    assert found.expected == await preview(changed)
    assert "prompted mode" in choice.sentence


async def test_where_forms_repeat_the_native_mode_stays() -> None:
    """Every round of a free-form debate has the same form, and its schema is small."""
    changed, chosen = await with_cheaper_modes(proposed("openai:gpt-6.1-terra", "freeform"))
    assert chosen == ()
    assert {row.mode for row in changed.settings.seats.values()} == {None}


@pytest.mark.parametrize(
    "changes",
    [
        {"mode": OutputMode.NATIVE},
        {"base_url": "https://example.org/v1"},
        {"piecewise": True},
        {"provider": "google", "model": "gemini-3.8-flash"},
        {"provider": "ollama", "model": "fake"},
        {"model": "of-which-no-table-knows-a-price"},
    ],
)
async def test_nothing_is_chosen_where_it_was_set_or_is_not_known(changes: dict[str, Any]) -> None:
    proposal = proposed("openai:gpt-6.1-terra")
    seats = {seat: replace(row, **changes) for seat, row in proposal.settings.seats.items()}
    proposal = replace(proposal, settings=replace(proposal.settings, seats=seats))
    assert await with_cheaper_modes(proposal) == (proposal, ())


async def test_the_record_keeps_the_mode_and_a_resumed_debate_goes() -> None:
    """The record keeps the mode and a resumed debate goes on in it."""
    proposal, carrier = proposed("openai:gpt-6.1-terra"), answers()
    debate, whole, store = await hold(proposal, lambda *_: carrier)
    assert whole.opened is not None
    assert {row["mode"] for row in whole.opened.seats.values()} == {"prompted"}  # type: ignore[index,call-overload]
    assert {call.mode for call in carrier.calls} == {OutputMode.PROMPTED}
    cut = await first_events_of(store, debate, 14)
    later = answers()
    resumed = await go_on(debate, proposal, lambda *_: later, cut)
    assert later.calls
    assert {call.mode for call in later.calls} == {OutputMode.PROMPTED}
    assert resumed.closed is not None
    assert whole.closed is not None
    assert resumed.closed.outcome == whole.closed.outcome


async def test_a_debate_that_began_without_a_choice_is_resumed() -> None:
    """A debate that began without a choice is resumed without one."""
    proposal = proposed("openai:gpt-6.1-terra")
    usual = proposal_of("structured")
    debate, _, store = await hold(usual, lambda *_: answers())
    cut, later = await first_events_of(store, debate, 14), answers()
    await go_on(debate, proposal, lambda *_: later, cut)
    assert {call.mode for call in later.calls} == {OutputMode.NATIVE}


async def test_a_prompt_tells_its_schema_once_behind_the_task() -> None:
    """A prompt tells its schema once behind the task and marks come before."""
    carrier = answers()
    await hold(proposed("openai:gpt-6.1-terra"), lambda *_: carrier)
    marks = Breakpoints()
    for call in carrier.calls:
        text = "\n".join(said for _, said in messages_of(call))
        assert call.schema is not None
        assert text.count("JSON Schema:\n") == 1
        told = canonical(with_definitions(call.schema))
        assert text.endswith(told)
        assert without_definitions(with_definitions(call.schema)) == call.schema
        assert call.segments[-1].text.endswith(told)
        assert all(place < len(call.segments) for place in marks.of(call))
    # The judge reads from the cache what was written before the task of the closings.
    judging, closing = carrier.calls[-1], carrier.calls[-2]
    assert judging.segments[: len(closing.segments) - 1] == closing.segments[:-1]
    assert len(closing.segments) - 1 in marks.of(judging)


async def test_a_seat_that_chose_for_itself() -> None:
    """A seat that chose for itself is left alone beside others."""
    proposal = proposed("openai:gpt-6.1-terra")
    own = ModelSeating(provider="openai", model="gpt-6.1-terra", mode=OutputMode.TOOL)
    seats = {**proposal.settings.seats, "judge": own}
    changed, (choice,) = await with_cheaper_modes(replace(proposal, settings=replace(proposal.settings, seats=seats)))
    assert "judge" not in choice.seats
    assert changed.settings.seats["judge"] == own
