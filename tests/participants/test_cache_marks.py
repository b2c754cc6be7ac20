"""Where prompts are marked for caches that end at marks, and what a marked prompt still is: the same text."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from remote_server import SCHEMA

from disputatio.participants.call import Call, OutputMode, Segment
from disputatio.participants.remote.prompt import LEAST_BYTES, Breakpoints, marked_messages, messages_of
from strategies import examples

RULES = Segment("system", "Rules. " * 700)
FIRST, SECOND = Segment("user", "First. " * 300), Segment("user", "Second. " * 300)


def call(
    *heard: Segment, task: str = "Your task.", mode: OutputMode = OutputMode.PROMPTED, name: str = "speech"
) -> Call:
    return Call((RULES, *heard, Segment("user", task)), SCHEMA, name, mode, None, 100)


def test_prompt_marked_where_task_begins_and_where_earlier_one() -> None:
    """A prompt is marked where its task begins and where an earlier one was."""
    marks = Breakpoints()
    assert marks.of(call()) == (1,)
    assert marks.of(call(FIRST, task="Another.")) == (1, 2)
    assert marks.of(call(FIRST, SECOND)) == (2, 3)
    assert marks.of(call(SECOND)) == (1, 2)


def test_a_call_that_is_put_twice_is_marked_the_same_both_times() -> None:
    marks, twice = Breakpoints(), call(FIRST)
    assert marks.of(twice) == marks.of(twice) == (1, 2)


@pytest.mark.parametrize("mode", [OutputMode.NATIVE, OutputMode.TOOL])
def test_only_a_repeated_schema_in_front_is_paid_for(mode: OutputMode) -> None:
    """Where the schema stands in front only one that comes again is paid for."""
    marks = Breakpoints()
    assert [marks.of(call(FIRST, mode=mode, name=name)) for name in ("opening", "closing", "judging")] == [(), (), ()]
    assert marks.of(call(FIRST, mode=mode, name="judging", task="Again.")) == (1, 2)
    assert marks.of(call(FIRST, SECOND, mode=mode, name="judging")) == (2, 3)
    assert marks.of(call(FIRST, SECOND, mode=mode, name="summary")) == ()


def test_what_is_too_short_to_be_cached_is_not_marked() -> None:
    short = Call((Segment("system", "x" * (LEAST_BYTES - 1)), Segment("user", "y")), None, "", OutputMode.TEXT, None, 9)
    assert Breakpoints().of(short) == ()


def test_neither_the_task_nor_a_rejected_answer_is_marked() -> None:
    asked = call(FIRST)
    again = Call(
        (*asked.segments, Segment("assistant", "{}"), Segment("user", "No.")), SCHEMA, "speech", asked.mode, None, 9
    )
    marks = Breakpoints()
    assert max(marks.of(asked)) == max(marks.of(again)) == len(asked.segments) - 1


@examples(25)
@given(data=st.data())
def test_the_pieces_of_a_message_are_its_text_to_the_letter(data: st.DataObject) -> None:
    roles = st.sampled_from(["user", "assistant"])
    rest = data.draw(st.lists(st.builds(Segment, role=roles, text=st.text(max_size=6)), min_size=1, max_size=6))
    mode = data.draw(st.sampled_from(list(OutputMode)))
    put = Call((Segment("system", "Rules."), Segment("user", "Hear."), *rest), SCHEMA, "x", mode, None, 9)
    found: list[Any] = [(role, "".join(text for text, _ in rows)) for role, rows in marked_messages(put, {1})]
    assert found == messages_of(put)
