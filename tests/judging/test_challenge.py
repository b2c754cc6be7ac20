"""The strength of a critique cannot be talked up, and softening words are found where they are the critic's own."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from disputatio.judging.challenge import Attack, Criticised, challenge_strength
from disputatio.judging.softening import SOFTENING, softening_in

attacks = st.sampled_from(list(Attack))
criticisms = st.lists(
    st.builds(Criticised, attacks, st.sampled_from(["PROP-1", "PROP-2", "THESIS"]), st.text(max_size=60), st.text()),
    max_size=6,
)


@given(st.integers(1, 10), criticisms)
def test_the_strength_is_never_above_either_number_and_always_on_the_scale(claimed: int, rows: list) -> None:
    found = challenge_strength(claimed, rows, ["PROP-1", "PROP-2"])
    assert 1 <= found.value == min(claimed, found.measured) <= 10
    assert found.weak == (found.value < 6)
    assert found.flagged == (found.value < 5)


@given(criticisms, criticisms)
def test_saying_the_same_again_makes_a_critique_no_stronger(rows: list, more: list) -> None:
    again = [*rows, *rows, *(row for row in more if row in rows)]
    assert challenge_strength(10, again, ["PROP-1"]).measured == challenge_strength(10, rows, ["PROP-1"]).measured


def test_a_critique_of_full_strength_takes_every_line_aims_well_and_is_definite() -> None:
    rows = [
        Criticised(row, f"PROP-{n}", f"It fails in {n} of 9 cases by {row}.", "") for n, row in enumerate(Attack, 1)
    ]
    assert challenge_strength(10, rows, ["PROP-1", "PROP-2"]).measured == 10


def test_an_echo_of_what_it_attacks_counts_for_nothing() -> None:
    words = "Microservices reduce infrastructure investment significantly"
    found = challenge_strength(10, [Criticised(Attack.TAIL_RISK, "PROP-1", f"{words}.", words)], ["PROP-1"])
    assert found.measured == 1


def test_a_critic_that_rates_itself_far_above_what_is_found_is_overrated() -> None:
    thin = [Criticised(Attack.TAIL_RISK, "PROP-2", "It is bad.", "")]
    assert challenge_strength(10, thin, ["PROP-1"]).overrated
    assert not challenge_strength(3, thin, ["PROP-1"]).overrated


@pytest.mark.parametrize("phrase", SOFTENING)
def test_every_softening_phrase_is_found_in_any_dress(phrase: str) -> None:
    words = phrase.strip(" ,")
    for text in (f"{words}, it fails.", f"So {words.upper()} it is.", f"And ({words.replace(' ', chr(10), 1)}) so on"):
        assert softening_in(text), text


@pytest.mark.parametrize("phrase", SOFTENING)
def test_words_in_quotation_marks_are_somebody_else_s(phrase: str) -> None:
    words = phrase.strip(" ,")
    for text in (f'It says "{words}" and is wrong.', f"It says “{words}” there.", f"It says '{words}' there."):
        assert softening_in(text) == (), text


@pytest.mark.parametrize(
    "text",
    [
        "The customer's consent lapses and the supplier's duty doesn't.",
        "It may fail, but nobody would notice for a year.",
        "The permit was granted in May and is void.",
        "That saidness of things merits nothing.",
    ],
)
def test_plain_words_soften_nothing(text: str) -> None:
    assert softening_in(text) == ()
