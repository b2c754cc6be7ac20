"""Whole reviews: the tests of the published pattern, ceilings, resuming, evidence by round, and the round record."""

from __future__ import annotations

import asyncio
import random
from dataclasses import replace
from decimal import Decimal
from functools import cache
from typing import Any
from uuid import UUID

import pytest
from rooms import first_events_of, go_on, history_of, hold, proposal_of
from test_ceilings import PRICE, spent_tokens, spent_usd, unsteady

from disputatio.api import read_debate
from disputatio.engine.opening import Proposal
from disputatio.engine.preview import preview
from disputatio.errors import InvalidInputError, StoreError
from disputatio.evidence.sources import Source
from disputatio.ledger.budget import Budget
from disputatio.participants.call import Fault, FaultKind
from disputatio.record.history import semantic_content
from disputatio.record.memory import MemoryStore
from disputatio.record.store import EventBatch
from disputatio.report.headings import heading
from disputatio.report.json_export import export_schema
from disputatio.report.reading import DebateReport
from disputatio.report.review import debate_uuid
from disputatio.testing import InstanceClient, ScriptedClient
from review_turns import criticism, moderation, resting, speaking

pytestmark = pytest.mark.slow

CLAUSE = Source("clause", "clause.txt", "The supplier is liable without limit for delays that it could have avoided.")
AUDIT = Source("audit", "audit.txt", "In the audit of 2021 the supplier was late in 14 of 52 deliveries.")


def on(sources: tuple[Source, ...], introduced: dict[str, int] | None = None, **given: Any) -> Proposal:
    plain = proposal_of("review", **given)
    return Proposal(plain.motion, plain.format, plain.settings, sources, introduced=introduced or {})


def always_again(ask: Any) -> Any:
    return moderation(ask, again=True, **{f"CRIT-{number}": "unresolved" for number in (1, 201, 301)})


def last_words(ask: Any) -> Any:
    return {**moderation(ask, again=True, **{"CRIT-1": "unresolved"}), "synthesis": "The first round says: change it."}


# --- the tests that the published pattern names ---------------------------------------------------------------------


async def test_a_critic_that_returns_4_is_asked_again():
    """A critic that returns 4 is asked again with a stronger instruction."""
    client_factory = speaking(criticism=[lambda ask: criticism(ask, 4), lambda ask: criticism(ask, 9)])
    _, history, _ = await hold(proposal_of("review"), client_factory)
    assert [path for path in history.answered if path.startswith("critique")] == [
        "critique/critic",
        "critique/critic#2",
    ]
    told = [call.segments[-1].text for call in client_factory().calls if call.schema_name == "criticism"]
    assert "too weak" not in told[0]
    assert "its strength was 4 of 10" in told[1]
    assert "dangerously wrong" in told[1]
    assert history.closed.outcome["challenge_strength"] == 9


async def test_at_the_cost_ceiling_the_debate_ends_truncated():
    """At the cost ceiling the debate ends truncated with the moderation so far."""
    client_factory = speaking(moderation=[last_words, always_again])
    given = {"rounds": "3", "set": PRICE}
    _, whole, _ = await hold(proposal_of("review", **given), speaking(moderation=[last_words, always_again]))
    one_round = sum(Decimal(row.cost_usd) for row in list(whole.made.values())[:7])
    proposal = proposal_of("review", **given, budget_usd=str(one_round + Decimal("0.02")))
    _, history, _ = await hold(proposal, client_factory)
    assert history.status.value == "DEBATE_TRUNCATED"
    assert spent_usd(history) <= Decimal(proposal.settings.budget.usd)
    outcome = history.closed.outcome
    assert outcome["stopped_by"] == "ceiling"
    assert outcome["synthesis"] == "The first round says: change it."
    assert outcome["moderated_round"] == 1
    assert outcome["rounds_run"] == 2


async def test_rounds_stop_at_the_maximum():
    """A moderator that always recommends another round gets the maximum."""
    _, history, _ = await hold(proposal_of("review", rounds="2"), speaking(moderation=always_again))
    assert history.closed.outcome["rounds_run"] == 2
    assert history.closed.outcome["stopped_by"] == "maximum_rounds"
    with pytest.raises(InvalidInputError, match="from 1 to 3"):
        proposal_of("review", rounds="4")


