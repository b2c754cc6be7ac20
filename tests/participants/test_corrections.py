"""What is faulty in a long answer is asked for again, and nothing else of it."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from disputatio.formats.registry import FORMATS
from disputatio.kernel import Ask
from disputatio.participants.answers import SchemaChecks
from disputatio.participants.call import Call, OutputMode
from disputatio.participants.corrections import correction_of, place_of
from disputatio.participants.turn_taking import TurnResult
from disputatio.record.text import canonical
from disputatio.testing import instance
from judge_turns import named_words
from strategies import Answers, Debate, examples
from turns_driven import drive, one_after_the_other, rejections, reply, sends, turn

CHECKS = SchemaChecks()
MISQUOTED = {"fallacy": "straw_man", "said_by": "owner", "words": "this was said by no side at all"}


@cache
def asks_of(name: str) -> list[Ask]:
    """Every ask of a debate."""
    return list(Debate(name, FORMATS[name].rules(), Answers("corrections")).held().asks.values())


def ask_of(name: str, form: str) -> Ask:
    return next(row for row in asks_of(name) if row.spec.name == form)


def judge() -> tuple[Ask, Any]:
    """A judge's ask, and a finding that keeps every rule."""
    ask = ask_of("structured", "adjudication")
    content: Any = instance(ask.spec.schema, "judge")
    said = {name: text for row in ask.spec.exhibits for name, text in row.answers}
    for name, row in content["arguments"].items():
        keys = ask.spec.schema["properties"]["arguments"]["properties"][name]["properties"]
        row |= {
            "fallacies": [],
            "reason": "It is argued well and its evidence is named.",
            **named_words(keys, said.get),
        }
    assert not ask.spec.violations(ask.spec.read(content))
    return ask, content


def shown(call: Call) -> Any:
    """What the model is shown as its own words."""
    (text,) = [row.text for row in call.segments if row.role == "assistant"]
    return json.loads(text)


def test_one_misquoted_fallacy_buys_one_finding_again() -> None:
    ask, right = judge()
    wrong: Any = json.loads(json.dumps(right))
    wrong["arguments"]["PRO-2"]["fallacies"] = [MISQUOTED]
    corrected = reply({"arguments": {"PRO-2": right["arguments"]["PRO-2"]}})
    taken, orders = drive(turn(ask, name="structured"), one_after_the_other(reply(wrong), corrected))
    assert isinstance(taken, TurnResult)
    assert (taken.content, taken.violations, taken.asked) == (right, (), 2)
    first, second = (order.call for order in sends(orders))
    assert list(second.schema["properties"]["arguments"]["properties"]) == ["PRO-2"]
    assert shown(second) == {"arguments": {"PRO-2": wrong["arguments"]["PRO-2"]}}
    assert second.segments[: len(first.segments)] == first.segments
    assert "this was said by no side at all" in second.segments[-1].text


def test_a_model_that_gives_the_whole_again_is_taken_at_its_word() -> None:
    ask, right = judge()
    wrong = {**right, "arguments": {**right["arguments"]}}
    wrong["arguments"]["PRO-2"] = {**right["arguments"]["PRO-2"], "fallacies": [MISQUOTED]}
    taken, _ = drive(turn(ask, name="structured"), one_after_the_other(reply(wrong), reply(right)))
    assert isinstance(taken, TurnResult)
    assert (taken.content, taken.violations) == (right, ())


def test_a_text_that_is_too_long_is_asked_for_alone() -> None:
    ask, right = judge()
    wrong: Any = json.loads(json.dumps(right))
    wrong["arguments"]["CON-1"]["reason"] = "very long " * 200
    corrected = reply({"arguments": {"CON-1": {"reason": right["arguments"]["CON-1"]["reason"]}}})
    taken, orders = drive(turn(ask, name="structured"), one_after_the_other(reply(wrong), corrected))
    assert isinstance(taken, TurnResult)
    assert (taken.content, taken.asked) == (right, 2)
    (rejected,) = rejections(orders)
    assert rejected.reasons[0].startswith("arguments/CON-1/reason: it is longer than 600 characters (it has 1,999)")
    assert len(rejected.reasons[0]) < 300


def test_a_missing_finding_is_asked_for_alone() -> None:
    ask, right = judge()
    wrong = {**right, "arguments": {name: row for name, row in right["arguments"].items() if name != "PRO-1"}}
    corrected = reply({"arguments": {"PRO-1": right["arguments"]["PRO-1"]}})
    taken, _ = drive(turn(ask, name="structured"), one_after_the_other(reply(wrong), corrected))
    assert isinstance(taken, TurnResult)
    assert taken.content == right


def test_a_correction_that_does_not_fit_is_corrected_in_turn() -> None:
    ask, right = judge()
    wrong: Any = json.loads(json.dumps(right))
    wrong["arguments"]["CON-1"]["reason"] = "long " * 300
    empty = reply({"arguments": {"CON-1": {}}})
    corrected = reply({"arguments": {"CON-1": {"reason": right["arguments"]["CON-1"]["reason"]}}})
    taken, orders = drive(turn(ask, name="structured"), one_after_the_other(reply(wrong), empty, corrected))
    assert isinstance(taken, TurnResult)
    assert (taken.content, taken.asked) == (right, 3)
    assert "CON-1/reason" in sends(orders)[2].call.segments[-1].text


