"""Neutral names: the judge does not read which side is which, and what it writes comes back right."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from disputatio.errors import InvalidInputError
from disputatio.judging.blinding import blind, both_orders

SIDES = ("pro", "con")
ARGUMENTS = {"pro": ["PRO-1", "PRO-2", "PRO-10"], "con": ["CON-1", "CON-2"]}
HIDDEN = {"pro": ["gpt-9", "Ada"], "con": ["gpt-9-mini"]}
words = st.lists(st.sampled_from([*ARGUMENTS["pro"], *ARGUMENTS["con"], "so", "PRO-1.2", "(CON-2),", "therefore."]))


@pytest.mark.parametrize("order", both_orders(SIDES))
@given(spoken=words)
def test_no_argument_id_is_left_and_every_one_comes_back(order, spoken) -> None:
    text = " ".join(spoken)
    cover = blind(order, ARGUMENTS, HIDDEN)
    hidden = cover.hide(text)
    assert not any(side in hidden for side in ("PRO", "CON"))
    assert cover.reveal(hidden) == text


def test_the_side_shown_first_is_side_a_whoever_it_is() -> None:
    for order in both_orders(SIDES):
        cover = blind(order, ARGUMENTS)
        assert (cover.side("Side A"), cover.side("B")) == order
        assert cover.argument("A-1") == ARGUMENTS[order[0]][0]
        assert cover.hide(ARGUMENTS[order[1]][1]) == "B-2"


def test_words_that_give_a_side_away_become_its_neutral_name() -> None:
    cover = blind(SIDES, ARGUMENTS, HIDDEN)
    assert cover.hide("gpt-9-mini answered gpt-9; Adam met Ada.") == "Side B answered Side A; Adam met Side A."
    assert cover.reveal("Side B overlooked A-10") == "con overlooked A-10"


def test_names_that_look_like_neutral_ones_are_exchanged() -> None:
    """Names that look like neutral ones are exchanged in one pass."""
    cover = blind(SIDES, {"pro": ["B-1"], "con": ["A-1"]})
    assert cover.hide("B-1 refutes A-1") == "A-1 refutes B-1"
    assert cover.reveal("A-1 refutes B-1") == "B-1 refutes A-1"


@pytest.mark.parametrize(
    "refused",
    [
        lambda: blind(("pro", "pro"), {}),
        lambda: blind(SIDES, {"pro": ["X"], "con": ["X"]}),
        lambda: blind(SIDES, {}, {"pro": ["gpt"], "con": ["gpt"]}),
        lambda: blind(SIDES, {}, {"pro": [" "]}),
        lambda: blind(SIDES, ARGUMENTS).side("Side C"),
        lambda: blind(SIDES, ARGUMENTS).argument("C-1"),
    ],
)
def test_names_that_could_not_be_undone_are_refused(refused) -> None:
    with pytest.raises(InvalidInputError):
        refused()
