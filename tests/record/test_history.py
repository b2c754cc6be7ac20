"""A history is a fold over events; the semantic content leaves out clocks, order of arrival and interruptions."""

from __future__ import annotations

from dataclasses import replace
from itertools import permutations

from hypothesis import given
from hypothesis import strategies as st

from disputatio.record.events import (
    Abstained,
    BudgetReached,
    CallLost,
    CallMade,
    DebateInterrupted,
    DebateResumed,
    Event,
    ScoreGiven,
    TurnTaken,
    decode,
    encode,
)
from disputatio.record.history import History, Status, semantic_content
from disputatio.record.text import canonical, read_json
from record_makers import any_events, asked, call_sent, closed, opened
from strategies import examples


def made(path: str, number: int = 1, text: str = "{}") -> CallMade:
    return CallMade(
        call=f"{path}!{number}",
        path=path,
        fault="",
        message="",
        text=text,
        served_model="x",
        finish="stop",
        usage={"input_tokens": 5, "output_tokens": 2, "cached_tokens": 1},
        cost_usd="0.01",
        cost_basis="table",
        charged_tokens=7,
        latency_ms=12,
    )


def taken(path: str) -> TurnTaken:
    phase, _, seat = path.partition("/")
    return TurnTaken(path=path, seat=seat, phase=phase, form="monologue", content={"speech": path})


def abstained(path: str) -> Abstained:
    phase, _, seat = path.partition("/")
    return Abstained(path=path, seat=seat, phase=phase, reason="timed_out", detail="60 s")


def turn(path: str) -> list[Event]:
    phase, _, seat = path.partition("/")
    return [replace(asked(), path=path, seat=seat, phase=phase), call_sent(path), made(path), taken(path)]


@examples(15)
@given(st.lists(any_events, max_size=6))
def test_folding_in_two_steps_is_folding_in_one(events: list[Event]) -> None:
    whole = History.of(events)
    for cut in range(len(events) + 1):
        half = History.of(events[:cut])
        for event in events[cut:]:
            half.add(event)
        assert half == whole


@examples(15)
@given(st.lists(any_events, max_size=5))
def test_what_was_read_back_from_the_record_means_the_same(events: list[Event]) -> None:
    back = [decode(event.kind, read_json(canonical(encode(event)))) for event in events]
    assert History.of(back) == History.of(events)


def test_parallel_answers_in_any_order_have_the_same_content() -> None:
    branches = [turn("opening/pro"), turn("opening/con"), [*turn("opening/judge")[:1], abstained("opening/judge")]]
    contents = []
    for order in permutations(range(3)):
        interleaved = [branches[place][step] for step in range(4) for place in order if step < len(branches[place])]
        contents.append(semantic_content([opened(), *interleaved, closed()]))
    assert all(content == contents[0] for content in contents)
    assert set(contents[0]["answered"]) == {"opening/pro", "opening/con", "opening/judge"}


def test_facts_in_any_order_and_read_back_have_the_same_content() -> None:
    # Two facts about the same thing: what orders them must not be the order of their keys.
    facts: list[Event] = [
        ScoreGiven(about="pro", body={"b": 1, "a": 2}),
        ScoreGiven(about="pro", body={"a": 3, "c": 0}),
        ScoreGiven(about="con", body={"z": 0}),
    ]
    expected = semantic_content(facts)
    for order in permutations(facts):
        assert semantic_content(order) == expected
        back = [decode(event.kind, read_json(canonical(encode(event)))) for event in order]
        assert semantic_content(back) == expected


def test_clocks_call_numbers_reservations() -> None:
    """Clocks call numbers reservations and the provider s cache are no content."""
    path = "opening/pro"
    other = [
        *turn(path)[:1],
        replace(call_sent(path, 4), reserved={"input_tokens": 99, "output_tokens": 1, "usd": "1", "bytes": 9}),
        replace(
            made(path, 4),
            latency_ms=9000,
            cost_usd="0.5",
            usage={"input_tokens": 5, "output_tokens": 2, "cached_tokens": None},
        ),
        taken(path),
    ]
    assert semantic_content([opened(), *other]) == semantic_content([opened(), *turn(path)])


def test_what_was_said_is_content() -> None:
    path = "opening/pro"
    base = semantic_content([opened(), *turn(path), closed()])
    differing: list[list[Event]] = [
        [opened("Another motion?"), *turn(path), closed()],
        [opened(), *turn("opening/con"), closed()],
        [opened(), *turn(path)[:2], made(path, text="other"), taken(path), closed()],
        [opened(), *turn(path)[:3], abstained(path), closed()],
        [
            opened(),
            *turn(path)[:3],
            replace(taken(path), violations=({"rule": "word_limit", "detail": "x"},)),
            closed(),
        ],
        [opened(), *turn(path), ScoreGiven(about="PRO-1", body={}), closed()],
        [opened(), *turn(path), closed("DEGRADED")],
    ]
    for events in differing:
        assert semantic_content(events) != base


def test_a_crash_and_a_resumption_leave_no_trace_in_the_content() -> None:
    path = "opening/pro"
    ask, send, answer, done = turn(path)
    resumed = [
        opened(),
        ask,
        send,
        DebateInterrupted(reason="stopped"),
        CallLost(call=f"{path}!1", path=path),
        DebateResumed(budget={}, software="later"),
        call_sent(path, 2),
        made(path, 2),
        done,
        closed(),
    ]
    assert semantic_content(resumed) == semantic_content([opened(), ask, send, answer, done, closed()])
    assert History.of(resumed).in_flight == []
    assert len(History.of(resumed).calls) == 2


def test_a_call_is_in_flight_until_it_came_back_or_was_lost() -> None:
    path = "opening/pro"
    ask, send, answer, _ = turn(path)
    assert History.of([opened(), ask, send]).in_flight == [send]
    assert History.of([opened(), ask, send, answer]).in_flight == []
    assert History.of([opened(), ask, send, CallLost(call=f"{path}!1", path=path)]).in_flight == []


def test_the_status_follows_the_last_word() -> None:
    events: list[tuple[Event, Status]] = [
        (opened(), Status.RUNNING),
        (BudgetReached(path="p", limit="usd", ceiling="1", spent="1", needed="1"), Status.RUNNING),
        (closed("DEBATE_TRUNCATED"), Status.TRUNCATED),
        (DebateResumed(budget={}, software=""), Status.RUNNING),
        (DebateInterrupted(reason="stopped"), Status.INTERRUPTED),
        (DebateResumed(budget={}, software=""), Status.RUNNING),
        (closed("COMPLETE"), Status.COMPLETE),
    ]
    history = History()
    for event, status in events:
        history.add(event)
        assert history.status is status


def test_only_abstentions_of_the_last_phase_can_be_asked_again() -> None:
    first = [*turn("opening/pro")[:1], abstained("opening/pro")]
    last = [*turn("closing/pro")[:2], made("closing/pro"), abstained("closing/pro"), *turn("closing/con")]
    history = History.of([opened(), *first, *last])
    assert history.reopenable == ("closing/pro",)
    history.add(DebateResumed(budget={}, software="", reopened=("closing/pro",)))
    assert "closing/pro" not in history.answered
    assert history.settled("closing/pro") == [], "its calls are not replayed"
    assert [row.path for row in history.calls] == ["closing/pro", "closing/con"], "but they stay in the bill"
