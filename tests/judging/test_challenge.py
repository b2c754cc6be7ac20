"""The strength of a critique cannot be talked up, and softening words are found where they are the critic's own."""

from __future__ import annotations

from typing import Any

import pytest
from critiques import AGREEING, EARNEST
from hypothesis import given
from hypothesis import strategies as st

from disputatio.evaluation.critic_check import CriticCase, load_packaged_critic_cases
from disputatio.judging.challenge import Attack, ChallengeStrength, RatedCriticism, measure_challenge
from disputatio.judging.critic_language import AGREEMENT, SOFTENING, find_agreement, find_softening, has_objection

CASES = [case for case in load_packaged_critic_cases() if case.id in EARNEST]
attacks = st.sampled_from(list(Attack))
criticisms = st.lists(
    st.builds(
        RatedCriticism, attacks, st.sampled_from(["PROP-1", "PROP-2", "THESIS"]), st.text(max_size=60), st.text()
    ),
    max_size=6,
)


@given(st.integers(1, 10), criticisms)
def test_the_strength_is_never_above_either_number(claimed: int, rows: list) -> None:
    """The strength is never above either number and always on the scale."""
    found = measure_challenge(claimed, rows, ["PROP-1", "PROP-2"])
    assert 1 <= found.value == min(claimed, found.measured) <= 10
    assert found.weak == (found.value < 6)
    assert found.flagged == (found.value < 5)


@given(criticisms, criticisms)
def test_saying_the_same_again_makes_a_critique_no_stronger(rows: list, more: list) -> None:
    again = [*rows, *rows, *(row for row in more if row in rows)]
    assert measure_challenge(10, again, ["PROP-1"]).measured <= measure_challenge(10, rows, ["PROP-1"]).measured


def test_restating_what_is_attacked_lowers_the_share() -> None:
    """One definite criticism and three restatements: a lazy critic, which is asked once more."""
    attacked = "Microservices reduce infrastructure investment significantly"
    definite = RatedCriticism(
        Attack.TAIL_RISK, "PROP-1", "Suppliers abandon 3 of 9 infrastructure contracts.", attacked
    )
    echoes = [
        RatedCriticism(row, "PROP-1", f"{attacked}{end}", attacked) for row, end in zip(Attack, ".!?", strict=False)
    ]
    found = measure_challenge(10, [definite, *echoes], ["PROP-1", "PROP-2"])
    assert "1 of 4 definite, 3 only repeat" in found.because
    assert found.weak
    before = measure_challenge(10, [definite, *echoes], ["PROP-1", "PROP-2"], counts_repeats=False)
    assert (before.measured, before.weak) == (7, False), "so records of earlier versions were measured"


def test_a_critique_of_full_strength_takes_every_line_aims_well() -> None:
    """A critique of full strength takes every line aims well and is definite."""
    rows = [
        RatedCriticism(row, f"PROP-{n}", f"Suppliers abandon {n} of 9 contracts after {row}.", "")
        for n, row in enumerate(Attack, 1)
    ]
    assert measure_challenge(10, rows, ["PROP-1", "PROP-2"]).measured == 10


def test_an_echo_of_what_it_attacks_counts_for_nothing() -> None:
    words = "Microservices reduce infrastructure investment significantly"
    found = measure_challenge(10, [RatedCriticism(Attack.TAIL_RISK, "PROP-1", f"{words}.", words)], ["PROP-1"])
    assert found.measured == 1


def test_a_critic_that_rates_itself_far_above_what_is_found() -> None:
    """A critic that rates itself far above what is found is overrated."""
    thin = [RatedCriticism(Attack.TAIL_RISK, "PROP-2", "It is bad.", "")]
    assert measure_challenge(10, thin, ["PROP-1"]).overrated
    assert not measure_challenge(3, thin, ["PROP-1"]).overrated


@pytest.mark.parametrize("phrase", SOFTENING)
def test_every_softening_phrase_is_found_in_any_dress(phrase: str) -> None:
    words = phrase.strip(" ,")
    for text in (f"{words}, it fails.", f"So {words.upper()} it is.", f"And ({words.replace(' ', chr(10), 1)}) so on"):
        assert find_softening(text), text


