"""Votes: exact, over the registered electorate, ties never pass. Checked against the rules written out by hand."""

from __future__ import annotations

import itertools
import json
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from disputatio.errors import InvalidInputError
from disputatio.judging.votes import (
    MAJORITY,
    PLURALITY,
    UNANIMITY,
    Ballot,
    Rule,
    Silence,
    VotingRule,
    by_weight,
    count_votes,
    select_latest_ballots,
    super_majority,
    threshold,
)
from strategies import examples

OPTIONS = ("approve", "revise", "escalate")
DEEDS = (*OPTIONS, Silence.ABSTAINED, Silence.FAILED, Silence.ABSENT)


def ballots_of(deeds: dict[str, object]) -> list[Ballot]:
    """One ballot for each deed; who is absent has none."""
    return [
        Ballot.silent(voter, deed, "said nothing") if isinstance(deed, Silence) else Ballot.cast(voter, str(deed))
        for voter, deed in deeds.items()
        if deed is not Silence.ABSENT
    ]


def by_hand(rule: VotingRule, deeds: dict[str, object]) -> str | None:
    """The winner by the definition of each rule, in whole numbers, without the code under test."""
    size = len(deeds)
    counts = {option: sum(deed == option for deed in deeds.values()) for option in OPTIONS}
    if rule.kind is Rule.WEIGHTED:
        weights = rule.weights or {}
        counts = {option: sum(weights[v] for v, deed in deeds.items() if deed == option) for option in OPTIONS}
    alone = [o for o in OPTIONS if all(counts[o] > counts[other] for other in OPTIONS if other != o)]
    if not alone or counts[alone[0]] == 0:
        return None
    top = counts[alone[0]]
    passes = {
        Rule.PLURALITY: True,
        Rule.MAJORITY: 2 * top > size,
        Rule.SUPER_MAJORITY: rule.share is not None and top * rule.share.denominator >= size * rule.share.numerator,
        Rule.UNANIMITY: top == size,
        Rule.THRESHOLD: top >= (rule.votes or 0),
        Rule.WEIGHTED: top > (rule.share or 0) * sum((rule.weights or {}).values()),
    }
    return alone[0] if passes[rule.kind] else None


def rules(voters: tuple[str, ...]) -> list[VotingRule]:
    weights = {voter: Fraction(number + 1, 3) for number, voter in enumerate(voters)}
    return [
        PLURALITY,
        MAJORITY,
        UNANIMITY,
        super_majority(),
        super_majority(Fraction(3, 4)),
        *(threshold(votes) for votes in range(1, len(voters) + 1)),
        by_weight(weights),
        by_weight(weights, Fraction(0)),
    ]


@pytest.mark.parametrize("size", [1, 2, 3])
def test_every_vote_of_a_small_electorate_has_the_winner(size) -> None:
    """Every vote of a small electorate has the winner of the rule written out."""
    voters = ("ann", "ben", "cem")[:size]
    for deeds in itertools.product(DEEDS, repeat=size):
        given_deeds = dict(zip(voters, deeds, strict=True))
        for rule in rules(voters):
            outcome = count_votes(rule, voters, ballots_of(given_deeds), OPTIONS)
            assert outcome.winner == by_hand(rule, given_deeds), (rule.text(), given_deeds)
            assert [ballot.voter for ballot in outcome.ballots] == list(voters)
            assert outcome.silent(Silence.ABSENT) == tuple(v for v, d in given_deeds.items() if d is Silence.ABSENT)


@st.composite
def elections(draw):
    voters = tuple(f"voter-{number}" for number in range(draw(st.integers(1, 9))))
    deeds = {voter: draw(st.sampled_from(DEEDS)) for voter in voters}
    return voters, deeds, draw(st.sampled_from(rules(voters)))


@examples(60)
@given(elections())
def test_the_winner_is_that_of_the_rule_written_out(election) -> None:
    voters, deeds, rule = election
    outcome = count_votes(rule, voters, ballots_of(deeds), OPTIONS)
    assert outcome.winner == by_hand(rule, deeds)
    assert sum(outcome.tally.values()) + sum(len(outcome.silent(silence)) for silence in Silence) == len(voters)


