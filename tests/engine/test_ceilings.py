"""A ceiling is never passed: not by retries, not across a stop and a resumption."""

from __future__ import annotations

import random
from decimal import Decimal

import pytest
from rooms import Carrier, first_events_of, go_on, hold, proposal_of

from disputatio.errors import InvalidInputError
from disputatio.ledger.budget import Budget
from disputatio.ledger.ledger import Reservation
from disputatio.participants.call import Fault, FaultKind, Reply, Usage
from disputatio.testing.scripted import InstanceClient
from strategies import FULL

PRICE = ("seats.all.price=1.5/6",)


def spent_usd(history):
    return sum((Decimal(row.cost_usd) for row in history.made.values()), Decimal(0)) + sum(
        (Decimal(row.reserved["usd"]) for row in history.calls if row.call not in history.made), Decimal(0)
    )


def spent_tokens(history):
    return sum(row.charged_tokens for row in history.made.values())


def unsteady(seed, share=0.3):
    """Answers by instance, with faults of every billing kind in between."""
    drawn = random.Random(seed)
    model_client = InstanceClient()

    async def answer(call):
        if drawn.random() < share:
            kind = drawn.choice(
                [FaultKind.RATE_LIMITED, FaultKind.TIMED_OUT, FaultKind.CUT_OFF, FaultKind.SERVER_ERROR]
            )
            usage = drawn.choice([None, Usage(drawn.randrange(50, 400), drawn.randrange(100), 0)])
            return Fault(kind, "failed", usage=usage)
        if drawn.random() < share / 2:
            reply = await model_client.call(call)
            return Reply("no json", reply.served_model, reply.usage)
        return await model_client.call(call)

    return lambda *_: Carrier(answer)


@pytest.mark.slow
@pytest.mark.parametrize("block", range(10 if FULL else 2))
async def test_spending_never_passes_any_of_hundreds_of_ceilings(block):
    """Spending never passes any of hundreds of ceilings also across resumptions."""
    for number in range(50):
        drawn = random.Random(1000 * block + number)
        kind = drawn.choice(["usd", "tokens", "calls"])
        ceiling = {
            "usd": {"budget_usd": f"{drawn.uniform(0.0005, 0.25):.5f}"},
            "tokens": {"budget_tokens": drawn.randrange(500, 80_000)},
            "calls": {"max_calls": drawn.randrange(1, 30)},
        }[kind]
        proposal = proposal_of(set=PRICE, **ceiling)
        debate, history, store = await hold(proposal, unsteady(number))
        for step in range(3):
            budget = history.resumed[-1].budget if history.resumed else history.opened.budget
            if budget["usd"] is not None:
                assert spent_usd(history) <= Decimal(budget["usd"])
            if budget["tokens"] is not None:
                assert spent_tokens(history) <= budget["tokens"]
            if budget["calls"] is not None:
                assert len(history.calls) <= budget["calls"]
            if history.status.value != "DEBATE_TRUNCATED":
                break
            assert history.budget_reached
            higher = {
                "usd": Budget(usd=Decimal(str(budget["usd"])) * 2 if budget["usd"] else None),
                "tokens": Budget(tokens=(budget["tokens"] or 0) * 2),
                "calls": Budget(calls=(budget["calls"] or 0) * 2),
            }[kind]
            history = await go_on(debate, proposal, unsteady(number + step + 77), store, budget=higher)


async def test_a_truncated_debate_carries_what_was_said():
    """A truncated debate carries what was said and goes on with more."""
    proposal = proposal_of(max_calls=4)
    debate, history, store = await hold(proposal, lambda *_: InstanceClient())
    assert history.status.value == "DEBATE_TRUNCATED"
    assert {"opening/pro", "opening/con", "cross-examination/pro", "cross-examination/con"} == set(history.answered)
    outcome = history.closed.outcome
    assert outcome["judged"] is False
    assert len(outcome["trace"]) >= 6
    assert all(row["weighted"] is None for row in outcome["trace"])
    assert {row["reason"] for row in history.closed.missing} == {"budget"}
    assert "4 of 4 calls" in history.closed.reason
    resumed = await go_on(debate, proposal, lambda *_: InstanceClient(), store, budget=Budget(calls=40))
    assert resumed.status.value == "COMPLETE"
    unlimited = proposal_of()
    _, whole, _ = await hold(unlimited, lambda *_: InstanceClient())
    assert resumed.closed.outcome == whole.closed.outcome


async def test_a_ceiling_smaller_than_one_call_makes_no_call():
    carrier = Carrier(lambda _: Fault(FaultKind.SERVER_ERROR, "never asked"))
    _, history, _ = await hold(proposal_of(set=PRICE, budget_usd="0.000001"), lambda *_: carrier)
    assert not carrier.calls
    assert history.status.value == "DEBATE_TRUNCATED"