def test_what_a_correction_has_beyond_what_was_asked_is_left_out() -> None:
    ask, right = judge()
    wrong: Any = json.loads(json.dumps(right))
    wrong["arguments"]["CON-1"]["reason"] = "long " * 300
    row = right["arguments"]["CON-1"]
    more = reply({"arguments": {"CON-1": {"reason": row["reason"], "standing": "REFUTED", "logic": 1}}, "note": "!"})
    taken, _ = drive(turn(ask, name="structured"), one_after_the_other(reply(wrong), more))
    assert isinstance(taken, TurnResult)
    assert taken.content == right


@pytest.mark.parametrize("mode", [OutputMode.NATIVE, OutputMode.TOOL, OutputMode.PROMPTED])
def test_the_form_in_words_is_that_of_the_correction(mode: OutputMode) -> None:
    ask, right = judge()
    wrong = {**right, "key_insight": "short"}
    corrected = reply({"key_insight": right["key_insight"]})
    taken, orders = drive(turn(ask, modes=[[mode]], name="structured"), one_after_the_other(reply(wrong), corrected))
    assert isinstance(taken, TurnResult)
    last = sends(orders)[1].call
    assert last.max_tokens <= sends(orders)[0].call.max_tokens
    assert ("unresolved_questions" in last.segments[-1].text) is False


@pytest.mark.parametrize("count", [0, 1, 2])
def test_a_side_with_too_few_arguments_is_told_how_many(count: int) -> None:
    """The reason stands before the value: it used to be cut away behind two long arguments."""
    ask = ask_of("structured", "opening")
    right: Any = instance(ask.spec.schema, "opening")
    long = {key: "word " * 60 if isinstance(value, str) else value for key, value in right["arguments"][0].items()}
    wrong = {**right, "arguments": [long] * count}
    _, orders = drive(turn(ask, name="structured"), one_after_the_other(reply(wrong), reply(right)))
    reasons = " ".join(rejections(orders)[0].reasons)
    assert f"arguments: it has less than 3 items (it has {count})" in reasons
    assert "arguments: it has less than 3 items" in sends(orders)[1].call.segments[-1].text


@st.composite
def faulty_places(draw: st.DrawFn) -> tuple[Ask, Any, list[tuple[str | int, ...]]]:
    """An ask, an answer to it, and places where it is taken to be at fault."""
    ask = draw(st.sampled_from(asks_of(draw(st.sampled_from(sorted(FORMATS))))))
    content = instance(ask.spec.schema, draw(st.sampled_from(["one", "two", "three"])))
    places = leaves(content)
    chosen = draw(st.lists(st.sampled_from(places), min_size=1, max_size=4)) if places else []
    return ask, content, [place[: draw(st.integers(1, len(place)))] for place in chosen]


def leaves(value: Any, above: tuple[str | int, ...] = ()) -> list[tuple[str | int, ...]]:
    rows = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [place for key, row in rows for place in leaves(row, (*above, key))] or ([above] if above else [])


def at(value: Any, place: tuple[str | int, ...]) -> Any:
    for step in place:
        value = value[step]
    return value


@examples(60)
@given(faulty_places())
def test_a_correction_changes_its_places_and_nothing_else(drawn: Any) -> None:
    ask, content, places = drawn
    correction = correction_of(content, places, ask.spec.schema)
    if correction is None:
        return
    before = canonical(content)
    corrected = instance(correction.schema, "corrected")
    assert not CHECKS.reasons(corrected, correction.schema)
    merged: Any = correction.merge(corrected)
    assert canonical(content) == before, "the answer itself stays as it is"
    inside = [place for place in leaves(merged) if any(place[: len(row)] == row for row in correction.places)]
    for place in leaves(content):
        if not any(place[: len(row)] == row for row in correction.places):
            assert at(merged, place) == at(content, place)
    assert all(any(row[: len(kept)] == kept for kept in correction.places) for row in places)
    assert inside or all(at(merged, place) in ({}, []) for place in correction.places)
    assert json.loads(correction.excerpt).keys() <= correction.schema["properties"].keys()
    assert not CHECKS.reasons(json.loads(correction.excerpt), correction.schema)


def test_short_answers_and_unknown_places_are_asked_for_whole() -> None:
    ask, right = judge()
    schema = ask.spec.schema
    assert correction_of(right, [("key_insight",)], schema) is not None
    assert correction_of(right, [("key_insight",), None], schema) is None
    assert correction_of(right, [()], schema) is None
    assert correction_of(right, [("no such key",)], schema) is None
    assert correction_of(right, [("arguments",)], schema) is None, "most of the answer"
    assert correction_of({"key_insight": "short"}, [("key_insight",)], schema) is None


def test_labels_are_places_where_there_is_one() -> None:
    judging, opening = (ask_of("structured", name).spec.schema for name in ("adjudication", "opening"))
    assert place_of("PRO-2", judging) == ("arguments", "PRO-2")
    assert place_of("argument-2", opening) == ("arguments", 1)
    assert place_of("reason", judging) is None, "every finding has one"
    assert place_of("", judging) is None