@examples(60)
@given(elections(), st.randoms(use_true_random=False), st.permutations(OPTIONS))
def test_neither_the_order_of_ballots_nor_the_names(election, chance, renamed) -> None:
    """Neither the order of ballots nor the names of options decide."""
    voters, deeds, rule = election
    names = dict(zip(OPTIONS, renamed, strict=True))
    mixed = ballots_of({voter: names.get(deed, deed) for voter, deed in deeds.items()})
    chance.shuffle(mixed)
    winner = count_votes(rule, voters, ballots_of(deeds), OPTIONS).winner
    assert count_votes(rule, voters, mixed, OPTIONS).winner == (winner and names[winner])


@examples(60)
@given(elections())
def test_a_further_vote_for_the_winner_never_harms_it(election) -> None:
    voters, deeds, rule = election
    winner = count_votes(rule, voters, ballots_of(deeds), OPTIONS).winner
    if winner is not None:
        for voter in voters:
            assert count_votes(rule, voters, ballots_of(deeds | {voter: winner}), OPTIONS).winner == winner


@examples(60)
@given(elections(), st.sampled_from([Silence.ABSENT, Silence.FAILED, Silence.ABSTAINED]))
def test_a_silent_voter_more_never_makes_a_winner(election, silence) -> None:
    """A silent voter more never makes a winner and silences count alike."""
    voters, deeds, _ = election
    larger = (*voters, "late")
    for rule in (MAJORITY, UNANIMITY, super_majority()):
        winner = count_votes(rule, voters, ballots_of(deeds), OPTIONS).winner
        after = count_votes(rule, larger, ballots_of(deeds | {"late": silence}), OPTIONS).winner
        assert after is None or after == winner


@examples(60)
@given(elections())
def test_the_stricter_rule_passes_nothing_the_milder_does_not(election) -> None:
    voters, deeds, _ = election
    ballots = ballots_of(deeds)
    found = [
        count_votes(rule, voters, ballots, OPTIONS).winner
        for rule in (UNANIMITY, super_majority(), MAJORITY, PLURALITY)
    ]
    for strict, mild in itertools.pairwise(found):
        assert strict is None or strict == mild


@examples(40)
@given(elections())
def test_equal_weights_are_a_majority(election) -> None:
    voters, deeds, _ = election
    equal = by_weight(dict.fromkeys(voters, Fraction(1, 7)))
    assert (
        count_votes(equal, voters, ballots_of(deeds), OPTIONS).winner
        == count_votes(MAJORITY, voters, ballots_of(deeds), OPTIONS).winner
    )


def test_one_against_one_is_a_tie_that_is_named() -> None:
    """One against one is a tie that is named and does not pass."""
    outcome = count_votes(MAJORITY, ("a", "b"), [Ballot.cast("a", "yes"), Ballot.cast("b", "no")])
    assert outcome.winner is None
    assert outcome.tied == ("yes", "no")
    assert outcome.reason == "yes and no are level at 1 of 2 votes"


def test_failed_voters_stay_in_the_denominator() -> None:
    """Two of five are the only votes, and both agree: still no majority of five."""
    ballots = [
        Ballot.cast("a", "yes"),
        Ballot.cast("b", "yes"),
        Ballot.silent("c", Silence.FAILED, "no answer"),
        Ballot.silent("d", Silence.ABSTAINED),
    ]
    outcome = count_votes(MAJORITY, tuple("abcde"), ballots)
    assert outcome.winner is None
    assert (outcome.tally, outcome.needed) == ({"yes": 2}, 3)
    assert outcome.reason == "yes leads with only 2 of 5 votes, 3 needed (1 abstained, 1 failed, 1 absent)"


def test_no_votes_no_winner() -> None:
    outcome = count_votes(PLURALITY, ("a", "b"), [Ballot.silent("a")], ("yes", "no"))
    assert outcome.winner is None
    assert outcome.tied == ()
    assert outcome.tally == {"yes": 0, "no": 0}
    assert outcome.reason == "nobody voted (1 abstained, 1 absent)"


