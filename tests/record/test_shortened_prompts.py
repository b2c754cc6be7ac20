"""A prompt that begins like an earlier one is listed from where it differs, and read back whole."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from disputatio.record.events import CallSent, decode, encode
from disputatio.record.history import History
from disputatio.record.text import canonical
from record_makers import call_sent
from strategies import examples

ROWS = [("user", f"{number:064x}") for number in range(4)]
prompts = st.lists(st.lists(st.sampled_from(ROWS), min_size=1, max_size=9).map(tuple), min_size=1, max_size=20)


def recorded(whole: Sequence[tuple[tuple[str, str], ...]]) -> list[CallSent]:
    history = History()
    for number, prompt in enumerate(whole, start=1):
        begins, rest = history.shortened(prompt)
        history.add(call_sent("opening/pro", number, prompt=rest, begins=begins))
    return history.calls


@examples(40)
@given(whole=prompts)
def test_every_prompt_comes_back_whole(whole: list[tuple[tuple[str, str], ...]]) -> None:
    written = [canonical(encode(event)) for event in recorded(whole)]
    history = History.of(recorded(whole))
    assert list(history.prompts.values()) == whole
    assert len(written) == len(whole)


def test_a_record_of_twice_as_many_calls_is_twice_as_long() -> None:
    def size(calls: int) -> int:
        history = [("user", f"{number:064x}") for number in range(calls)]
        whole = [(*history[:number], ("user", f"task {number}")) for number in range(calls)]
        return sum(len(canonical(encode(event))) for event in recorded(whole))

    assert size(200) < 2.1 * size(100)


def test_a_record_from_before_prompts_were_shortened_is_read() -> None:
    body = dict(encode(call_sent("opening/pro", prompt=tuple(ROWS))))
    del body["begins"]
    event = decode("CallSent", {**body, "prompt": [list(row) for row in ROWS]})
    assert History.of([event]).prompts == {event.call: tuple(ROWS)}


def test_of_a_record_that_lost_a_call_the_rest_of_a_prompt() -> None:
    """Of a record that lost a call the rest of a prompt is shown."""
    event = call_sent("opening/pro", prompt=tuple(ROWS[2:]), begins=("opening/pro!7", 2))
    assert History.of([event]).prompts == {event.call: tuple(ROWS[2:])}


def test_a_prompt_at_the_end_of_a_long_debate_is_put_together() -> None:
    """A prompt at the end of a long debate is put together from all before it."""
    rows = [("user", f"{number:064x}") for number in range(3000)]
    events = [
        call_sent("p", number, prompt=(row, ("user", "task")), begins=(f"p!{number - 1}", number) if number else ())
        for number, row in enumerate(rows)
    ]
    history = History.of(events)
    for number in (2999, 0, 1500, 1499, 1501):
        assert history.prompts[f"p!{number}"] == (*rows[: number + 1], ("user", "task"))
    assert len(history.prompts) == 3000


def test_a_prompt_that_begins_like_itself() -> None:
    """A prompt that begins like itself or a later one has its own rows."""
    events = [
        call_sent("p", number, prompt=(ROWS[number],), begins=begins)
        for number, begins in enumerate([("p!0", 1), ("p!2", 1), ("p!1", 1)])
    ]
    prompts = History.of(events).prompts
    assert [prompts[f"p!{number}"] for number in range(3)] == [(ROWS[0],), (ROWS[1],), (ROWS[1], ROWS[2])]
