"""Debates between models that reason: whole, with hardly a call that is cut, and no reasoning in anybody's sight."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Sequence
from decimal import Decimal
from typing import Any

import pytest
from rooms import PatientClock, first_events_of, history_of, proposal_of

from disputatio.engine.opening import Proposal
from disputatio.engine.ports import NullObserver
from disputatio.engine.preview import describe_assumptions, preview, preview_range
from disputatio.engine.runtime import Resumption, Runtime, resume, start
from disputatio.engine.seat_assignments import PROCESS_ALLOWANCES
from disputatio.errors import InvalidInputError, ProviderError
from disputatio.ledger.prices import known_window
from disputatio.metrics.calibration import FEWEST, calibrate
from disputatio.participants.model_seat import ModelSeating
from disputatio.participants.reasoning import ALLOWANCES, LARGEST, Allowances
from disputatio.record.history import History, semantic_content
from disputatio.record.memory import MemoryStore
from disputatio.record.store import Store
from disputatio.record.verified import read_verified
from disputatio.testing import FakeProvider, Reasoning, ReasoningText, reasoning_provider
from disputatio.testing.provider import THOUGHT, Mishap, Mishaps
from strategies import FULL

SEATED: dict[str, dict[str, Any]] = {"panel": {"debaters": "ann,bob,cat"}}
MEDIANS = (0, 800, 2_000, 5_000, 12_000)


def proposed(
    provider: FakeProvider, format_name: str = "structured", model: str = "openai:gpt-5", **more: Any
) -> Proposal:
    return proposal_of(
        format_name,
        seat=(f"all={model}",),
        base_url=provider.base_url,
        environ={"OPENAI_API_KEY": "k"},
        **{**SEATED.get(format_name, {}), **more},
    )


def runtime(store: Store, allowances: Allowances | None = None, **more: Any) -> Runtime:
    """Everything is new in it, as in another process."""
    known = allowances or Allowances(known_window)
    return Runtime(store, checks_first=False, clock=PatientClock(), allowances=known, **more)


async def held(proposal: Proposal, allowances: Allowances | None = None, store: Store | None = None) -> History:
    store = store or MemoryStore()
    debate = await start(proposal, runtime(store, allowances))
    read_verified(store, debate)
    return history_of(store, debate)


def cut_by_seat(history: History) -> Counter[str]:
    cut = [row for row in history.made.values() if row.fault == "cut_while_reasoning"]
    return Counter(history.asked[row.path].seat for row in cut)


def counts(history: History, name: str) -> list[int]:
    usages: list[Any] = [row.usage for row in history.made.values()]
    return [row[name] for row in usages]


@pytest.mark.parametrize("model", ["openai:gpt-5", "openai_compatible:mystery"])
@pytest.mark.parametrize("median", MEDIANS)
async def test_a_debate_is_whole_and_a_seat_has_one_call_cut_at_most(median: int, model: str) -> None:
    """One model is known to reason; of the other it has to be found out."""
    refuses = ("max_tokens", "temperature") if model == "openai:gpt-5" else ()
    async with reasoning_provider(median, refuses=refuses) as provider:
        history = await held(proposed(provider, model=model))
    assert history.status.value == "COMPLETE"
    assert max(cut_by_seat(history).values(), default=0) <= 1
    assert {row.fault for row in history.made.values()} <= {"", "cut_while_reasoning"}
    if median >= 5_000 and model == "openai_compatible:mystery":
        assert cut_by_seat(history)


@pytest.mark.parametrize(
    "more",
    [("seats.con.reasoning_effort=900000",), ("seats.con.reasoning_effort=300000", "seats.con.max_tokens=150000")],
)
async def test_room_beyond_the_window_is_refused_before_the_start(more: tuple[str, ...]) -> None:
    async with reasoning_provider(0) as provider:
        store = MemoryStore()
        with pytest.raises(InvalidInputError, match=r"The seat con has reasoning_effort .00,000") as refused:
            await start(proposed(provider, set=more), runtime(store))
        assert not provider.requests
    assert "the context window of openai:gpt-5" in refused.value.cause
    assert "400,000 tokens" in refused.value.cause
    assert "none, minimal, low, medium, high" in refused.value.next_step


async def test_an_endpoint_that_refuses_everything_is_asked_once() -> None:
    """Each seat that speaks first is refused once; nothing is spent, and the end says why and what to do."""
    async with FakeProvider(mishaps=Mishaps().always(Mishap.HTTP_400)) as provider:
        history = await held(proposed(provider, model="openai_compatible:m"))
        assert len(provider.requests) == 2
    assert history.status.value == "FAILED"
    assert {row.fault for row in history.made.values()} == {"bad_request"}
    assert {row.cost_usd for row in history.made.values()} == {"0"}


async def test_refused_parameters_cost_nothing_and_are_learned_once() -> None:
    """A proxy of any name before gpt-5: the record has the attempts that were refused, and the debate is whole."""
    async with reasoning_provider(800) as provider:
        first = await held(proposed(provider, model="openai_compatible:mystery"))
        again = await held(proposed(provider, model="openai_compatible:mystery"))
    refused = [row for row in first.made.values() if row.fault]
    assert {row.fault for row in refused} == {"parameter_refused"}
    assert {(row.cost_usd, row.charged_tokens) for row in refused} == {("0", 0)}
    said = " ".join(row.message for row in refused)
    assert "does not take max_tokens (status 400)" in said
    assert "does not take temperature (status 400)" in said
    assert [row.fault for row in again.made.values() if row.fault] == []
    assert first.status.value == again.status.value == "COMPLETE"


FORMATS_TRIED = ("structured", "freeform", "review", "panel", "competition", "market")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("format_name", "median"),
    [(name, median) for name in FORMATS_TRIED for median in MEDIANS if FULL or name == "structured" or median == 5_000],
)
async def test_tokens_and_cost_lie_in_the_range_of_the_dry_run(format_name: str, median: int) -> None:
    async with reasoning_provider(median) as provider:
        proposal = proposed(provider, format_name)
        seen = await preview(proposal)
        least, most = await preview_range(proposal, seen)
        history = await held(proposal)
    assert history.status.value == "COMPLETE"
    assert max(cut_by_seat(history).values(), default=0) <= 1
    taken = sum(counts(history, "input_tokens")) + sum(counts(history, "output_tokens"))
    cost = sum(Decimal(str(row.cost_usd)) for row in history.made.values())
    assert least.usd is not None
    assert most.usd is not None
    assert least.tokens <= taken <= most.tokens
    assert least.usd <= cost <= most.usd


async def test_an_estimate_counts_reasoning() -> None:
    """An estimate counts reasoning and learns from what was seen."""
    model = "openai:gpt-5-told"
    async with reasoning_provider(3_000) as provider:
        proposal = proposed(provider, "freeform", model)
        first, words = await preview(proposal), describe_assumptions(proposal)
        assert first.reasoning_tokens == 2_000 * first.calls < first.output_tokens
        assert "gpt-5-told reasons 2,000 tokens a call, at most 30,000: a guess" in words
        history = await held(proposal, PROCESS_ALLOWANCES)
        reasoned = counts(history, "reasoning_tokens")
        mean = sum(reasoned) // len(reasoned)
        again, words = await preview(proposal), describe_assumptions(proposal)
        least, most = await preview_range(proposal, again)
    assert history.opened is not None
    assert history.opened.estimate["reasoning_tokens"] == first.reasoning_tokens
    assert again.reasoning_tokens == mean * again.calls
    assert f"gpt-5-told reasons {mean:,} tokens a call, the mean of {len(reasoned)} calls" in words
    assert least.reasoning_tokens < again.reasoning_tokens < most.reasoning_tokens


async def test_a_correction_by_the_store_counts_reasoning_once() -> None:
    """Estimated without the reasoning that came, and then with it: the factor is that of the answers alone."""
    store, allowances = MemoryStore(), Allowances(known_window)
    async with reasoning_provider(6_000) as provider:
        for number in range(FEWEST):
            await held(proposed(provider, "freeform", "openai:gpt-5-seen", set=(f"seed={number}",)), allowances, store)
    known = calibrate(store, "freeform", {"openai:gpt-5-seen"}, sourced=False)
    assert known is not None
    assert 0.5 < known.factor < 2
    assert known.tokens(30_000, 20_000) == 20_000 + round(10_000 * known.factor)


async def test_what_was_reasoned_is_in_the_record() -> None:
    """What was reasoned is in the record and the reservation covers the limit."""
    async with reasoning_provider(2_000) as provider:
        history = await held(proposed(provider))
        sent = {row.body["max_completion_tokens"] for row in provider.requests}
    assert min(counts(history, "reasoning_tokens")) > 300
    for row in history.calls:
        assert row.max_tokens in sent
        assert row.reserved["output_tokens"] == row.max_tokens
        assert row.reasoning_allowance >= ALLOWANCES["medium"]
        usage: Any = history.made[row.call].usage
        assert usage["reasoning_tokens"] < usage["output_tokens"] <= row.max_tokens


async def test_a_call_that_was_cut_says_so_and_teaches_the_process() -> None:
    allowances = Allowances(known_window)
    async with reasoning_provider(5_000, refuses=(), spread=0) as provider:
        first = await held(proposed(provider, model="openai_compatible:mystery"), allowances)
        again = await held(proposed(provider, model="openai_compatible:mystery"), allowances)
    assert first.calls[0].reasoning_allowance == 0
    told = [row for row in first.made.values() if row.fault]
    assert {row.fault for row in told} == {"cut_while_reasoning"}
    for row in told:
        assert "of its limit for reasoning and gave no whole answer" in row.message
        assert "reasoning_effort" in row.message
        assert row.usage["reasoning_tokens"] == row.usage["output_tokens"]
    assert not cut_by_seat(again)
    assert again.calls[0].reasoning_allowance == LARGEST


async def test_a_turn_that_broke_a_rule_is_asked_for_again() -> None:
    # A limit of ten words is broken by every speech, so that each of them is asked for twice.
    """A turn that broke a rule is asked for again with the room that was learned."""
    settings = ("rounds=1", "rules.speech_words=10")
    async with reasoning_provider(6_000, refuses=(), spread=0) as provider:
        history = await held(proposed(provider, "freeform", "openai_compatible:mystery", set=settings))
    by_path: dict[str, list[Any]] = {}
    for row in history.calls:
        by_path.setdefault(row.path, []).append((history.made[row.call].fault, row.reasoning_allowance))
    assert any(history.rejected.values())
    first, *others = by_path.values()
    assert first[0] == ("cut_while_reasoning", 0)
    assert [row for row in first[1:] if row[1] < LARGEST] == []
    assert all(fault == "" for rows in others for fault, _ in rows)


async def test_a_resumed_debate_goes_on_with_the_room() -> None:
    """A resumed debate goes on with the room that its record tells of."""
    async with reasoning_provider(5_000, refuses=(), spread=0) as provider:
        proposal = proposed(provider, model="openai_compatible:mystery")
        store = MemoryStore()
        debate = await start(proposal, runtime(store))
        whole = list(store.read(debate))
        place = next(row.seq for row in whole if row.kind == "TurnTaken")
        part = await first_events_of(store, debate, place)
        await resume(debate, Resumption(proposal.settings), runtime(part))
        resumed = history_of(part, debate)
    later = [row for row in resumed.calls if row.call not in {each.call for each in history_until(whole, place).calls}]
    assert later
    # A long finding of the judge takes some of the largest limit.
    assert all(row.reasoning_allowance > LARGEST * 3 // 4 for row in later)
    assert resumed.status.value == "COMPLETE"
    assert semantic_content(row.event() for row in part.read(debate)) == semantic_content(
        row.event() for row in store.read(debate)
    )


def history_until(rows: Sequence[Any], place: int) -> History:
    return History.of(row.event() for row in rows[:place])


async def test_a_new_process_learns_from_the_store() -> None:
    store = MemoryStore()
    async with reasoning_provider(3_000, refuses=(), spread=0) as provider:
        await held(proposed(provider, model="openai_compatible:mystery"), store=store)
        known = Allowances(known_window)
        history = await held(proposed(provider, model="openai_compatible:mystery"), known, store)
    assert not cut_by_seat(history)
    assert history.calls[0].reasoning_allowance == 9_000


async def test_the_store_is_read_once_for_a_model() -> None:
    class Counting(MemoryStore):
        listed = 0

        def debates(self) -> Any:
            self.listed += 1
            return super().debates()

    store, known = Counting(), Allowances(known_window)
    async with reasoning_provider(0, refuses=()) as provider:
        for _ in range(2):
            await held(proposed(provider, "freeform", "openai_compatible:m", set=("rounds=1",)), known, store)
    assert store.listed == 1


async def test_a_ceiling_holds_and_room_to_reason_gives_way_to_it() -> None:
    """The largest allowance alone would pass it; what is reserved is never more than what is left."""
    async with reasoning_provider(2_000, refuses=()) as provider:
        proposal = proposed(provider, "freeform", "openai_compatible:mystery", budget_tokens=60_000, set=("rounds=1",))
        history = await held(proposal)
    assert history.status.value == "COMPLETE"
    assert cut_by_seat(history)
    spent = 0
    for row in history.calls:
        reserved: Any = row.reserved
        assert spent + reserved["input_tokens"] + reserved["output_tokens"] <= 60_000
        spent += history.made[row.call].charged_tokens
    assert any(0 < row.reasoning_allowance < LARGEST for row in history.calls)


async def test_a_server_with_a_small_window_is_asked_for_what_it_takes() -> None:
    async with reasoning_provider(5_000, spread=0, refuses=(), max_context=16_384) as provider:
        history = await held(proposed(provider, "freeform", "openai_compatible:mystery", set=("rounds=1",)))
        tried = [row.max_tokens for row in provider.requests]
    assert history.status.value == "COMPLETE"
    faults = Counter(row.fault for row in history.made.values())
    assert faults["limit_too_large"] == 1
    assert "context_too_long" not in faults
    assert max(row or 0 for row in tried[2:]) < 16_384 < (tried[1] or 0)


async def test_an_effort_that_the_model_does_not_know_stops_the_debate() -> None:
    """An effort that the model does not know stops the debate before a call."""
    async with reasoning_provider(800, models=("gpt-5",)) as provider:
        proposal = proposed(provider, set=("seats.judge.reasoning_effort=none",))
        with pytest.raises(ProviderError, match=r"The seat judge cannot be used: .* does not know the reason"):
            await start(proposal, Runtime(MemoryStore(), clock=PatientClock()))
        assert provider.requests == []


async def test_efforts_reach_the_server_and_their_allowances_the_limit() -> None:
    async with reasoning_provider(400) as provider:
        efforts = ("seats.all.reasoning_effort=low", "seats.judge.reasoning_effort=20000")
        history = await held(proposed(provider, "freeform", set=("rounds=1", *efforts)))
        sent = [row.body.get("reasoning_effort") for row in provider.requests]
    expected = {"pro": ("low", ALLOWANCES["low"]), "con": ("low", ALLOWANCES["low"]), "judge": (None, 20_000)}
    found = [(row.seat, (effort, row.reasoning_allowance)) for row, effort in zip(history.calls, sent, strict=True)]
    assert all(row == expected[seat] for seat, row in found)
    assert {seat for seat, _ in found} == set(expected)
    assert history.opened is not None
    seats: Any = history.opened.seats
    assert (seats["pro"]["reasoning_effort"], seats["judge"]["reasoning_effort"]) == ("low", 20_000)


@pytest.mark.parametrize("way", ["direct", "library", "streamed"])
@pytest.mark.parametrize("text", list(ReasoningText))
async def test_reasoning_is_shown_to_no_other_seat(
    text: ReasoningText, way: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    heard: list[str] = []

    class Listening(NullObserver):
        def on_text(self, path: str, part: str, text: str) -> None:
            heard.append(text)

    monkeypatch.setenv("DISPUTATIO_CALLS", "library" if way == "library" else "direct")
    store = MemoryStore()
    async with FakeProvider(reasoning=Reasoning(median=300, text=text, reports=False)) as provider:
        debate = await start(
            proposed(provider, model="openai_compatible:mystery"),
            runtime(store, observer=Listening(), streams=way == "streamed"),
        )
        shown = [row.prompt for row in provider.requests]
    history = history_of(store, debate)
    assert history.status.value == "COMPLETE"
    assert not any(THOUGHT in row for row in shown)
    assert not any(THOUGHT in str(row) for row in history.answered.values())
    assert not any(THOUGHT in row.text for row in history.made.values() if not row.fault)
    assert bool(heard) == (way == "streamed")
    if text is not ReasoningText.CLOSING_TAG:
        assert THOUGHT not in "".join(heard)


async def test_seats_that_speak_at_once_share_what_one_of_them_learned() -> None:
    async with reasoning_provider(4_000, refuses=()) as provider:
        proposal = proposed(provider, "panel", "openai_compatible:mystery")
        allowances = Allowances(known_window)
        first, second = await asyncio.gather(held(proposal, allowances), held(proposal, allowances))
    assert {first.status.value, second.status.value} == {"COMPLETE"}
    assert max((cut_by_seat(first) + cut_by_seat(second)).values()) <= 2
    own = proposal.settings.seats["ann"]
    assert isinstance(own, ModelSeating)
    assert allowances.of(own, 1_000) == LARGEST


@pytest.mark.slow
@pytest.mark.parametrize("format_name", ["structured", "freeform", "panel", "review", "market", "competition"])
@pytest.mark.parametrize("median", MEDIANS)
async def test_every_format_is_whole_with_every_model(format_name: str, median: int) -> None:
    for model, refuses in (("openai:gpt-5", ("max_tokens", "temperature")), ("openai_compatible:mystery", ())):
        for seed in range(3 if FULL else 1):
            async with reasoning_provider(median, seed=seed, refuses=refuses) as provider:
                history = await held(proposed(provider, format_name, model))
            assert history.status.value == "COMPLETE"
            assert max(cut_by_seat(history).values(), default=0) <= 1
            assert all(Decimal(row.cost_usd or 0) >= 0 for row in history.made.values())