ROUND = ["debateId", "roundNumber", "question", "proposerPosition", "criticPosition", "rebuttalPosition"]
ROUND += ["moderatorEvaluation", "tokenCost"]
INSIDE = {
    "proposerPosition": ["thesis", "supporting_arguments", "evidence_cited"],
    "criticPosition": ["thesis", "counter_arguments", "evidence_cited", "challengeStrength"],
    "rebuttalPosition": ["thesis", "rebuttals", "concessions"],
    "moderatorEvaluation": [
        *("argumentQualityScore", "resolvedPoints", "unresolvedPoints", "recommendAnotherRound", "synthesis"),
        *("confidenceLevel", "explicitUncertainties"),
    ],
    "tokenCost": ["proposer", "critic", "rebuttal", "moderator"],
}


async def test_the_round_record_has_exactly_the_published_keys():
    debate, _, store = await hold(proposal_of("review", rounds="2"), speaking(moderation=[last_words, moderation]))
    exported: Any = read_debate(store, debate).as_json()
    assert [row["roundNumber"] for row in exported["rounds"]] == [1, 2]
    for row in exported["rounds"]:
        assert list(row) == ROUND
        assert row["debateId"] == str(UUID(row["debateId"], version=4)) == debate_uuid(debate)
        for name, keys in INSIDE.items():
            assert list(row[name]) == keys, name
        assert list(row["moderatorEvaluation"]["argumentQualityScore"]) == ["proposer", "critic", "rebuttal"]
        assert row["moderatorEvaluation"]["confidenceLevel"] in {"HIGH", "MODERATE", "LOW"}
        assert row["tokenCost"] == dict.fromkeys(INSIDE["tokenCost"], 200)
    import jsonschema_rs

    jsonschema_rs.validate(dict(export_schema()), exported)


async def test_a_citation_of_a_source_that_is_not_there_is_flagged():
    """A citation of a source that is not there is flagged in the moderator s evaluation."""

    def fabricating(ask: Any) -> Any:
        body = criticism(ask)
        body["arguments"][0] |= resting(ask, ("clause", "The supplier is never liable for anything."), "evidence")
        return body

    client_factory = speaking(criticism=fabricating)
    debate, history, store = await hold(on((CLAUSE, AUDIT)), client_factory)
    exported: Any = read_debate(store, debate).as_json()
    (record,) = exported["rounds"]
    assert any("CRITICAL: CRIT-1 was struck" in row for row in record["moderatorEvaluation"]["explicitUncertainties"])
    assert history.closed.outcome["critical"] is True
    assert any(row["rule"] == "unverified_citation" for row in history.answered["critique/critic"].violations)
    moderator = client_factory().calls[-1]
    said = "\n".join(segment.text for segment in moderator.segments)
    assert "CRIT-1: struck by the program" in said
    assert "Ground 1 fails" not in said
    assert "never liable" not in said


async def test_a_contract_clause_is_reviewed():
    """A contract clause is reviewed by all four roles within its ceiling."""
    given = {"preset": "contract", "set": PRICE}
    debate, history, store = await hold(on((CLAUSE, AUDIT), **given), speaking())
    assert history.status.value == "COMPLETE"
    assert history.opened.budget["usd"] == "0.50"
    assert history.opened.rules["brief"]["task_type"] == "contract"
    exported: Any = read_debate(store, debate).as_json()
    (record,) = exported["rounds"]
    for role in ("proposerPosition", "criticPosition", "rebuttalPosition", "moderatorEvaluation"):
        assert record[role], role
    assert record["moderatorEvaluation"]["confidenceLevel"] == "MODERATE"
    assert record["moderatorEvaluation"]["explicitUncertainties"]
    assert Decimal(0) < spent_usd(history) <= Decimal("0.50")


# --- ceilings, resuming, previews ------------------------------------------------------------------------------------


def within(history: Any) -> bool:
    """Whether everything spent and everything that may have been billed lies within the ceiling that was last set."""
    budget = history.resumed[-1].budget if history.resumed else history.opened.budget
    limits = (
        budget["usd"] is None or spent_usd(history) <= Decimal(budget["usd"]),
        budget["tokens"] is None or spent_tokens(history) + lost_tokens(history) <= budget["tokens"],
        budget["calls"] is None or len(history.calls) <= budget["calls"],
    )
    return all(limits)


