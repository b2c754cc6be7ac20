"""Malformed answers are wrong in every way they are named for, and the same each time."""

from __future__ import annotations

import json
from typing import Any

import json_repair
import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from disputatio.testing.malformed import Malformation, malform

GOOD = json.dumps(
    {
        "arguments": [{"claim": "Costs fall.", "score": 7}, {"claim": "Time is lost.", "score": 3.5}],
        "vote": "adopt",
        "sure": True,
    }
)


def read(text: str) -> Any:
    """The strict reading of an answer, or the error."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        return type(error)


def test_there_are_more_than_twenty_ways() -> None:
    assert len(Malformation) >= 20


@pytest.mark.parametrize("kind", Malformation)
def test_a_malformed_answer_does_not_say_what_the_good_one_said(kind: Malformation) -> None:
    for seed in range(20):
        assert repr(read(malform(GOOD, seed, kind))) != repr(json.loads(GOOD))


def test_every_way_spoils_an_ordinary_answer_in_its_own_manner() -> None:
    cut = GOOD[: len(GOOD) // 2]
    spoiled = {kind: malform(GOOD, 1, kind) for kind in Malformation}
    assert [kind for kind, text in spoiled.items() if text == cut] == [Malformation.CUT_IN_HALF]
    assert len(set(spoiled.values())) == len(Malformation)


STILL_JSON = {
    Malformation.HUGE_NUMBER,
    Malformation.INSIDE_AN_OBJECT,
    Malformation.INSIDE_A_LIST,
    Malformation.INSIDE_A_STRING,
    Malformation.LONE_SURROGATE,
    Malformation.NOT_A_NUMBER,
    Malformation.NULL,
}
"""What Python's own reader takes, though the value is another one; NaN and infinity are not JSON elsewhere."""


def test_all_other_ways_are_no_json_at_all() -> None:
    readable = {kind for kind in Malformation if not isinstance(read(malform(GOOD, 1, kind)), type)}
    # From Python 3.14 on only the stack of the machine bounds how deep its reader goes. Ours has a bound of its own.
    assert readable - {Malformation.NESTED_TOO_DEEP} == STILL_JSON
    with pytest.raises(orjson.JSONDecodeError):
        orjson.loads(malform(GOOD, 1, Malformation.NESTED_TOO_DEEP))


def test_without_a_kind_every_way_comes_up() -> None:
    ways = {malform(GOOD, 1, kind) for kind in (Malformation.EMPTY, Malformation.NULL, Malformation.FENCED)}
    assert ways <= {malform(GOOD, seed) for seed in range(1000)}


@given(seed=st.integers() | st.text(max_size=5), kind=st.sampled_from(Malformation) | st.none())
@settings(max_examples=40, deadline=None)
def test_the_same_text_and_seed_give_the_same_malformed_answer(seed: int | str, kind: Malformation | None) -> None:
    assert malform(GOOD, seed, kind) == malform(GOOD, seed, kind)


@pytest.mark.parametrize("kind", Malformation)
@pytest.mark.parametrize("text", ["{}", "[]", '"x"', "{ }", "1", "no json at all"])
def test_answer_with_nothing_to_spoil_comes_out_changed_all_same(kind: Malformation, text: str) -> None:
    """An answer with nothing to spoil comes out changed all the same."""
    assert malform(text, 3, kind) != text


@pytest.mark.parametrize("kind", [Malformation.FENCED, Malformation.TRAILING_COMMA, Malformation.SINGLE_QUOTES])
def test_the_mild_ways_can_be_repaired(kind: Malformation) -> None:
    assert json_repair.loads(malform(GOOD, 2, kind)) == json.loads(GOOD)
