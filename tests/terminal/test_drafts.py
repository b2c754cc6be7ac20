"""What is written is readable while it is written, and nobody ever sees raw JSON."""

import json
import unicodedata
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from staged_debates import HOSTILE, WIDE, held

from disputatio._terminal.progress import Draft, parse_partial_object
from disputatio.formats.registry import FORMATS
from disputatio.record.events import TurnTaken
from disputatio.testing.instances import instance
from strategies import Answers, Debate


def turns() -> list[TurnTaken]:
    events = [row.event() for name in ("complete", "freeform", "wide") for row in held(name).events]
    return [event for event in events if isinstance(event, TurnTaken)]


def texts(draft: Draft) -> list[str]:
    return [text for row in draft.statements({}) for text in row.texts]


@pytest.mark.parametrize("place", range(len(turns())))
def test_every_prefix_of_an_answer_reads_as_a_prefix(place: int) -> None:
    turn = turns()[place]
    raw = json.dumps(turn.content, ensure_ascii=False)
    whole = Draft(turn.form, turn.seat)
    whole.add(raw)
    final = "\n".join(texts(whole))
    draft, seen = Draft(turn.form, turn.seat), 0
    step = max(1, len(raw) // 60)
    for start in range(0, len(raw), step):
        draft.add(raw[start : start + step])
        words = draft.words({})
        assert words >= seen - 1
        seen = words
        for text in texts(draft):
            assert text.rstrip('"') in final
    assert texts(draft) == texts(whole)
    assert texts(whole)


def test_a_fence_and_talk_around_the_object_are_not_shown() -> None:
    content = {"speech": "We should act, for three reasons."}
    for raw in (f"```json\n{json.dumps(content)}\n```", f"Here it is: {json.dumps(content)} I hope this helps {{."):
        draft = Draft("monologue", "pro")
        draft.add(raw)
        assert texts(draft) == ["We should act, for three reasons."]


@pytest.mark.parametrize(
    "raw", ["", "no object", "[1, 2", "{", '{"', '{"spe', "}{", '{"speech": ', '{"speech": 1e', "null"]
)
def test_what_cannot_be_read_yet_shows_nothing(raw: str) -> None:
    draft = Draft("monologue", "pro")
    draft.add(raw)
    assert texts(draft) == []


def test_what_was_read_stays_when_the_rest_cannot_be_read() -> None:
    draft = Draft("monologue", "pro")
    draft.add('{"speech": "First words"')
    assert texts(draft) == ["First words"]
    draft.add(" oops")
    assert texts(draft) == ["First words"]


@settings(max_examples=40, deadline=None)
@given(st.text(max_size=60), st.integers(0, 200))
def test_no_control_character_is_read_out_of_any_answer(words: str, cut: int) -> None:
    raw = json.dumps({"speech": f"{HOSTILE}{words}{WIDE}"})
    draft = Draft("monologue", "pro")
    draft.add(raw[:cut] if cut < 200 else raw)
    for text in texts(draft):
        assert not [char for char in text if unicodedata.category(char) in {"Cc", "Cs"} and char not in "\n\t"]


@settings(max_examples=40, deadline=None)
@given(st.text(max_size=200))
def test_any_output_at_all_is_taken_without_failing(raw: str) -> None:
    for form in ("opening", "cross_examination", "closing", "adjudication", "monologue", "summing", "unheard_of"):
        for part in ("", "argument-2", "PRO-1", "overall"):
            draft = Draft(form, "pro", part)
            draft.add("{" + raw)
            draft.statements({})


@pytest.mark.parametrize(
    ("form", "part", "content", "mark"),
    [
        ("opening", "argument-2", {"claim": "Teams can own services"}, "PRO-2"),
        ("cross_examination", "CON-3", {"reasoning": "It rests on one team"}, "PRO -> CON-3"),
        ("closing", "PRO-1.Q1", {"answer": "It was measured"}, "PRO-1.Q1"),
        ("closing", "position", {"final_position": "It has moved", "shift": "weakened"}, "Final position"),
        ("adjudication", "CON-1", {"reason": "The core stands"}, "CON-1"),
        ("adjudication", "overall", {"key_insight": "One cost"}, "Key insight"),
        ("summing", "pro_strengths", {"text": "Clear figures"}, "Pro strengths"),
    ],
)
def test_a_part_is_shown_as_the_piece_of_the_turn_that_it_is(
    form: str, part: str, content: dict[str, Any], mark: str
) -> None:
    draft = Draft(form, "pro", part)
    draft.add(json.dumps(content))
    (row,) = draft.statements({})
    assert (row.mark, row.texts) == (mark, (next(iter(content.values())),))


@pytest.mark.parametrize("name", FORMATS)
def test_every_part_of_a_small_model_is_read_while_written(name: str) -> None:
    """A small model answers under keys of its own: whatever it writes in sentences is shown."""
    for path, ask in Debate(name, FORMATS[name].rules(), Answers("x")).held().asks.items():
        done: tuple[Any, ...] = ()
        while part := ask.spec.next_part(done):
            content = instance(part.schema, f"{path} {part.label}")
            done = (*done, content)
            draft = Draft(ask.spec.name, ask.seat, part.label)
            draft.add(json.dumps(content))
            sentences = [text for text in content.values() if isinstance(text, str) and " " in text]
            shown = texts(draft)
            assert all(text in shown for text in sentences), (part.label, shown)
            draft = Draft(ask.spec.name, ask.seat, part.label)
            draft.add(json.dumps(content)[: len(json.dumps(content)) // 2])
            assert draft.statements({}) or not sentences


def test_a_part_of_an_opening_is_marked_as_its_argument() -> None:
    draft = Draft("opening", "pro", "argument-2")
    draft.add('{"benefit": "Teams can own services", "because": "They')
    (row,) = draft.statements({})
    assert (row.mark, row.lead, row.points) == ("PRO-2", "Teams can own services", ())


def test_a_draft_without_end_is_not_gathered_without_end() -> None:
    draft = Draft("monologue", "pro")
    for _ in range(500):
        draft.add("x" * 1000)
    assert parse_partial_object("x" * 10) is None
    assert draft._size <= 201_000