@pytest.mark.parametrize("phrase", SOFTENING)
def test_words_in_quotation_marks_are_somebody_else_s(phrase: str) -> None:
    words = phrase.strip(" ,")
    for text in (f'It says "{words}" and is wrong.', f"It says “{words}” there.", f"It says '{words}' there."):
        assert find_softening(text) == (), text


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
    assert find_softening(text) == ()


def earnest(case: CriticCase, *, thesis: str = "It does harm.", **other: RatedCriticism) -> ChallengeStrength:
    """The strength of the earnest critique of ``case``; ``other`` criticisms by place take the place of its own."""
    rows = [criticised(case, *row) for row in EARNEST[case.id][1]]
    for place, row in other.items():
        rows[int(place.removeprefix("at_"))] = row
    return measure_challenge(10, rows, list(arguments_of(case)), thesis=thesis)


def arguments_of(case: CriticCase) -> dict[str, str]:
    rows: Any = case.proposition["arguments"]
    return {f"PROP-{n}": f"{row['claim']} {row['reasoning']}" for n, row in enumerate(rows, 1)}


def criticised(case: CriticCase, target: str, attack: str, claim: str, reasoning: str) -> RatedCriticism:
    attacked = arguments_of(case)[target]
    return RatedCriticism(Attack(attack), target, f"{claim} {reasoning}", attacked, known=case.motion)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_a_critique_in_earnest_is_strong(case: CriticCase) -> None:
    assert earnest(case).measured >= 8


@pytest.mark.parametrize("manner", AGREEING)
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_agreement_in_the_form_of_a_critique(case: CriticCase, manner: str) -> None:
    """Agreement in the form of a critique is flagged though it takes every line."""
    thesis, said = AGREEING[manner]
    targets = list(arguments_of(case))
    rows = [
        criticised(case, targets[place % 3], attack, *(text.format(id=targets[place % 3]) for text in texts))
        for place, (attack, *texts) in enumerate(said)
    ]
    found = measure_challenge(10, rows, targets, thesis=thesis)
    assert found.flagged
    assert found.overrated


def test_one_criticism_that_agrees_costs_more() -> None:
    """One criticism that agrees costs more than its own points."""
    case = CASES[0]
    agrees = criticised(case, "PROP-2", "tail_risk", "PROP-2 is convincing.", "In 3 of 4 years everybody stayed.")
    assert earnest(case, at_2=agrees).measured <= earnest(case).measured - 3


@pytest.mark.parametrize("thesis", ["The agreement is sound.", "While I acknowledge the effort, it fails."])
def test_a_critique_whose_thesis_agrees_is_flagged(thesis: str) -> None:
    """A critique whose thesis agrees is flagged whatever stands below it."""
    found = earnest(CASES[0], thesis=thesis)
    assert found.measured == 4
    assert "thesis agrees" in found.because


def test_in_another_language_the_tables() -> None:
    """In another language the tables of english words weaken nothing."""
    rows = [
        RatedCriticism(attack, "PROP-1", f"Der Lieferant haftet in {n} von 9 Verträgen ausdrücklich mit.", "")
        for n, attack in enumerate(Attack, 1)
    ]
    assert measure_challenge(10, rows, ["PROP-1"], english=False).measured >= 8
    assert measure_challenge(10, rows, ["PROP-1"]).measured == 1


@pytest.mark.parametrize(
    "text",
    [
        "Nothing shows that the clause is sound.",
        "It takes for granted that the price is justified.",
        "Even if the count is correct, the buyer loses.",
        "The proposer claims that the cap is reasonable.",
        "The reading isn't convincing.",
        "Why this should be adopted is left open.",
    ],
)
def test_agreement_that_is_denied_supposed_or_reported_is_none(text: str) -> None:
    assert find_agreement(text) == ()


@pytest.mark.parametrize("phrase", AGREEMENT)
def test_every_phrase_of_agreement_is_found_in_any_dress(phrase: str) -> None:
    for text in (f"{phrase} here.", f"So ({phrase.upper()}) it is.", f"Yes, {phrase.replace(' ', chr(10), 1)}!"):
        assert find_agreement(text), text


@pytest.mark.parametrize(
    "text", ["It lowers the risk by a third.", "A reserve prevents any serious loss.", "It reduces the danger."]
)
def test_good_news_about_something_bad_is_no_objection(text: str) -> None:
    assert not has_objection(text)
