"""Costs, tokens and time: what nobody reported is unknown and never zero."""

from dataclasses import replace
from decimal import Decimal

import pytest
from staged_debates import go_on, held, hold

from disputatio.ledger.budget import Budget
from disputatio.record.chain import seal
from disputatio.record.events import (
    FREE_OF_CHARGE,
    REPORTED_COST,
    CallLost,
    CallMade,
    CallSent,
    DebateInterrupted,
    DebateOpened,
)
from disputatio.report.amounts import dollars, duration, listed, spoken
from disputatio.report.reading import DebateReport

_OPENED = DebateOpened(format="structured", motion={"text": "m"}, seats={}, rules={}, prompts={}, budget={})


def sent(call: str, usd: str | None = "0.02") -> CallSent:
    return CallSent(
        call=call,
        path="p",
        part="",
        seat="pro",
        model="m",
        mode="native",
        temperature=None,
        max_tokens=1,
        prompt=(),
        schema="",
        reserved={"usd": usd},
    )


def made(call: str, usd: str | None, tokens: tuple[int | None, int | None, int | None], fault: str = "") -> CallMade:
    return CallMade(
        call=call,
        path="p",
        fault=fault,
        message="",
        text="",
        served_model=None,
        finish="stop",
        usage=dict(zip(("input_tokens", "output_tokens", "cached_tokens"), tokens, strict=True)),
        cost_usd=usd,
        cost_basis="",
        charged_tokens=0,
        latency_ms=1,
    )


def test_known_costs_are_summed_exactly() -> None:
    events = [event for n in range(10) for event in (sent(f"c{n}"), made(f"c{n}", "0.1", (10, 5, 0)))]
    found = DebateReport.of("d", [_OPENED, *events]).totals
    assert found.usd == Decimal("1.0")
    assert found.money == "1.00 USD"
    assert (found.input_tokens, found.output_tokens) == (100, 50)


def test_an_unknown_price_is_said_and_not_taken_for_zero() -> None:
    one = DebateReport.of("d", [_OPENED, sent("a"), made("a", None, (10, 5, None))]).totals
    assert one.usd is None
    assert one.money == "unknown price"
    mixed = DebateReport.of(
        "d", [_OPENED, sent("a"), made("a", None, (10, 5, None)), sent("b"), made("b", "0.5", (1, 1, 0))]
    ).totals
    assert mixed.money == "at least 0.50 USD (no price known for 1 call)"


def based(call: str, usd: str | None, basis: str) -> CallMade:
    return replace(made(call, usd, (10, 5, None)), cost_basis=basis)


def test_costs_that_a_server_reported_are_marked() -> None:
    rows = [sent("a"), based("a", "0.5", REPORTED_COST), sent("b"), based("b", "0.25", REPORTED_COST)]
    assert DebateReport.of("d", [_OPENED, *rows]).totals.money == "0.75 USD (reported by the server)"
    rows += [sent("c"), based("c", "0.25", "price table: m"), sent("d"), based("d", None, "no price is known for m")]
    expected = "at least 1.00 USD (no price known for 1 call; 2 calls reported by the server)"
    assert DebateReport.of("d", [_OPENED, *rows]).totals.money == expected


def test_a_model_that_is_given_away_says_so() -> None:
    rows = [sent("a"), based("a", "0", FREE_OF_CHARGE)]
    assert DebateReport.of("d", [_OPENED, *rows]).totals.money == f"{dollars(Decimal(0))} (free of charge)"


def test_tokens_that_were_not_reported_leave_a_lower_bound() -> None:
    found = DebateReport.of(
        "d", [_OPENED, sent("a"), made("a", "0", (None, None, None)), sent("b"), made("b", "0", (100, 20, None))]
    ).totals
    assert found.counts == "2 calls, at least 120 tokens"
    silent = DebateReport.of("d", [_OPENED, sent("a"), made("a", "0", (None, None, None))]).totals
    assert silent.counts == "1 call, tokens not reported"


def test_cached_share_counts_only_reporting_calls() -> None:
    found = DebateReport.of(
        "d", [_OPENED, sent("a"), made("a", "0", (100, 5, 50)), sent("b"), made("b", "0", (900, 5, None))]
    ).totals
    assert found.cached_share == 0.5
    unknown = DebateReport.of("d", [_OPENED, sent("a"), made("a", "0", (900, 5, None))]).totals
    assert unknown.cached_share is None
    assert "cached" not in unknown.line