def test_a_vote_without_weight_wins_nothing() -> None:
    rule = by_weight({"a": Fraction(0), "b": Fraction(1)}, Fraction(0))
    assert count_votes(rule, ("a", "b"), [Ballot.cast("a", "yes")]).winner is None


def test_exactly_half_of_the_weight_is_not_more_than_half() -> None:
    thirds = {"a": Fraction(1, 3), "b": Fraction(1, 6), "c": Fraction(1, 2)}
    ballots = [Ballot.cast("a", "yes"), Ballot.cast("b", "yes")]
    assert count_votes(by_weight(thirds), ("a", "b", "c"), ballots).winner is None
    assert count_votes(by_weight(thirds, Fraction(2, 5)), ("a", "b", "c"), ballots).winner == "yes"


def test_two_thirds_of_nine_are_six() -> None:
    """In binary fractions two thirds of some numbers round the wrong way; in exact ones none does."""
    for size in range(1, 200):
        voters = tuple(map(str, range(size)))
        assert super_majority().needed(voters) == (2 * size + 2) // 3


@examples(60)
@given(st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from([*OPTIONS, Silence.ABSTAINED, Silence.FAILED]))))
def test_the_latest_vote_of_each_voter_stands(history) -> None:
    """The latest vote of each voter stands and is carried over silences."""
    ballots = [ballots_of({voter: deed})[0] for voter, deed in history]
    standing = {ballot.voter: ballot for ballot in select_latest_ballots(ballots)}
    for voter in {voter for voter, _ in history}:
        deeds = [deed for who, deed in history if who == voter]
        voted = [deed for deed in deeds if not isinstance(deed, Silence)]
        assert standing[voter].choice == (voted[-1] if voted else None)
        assert standing[voter].carried == (bool(voted) and isinstance(deeds[-1], Silence))
        if not voted:
            assert standing[voter].silence is deeds[-1]
    count_votes(PLURALITY, ("a", "b", "c"), standing.values(), OPTIONS)


@pytest.mark.parametrize(
    "refused",
    [
        lambda: count_votes(MAJORITY, (), []),
        lambda: count_votes(MAJORITY, ("a", "a"), []),
        lambda: count_votes(threshold(3), ("a", "b"), []),
        lambda: threshold(0),
        lambda: super_majority(Fraction(1, 2)),
        lambda: super_majority(Fraction(4, 3)),
        lambda: by_weight({"a": Fraction(1)}, Fraction(1)),
        lambda: count_votes(by_weight({"a": Fraction(1)}), ("a", "b"), []),
        lambda: count_votes(by_weight({"a": Fraction(-1), "b": Fraction(2)}), ("a", "b"), []),
        lambda: count_votes(by_weight({"a": Fraction(0)}), ("a",), []),
        lambda: count_votes(MAJORITY, ("a",), [Ballot.cast("z", "yes")]),
        lambda: count_votes(MAJORITY, ("a",), [Ballot.cast("a", "yes"), Ballot.cast("a", "yes")]),
        lambda: count_votes(MAJORITY, ("a",), [Ballot.cast("a", "perhaps")], ("yes", "no")),
        lambda: count_votes(MAJORITY, ("a",), [Ballot("a")]),
        lambda: VotingRule(Rule.MAJORITY, share=Fraction(2, 3)),
        lambda: VotingRule(Rule.THRESHOLD),
        lambda: VotingRule(Rule.WEIGHTED, share=Fraction(1, 2)),
    ],
)
def test_what_cannot_be_counted_is_refused_with_a_next_step(refused) -> None:
    with pytest.raises(InvalidInputError) as error:
        refused()
    assert error.value.next_step


@examples(20)
@given(elections())
def test_an_outcome_is_json_and_names_its_rule(election) -> None:
    voters, deeds, rule = election
    outcome = count_votes(rule, voters, ballots_of(deeds), OPTIONS).as_json()
    assert json.loads(json.dumps(outcome)) == outcome
    assert outcome["rule"] == rule.kind.value
    assert outcome["reason"]