def lost_tokens(history: Any) -> int:
    """What was reserved for calls that never came back."""
    lost = [row.reserved for row in history.calls if row.call not in history.made]
    return sum(row["input_tokens"] + row["output_tokens"] for row in lost)


def drawn_ceiling(drawn: random.Random) -> Budget:
    """A ceiling of one kind, from less than a call to more than a review of two rounds."""
    kind = drawn.choice(["usd", "tokens", "calls"])
    if kind == "usd":
        return Budget(usd=Decimal(f"{drawn.uniform(0.0005, 0.3):.5f}"))
    return Budget(tokens=drawn.randrange(500, 90_000)) if kind == "tokens" else Budget(calls=drawn.randrange(1, 20))


class DyingStore(MemoryStore):
    """Takes no more than ``last`` events, as if the machine had stopped there; all that came before is kept."""

    def __init__(self, last: int) -> None:
        super().__init__()
        self.left = last

    def append(self, writing: EventBatch) -> asyncio.Future[None]:
        self.left -= len(writing.events)
        if self.left >= 0:
            return super().append(writing)
        lost: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        lost.set_exception(StoreError("The machine stopped.", "Start it again."))
        return lost


@cache
def review_with_prices(rounds: int) -> Proposal:
    return proposal_of("review", set=PRICE, rounds=str(rounds))


def under(proposal: Proposal, ceiling: Budget) -> Proposal:
    return replace(proposal, settings=replace(proposal.settings, budget=ceiling))


@pytest.mark.parametrize("block", range(10))
async def test_spending_never_passes_any_of_500_ceilings(block):
    """Each review meets faults and rejected answers, dies after an event drawn at random, and goes on.

    When it died and when it is over, what its record tells of, with the reservations of lost calls, is within the
    ceiling.
    """
    seen = dict.fromkeys(("retried", "lost", "truncated", "died", "usd", "tokens", "calls"), 0)
    for number in range(50 * block, 50 * block + 50):
        drawn = random.Random(number)
        ceiling = drawn_ceiling(drawn)
        # Where the first call is refused the whole record is one writing of four events; the machine takes that.
        proposal, store = under(review_with_prices(drawn.randrange(1, 3)), ceiling), DyingStore(drawn.randrange(4, 50))
        try:
            await hold(proposal, unsteady(number), store)
        except StoreError:
            seen["died"] += 1
        (row,) = store.debates()
        history = history_of(store, row.id)
        assert within(history), number
        if history.closed is None:
            store.left = 10_000
            history = await go_on(row.id, proposal, unsteady(number + 10_000), store)
            assert within(history), number
        assert history.closed is not None
        seen["retried"] += any(made.fault for made in history.made.values())
        seen["lost"] += len(history.calls) > len(history.made)
        seen["truncated"] += history.status.value == "DEBATE_TRUNCATED"
        for reached in history.budget_reached:
            seen[reached.limit] += 1
    assert all(seen.values()), seen


async def test_a_truncated_review_that_is_given_more_spends_up():
    """A truncated review that is given more spends up to the new ceiling and no more."""
    for number in range(8):
        drawn = random.Random(number)
        debate, history, store = await hold(
            proposal := proposal_of("review", set=PRICE, rounds="2", budget_tokens=drawn.randrange(2_000, 12_000)),
            unsteady(number),
        )
        for step in range(3):
            if history.status.value != "DEBATE_TRUNCATED":
                break
            budget = history.resumed[-1].budget if history.resumed else history.opened.budget
            more = Budget(tokens=int(budget["tokens"]) * 2)
            history = await go_on(debate, proposal, unsteady(number + step + 77), store, budget=more)
            assert history.resumed[-1].budget["tokens"] == more.tokens
            assert within(history)


async def test_a_review_goes_on_from_any_event_to_the_same_end():
    proposal = on((CLAUSE, AUDIT), {"audit": 2}, rounds="2")
    debate, whole, store = await hold(proposal, lambda *_: InstanceClient())
    meaning = semantic_content(row.event() for row in store.read(debate))
    for kept in range(1, len(store.read(debate)), 7):
        cut = await first_events_of(store, debate, kept)
        resumed = await go_on(debate, on(()), lambda *_: InstanceClient(), cut)
        assert resumed.status is whole.status
        assert semantic_content(row.event() for row in cut.read(debate)) == meaning, kept