def reasoned(call: str, tokens: int | None) -> CallMade:
    plain = made(call, "0", (10, 500, None))
    return plain if tokens is None else replace(plain, usage={**plain.usage, "reasoning_tokens": tokens})


def test_reasoning_is_said_as_a_part_of_the_tokens() -> None:
    events = [_OPENED, sent("a"), reasoned("a", 400), sent("b"), reasoned("b", 80), sent("c"), reasoned("c", None)]
    found = DebateReport.of("d", events).totals
    assert found.reasoning_tokens == 480
    assert found.counts == "3 calls, 1,530 tokens (480 of them reasoning)"


def test_reasoning_that_was_not_reported_is_unknown_and_not_zero() -> None:
    unknown = DebateReport.of("d", [_OPENED, sent("a"), reasoned("a", None)]).totals
    none = DebateReport.of("d", [_OPENED, sent("a"), reasoned("a", 0)]).totals
    assert (unknown.reasoning_tokens, none.reasoning_tokens) == (None, 0)
    assert "reasoning" not in unknown.counts + none.counts


def test_a_lost_call_is_counted_and_keeps_its_reservation() -> None:
    found = DebateReport.of("d", [_OPENED, sent("a"), CallLost(call="a", path="p")]).totals
    assert (found.lost, found.usd) == (1, Decimal("0.02"))
    assert "1 lost" in found.line


def test_failed_calls_are_counted_apart() -> None:
    found = DebateReport.of(
        "d",
        [
            _OPENED,
            sent("a"),
            made("a", "0", (None, None, None), fault="timed_out"),
            sent("b"),
            made("b", "0", (1, 1, 1)),
        ],
    ).totals
    assert (found.calls, found.failed, found.answered, found.uncounted) == (2, 1, 1, 0)


def test_a_call_in_flight_has_no_price_yet() -> None:
    found = DebateReport.of("d", [_OPENED, sent("a")]).totals
    assert found.unpriced == 0
    assert found.brief == ["1 call"]


async def test_time_between_sessions_is_not_time_of_the_debate() -> None:
    debate = await hold(max_calls="5")
    held_s = debate.report.totals.seconds
    assert held_s is not None
    await go_on(debate, budget=Budget(calls=50))
    rows = list(debate.events)
    place = next(number for number, row in enumerate(rows) if row.kind == "DebateResumed")
    late = [row._replace(at=row.at.replace("20", "21", 1)) for row in rows[place:]]
    shifted = DebateReport.of(debate.id, [*rows[:place], *late]).totals.seconds
    assert shifted == pytest.approx(debate.report.totals.seconds, abs=1e-3)
    assert shifted < 60


def test_without_envelopes_the_time_is_unknown() -> None:
    debate = held("complete")
    report = DebateReport.of(debate.id, [row.event() for row in debate.events])
    assert report.totals.seconds is None
    assert report.head is None
    assert debate.report.head == debate.events[-1].hash


def test_an_interruption_ends_a_session() -> None:
    debate = held("complete")
    last = debate.events[-1]
    stop = seal(DebateInterrupted(reason="x"), debate=debate.id, seq=last.seq + 1, at=last.at, previous=last.hash)
    report = DebateReport.of(debate.id, [*debate.events, stop])
    assert report.totals.seconds == debate.report.totals.seconds


@pytest.mark.parametrize(
    ("amount", "words"),
    [
        ("0", "0.00 USD"),
        ("1.255", "1.26 USD"),
        ("0.1", "0.10 USD"),
        ("0.0312", "0.0312 USD"),
        ("0.000004", "0.000004 USD"),
    ],
)
def test_small_amounts_keep_their_digits(amount: str, words: str) -> None:
    assert dollars(Decimal(amount)) == words


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(0.4, "0.4 s"), (12.3, "12 s"), (59.7, "1 min 00 s"), (72, "1 min 12 s"), (7500, "2 h 05 min")],
)
def test_durations_in_words(seconds: float, words: str) -> None:
    assert duration(seconds) == words


def test_words_for_people() -> None:
    assert listed(["a", "b", "c"]) == "a, b and c"
    assert [spoken(word) for word in ("round-1", "straw_man", "cross-examination")] == [
        "round 1",
        "straw man",
        "cross-examination",
    ]