async def test_a_money_ceiling_over_an_unknown_price_does_not_start():
    given = {"seat": ("all=openai_compatible:m",), "base_url": "http://localhost:9/v1", "budget_usd": "1"}
    with pytest.raises(InvalidInputError, match="no price is known for pro"):
        await hold(proposal_of(**given), lambda *_: InstanceClient())
    _, history, _ = await hold(proposal_of(**given, budget_tokens=10**6), lambda *_: InstanceClient())
    assert history.status.value == "COMPLETE"
    _, history, _ = await hold(proposal_of(**given, set=PRICE), lambda *_: InstanceClient())
    assert history.status.value == "COMPLETE"


async def test_a_call_is_charged_at_the_price_of_the_model():
    """A call is charged at the price of the model that served it."""
    model_client = InstanceClient()

    async def answer(call):
        reply = await model_client.call(call)
        return Reply(reply.text, "gpt-5-mini-2025-08-07", Usage(1_000_000, 0, 0))

    given = proposal_of(seat=("all=openai:gpt-5",), environ={"OPENAI_API_KEY": "not-a-key"})
    _, history, _ = await hold(given, lambda *_: Carrier(answer))
    costs = {row.cost_usd for row in history.made.values()}
    assert {Decimal(cost) for cost in costs} == {Decimal("0.25")}
    assert all("gpt-5-mini" in row.cost_basis for row in history.made.values())


async def test_an_unknown_served_model_leaves_the_reservation_spent():
    model_client = InstanceClient()

    async def answer(call):
        reply = await model_client.call(call)
        return Reply(reply.text, "somebody-elses-model", reply.usage)

    given = proposal_of(seat=("all=openai:gpt-5",), environ={"OPENAI_API_KEY": "not-a-key"}, budget_usd="9")
    _, history, _ = await hold(given, lambda *_: Carrier(answer))
    for sent in history.calls:
        made = history.made[sent.call]
        assert Decimal(made.cost_usd) == Decimal(sent.reserved["usd"])
        assert "reservation" in made.cost_basis


async def test_a_ceiling_is_not_reached_while_calls_in_flight_hold_it():
    """Two openings leave together; what the first holds is several times what it costs."""
    model_client, whole = InstanceClient(), proposal_of(budget_tokens=10**9)
    _, history, _ = await hold(whole, lambda *_: model_client)
    first = next(iter(history.calls))
    quote = Reservation.from_json(first.reserved).tokens
    _, cut, _ = await hold(proposal_of(budget_tokens=quote + quote // 2), lambda *_: InstanceClient())
    assert {"opening/pro", "opening/con"} <= set(cut.answered), "the second opening waits for the first"


@pytest.mark.parametrize("kind", ["budget_usd", "budget_tokens"])
async def test_a_ceiling_is_reached_by_what_is_spent_alone(kind):
    for ceiling in (3_000, 6_000, 9_000, 14_000, 20_000):
        given = {"budget_usd": f"{ceiling / 250_000:.4f}"} if kind == "budget_usd" else {"budget_tokens": ceiling}
        _, history, _ = await hold(proposal_of(set=PRICE, **given), lambda *_: InstanceClient())
        assert spent_tokens(history) <= ceiling or kind == "budget_usd"
        for row in history.budget_reached:
            spent = Decimal(row.spent.replace(",", ""))
            settled = spent_usd(history) if kind == "budget_usd" else Decimal(spent_tokens(history))
            assert spent <= settled + Decimal("0.0001"), "nothing was held when the ceiling counted as reached"


async def test_an_endless_answer_is_charged_in_full():
    """What it cost is unknown, so the whole reservation stays spent; then the seat's second model speaks."""
    model_client, long = InstanceClient(), Fault(FaultKind.ANSWER_TOO_LONG, "It passed 9 bytes.", text="It goes on and")

    def client_factory(seating, _key):
        return Carrier(lambda _: long) if seating.model == "endless" else model_client

    given = proposal_of(
        seat=("all=ollama:fake", "judge=ollama:endless"), set=(*PRICE, "seats.judge.fallback=ollama:second")
    )
    debate, history, store = await hold(given, client_factory)
    endless = [sent for sent in history.calls if sent.model == "ollama:endless"]
    assert len(endless) == 2
    for sent in endless:
        made = history.made[sent.call]
        assert (made.fault, made.message, made.text) == ("answer_too_long", long.message, long.text)
        assert made.cost_usd == sent.reserved["usd"]
        assert made.charged_tokens == sent.reserved["input_tokens"] + sent.reserved["output_tokens"]
    assert history.status.value == "COMPLETE"
    assert history.answered["judging/judge"].served_models != ()
    cut = await first_events_of(store, debate, len(store.read(debate)) - 3)
    resumed = await go_on(debate, given, client_factory, cut)
    assert resumed.closed.outcome == history.closed.outcome
    assert len([sent for sent in resumed.calls if sent.model == "ollama:endless"]) == 2