async def test_evidence_by_round_is_in_the_record_and_in_no_prompt():
    """Evidence by round is in the record and in no prompt before its round."""
    client_factory = speaking(moderation=[last_words, moderation])
    _, history, _ = await hold(on((CLAUSE, AUDIT), {"audit": 2}, rounds="2"), client_factory)
    assert [row.get("round") for row in history.opened.evidence] == [None, 2]
    first = next(call for call in client_factory().calls if call.schema_name == "moderation")
    last = [call for call in client_factory().calls if call.schema_name == "moderation"][-1]
    assert "14 of 52" not in str(first.segments)
    assert "14 of 52" in str(last.segments)
    with pytest.raises(InvalidInputError, match="1 round at most"):
        await hold(on((CLAUSE, AUDIT), {"audit": 2}), client_factory)


@pytest.mark.parametrize("rounds", ["1", "3"])
async def test_small_models_review_piece_by_piece(rounds):
    """Small models review piece by piece and the preview counts their calls."""
    proposal = proposal_of("review", rounds=rounds, set=("seats.all.piecewise=true",))
    seen = await preview(proposal)
    _, history, _ = await hold(proposal, lambda *_: InstanceClient())
    assert history.status.value == "COMPLETE"
    by_round = [row for row in history.calls if row.path.startswith("moderation")]
    assert len(by_round) > 4, "an argument at a time, and the whole"
    assert seen.calls >= 20 * int(rounds)


async def test_a_moderator_of_the_family_of_the_others_is_warned_of():
    _, kin, _ = await hold(proposal_of("review"), speaking())
    assert any("moderator's model is of the same family" in row for row in kin.opened.warnings)
    given = {"seat": ("all=openai:gpt-5", "moderator=anthropic:claude-sonnet-4-5")}
    keys = {"OPENAI_API_KEY": "not-a-key", "ANTHROPIC_API_KEY": "not-a-key"}
    _, other, _ = await hold(proposal_of("review", **given, environ=keys), speaking())
    assert not any("moderator" in row for row in other.opened.warnings)


async def test_there_is_no_usual_ceiling_where_a_price_is_unknown():
    given = {"seat": ("all=openai_compatible:m",), "base_url": "http://localhost:9/v1"}
    _, history, _ = await hold(proposal_of("review", **given), speaking())
    assert history.opened.budget["usd"] is None
    assert history.status.value == "COMPLETE"


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"preset": "contracts-and-more"}, "no preset called"),
        ({"position": ("Only one position here",)}, "2 to 5 different sentences"),
        ({"position": ("Adopt it now.", "Adopt it now.")}, "twice"),
        (
            {"position": ("Adopt it now.", "Defer it to spring."), "set": ("proposers=3",)},
            "2 positions and 3 proposers",
        ),
    ],
)
async def test_what_cannot_be_reviewed_is_refused(given, says):
    """What cannot be reviewed is refused before the first call."""
    with pytest.raises(InvalidInputError, match=says):
        await hold(proposal_of("review", **given), speaking())


async def test_what_only_a_review_has_is_refused_elsewhere():
    with pytest.raises(InvalidInputError, match="for review debates"):
        await hold(proposal_of("structured", preset="contract"), lambda *_: InstanceClient())


async def test_a_prompt_larger_than_the_window_is_an_abstention():
    """A prompt larger than the window is an abstention whose next step is another model or less evidence."""
    fault = Fault(FaultKind.CONTEXT_TOO_LONG, "the model takes 3000 tokens", usage=None)
    debate, history, store = await hold(on((CLAUSE,)), lambda *_: ScriptedClient(lambda _: fault))
    assert {row["reason"] for row in history.closed.missing} == {"context_too_long"}
    assert len(history.calls) == 2, "the same prompt is not sent again"
    step = heading(DebateReport.of(debate, store.read(debate), store.texts(debate))).next_step
    assert "--seat framer=PROVIDER:MODEL" in step
    assert "limits.evidence_chars" in step
