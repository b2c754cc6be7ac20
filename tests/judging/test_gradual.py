"""The gradual semantics against the paper's formulas, its stated properties, and a written-out oracle."""

from __future__ import annotations

from fractions import Fraction
from math import prod

import pytest
from hypothesis import given
from hypothesis import strategies as st

from disputatio.judging.standing import (
    Exchange,
    Reply,
    aggregate,
    combine,
    compute_exchange_strength,
    compute_strengths,
)

scores = st.fractions(0, 1, max_denominator=20)


def test_the_sequence_of_strengths_is_aggregated():
    # Rago et al. 2016, definition 1: F() = 0, F(v) = v, F(v1, v2) = v1 + (1 - v1) v2.
    """The sequence of strengths is aggregated as the paper defines it."""
    assert aggregate([]) == 0
    assert aggregate([Fraction(3, 10)]) == Fraction(3, 10)
    assert aggregate([Fraction(3, 10), Fraction(1, 2)]) == Fraction(3, 10) + Fraction(7, 10) * Fraction(1, 2)


@given(st.lists(scores, max_size=5))
def test_aggregation_is_one_minus_the_product_of_what_is_left(values):
    assert aggregate(values) == 1 - prod((1 - value for value in values), start=Fraction(1))


@given(scores, scores, scores)
def test_combination_stays_in_range_and_turns(base, attack, support):
    # Rago et al. 2016, definition 2.
    """Combination stays in range and turns where attack meets support."""
    strength = combine(base, attack, support)
    assert 0 <= strength <= 1
    if attack == support:
        assert strength == base
    elif attack > support:
        assert strength == base * (1 - (attack - support))
    else:
        assert strength == 1 - (1 - base) * (1 - (support - attack))


def by_recursion(node, bases, attacks, supports):
    def of(edges):
        left = Fraction(1)
        for source, target in edges:
            if target == node:
                left *= 1 - by_recursion(source, bases, attacks, supports)
        return 1 - left

    attack, support, base = of(attacks), of(supports), bases[node]
    return base * (1 - attack + support) if attack >= support else base + (1 - base) * (support - attack)


@given(st.data())
def test_strengths_equal_the_recursive_definition(data):
    """Strengths of any small acyclic graph equal the recursive definition."""
    nodes = [f"n{place}" for place in range(data.draw(st.integers(1, 5)))]
    bases = {node: data.draw(scores) for node in nodes}
    pairs = [(nodes[low], nodes[high]) for low in range(len(nodes)) for high in range(low)]
    kinds = {pair: data.draw(st.sampled_from(["none", "attack", "support"])) for pair in pairs}
    attacks = [pair for pair, kind in kinds.items() if kind == "attack"]
    supports = [pair for pair, kind in kinds.items() if kind == "support"]
    found = compute_strengths(bases, attacks, supports)
    assert found == {node: by_recursion(node, bases, attacks, supports) for node in nodes}


def test_a_cycle_an_unknown_node_and_a_score_out():
    """A cycle an unknown node and a score out of range are refused."""
    half = Fraction(1, 2)
    with pytest.raises(ValueError, match="cycle"):
        compute_strengths({"a": half, "b": half}, [("a", "b"), ("b", "a")])
    with pytest.raises(ValueError, match="unknown"):
        compute_strengths({"a": half}, [("b", "a")])
    with pytest.raises(ValueError, match="between"):
        compute_strengths({"a": Fraction(3, 2)}, [])


def test_every_further_objection_weakens():
    """Every further objection weakens and every answer strengthens."""

    def strength(*replies, hold="stands"):
        return compute_exchange_strength(
            Exchange("PRO-1", tuple(Reply(kind, answered) for kind, answered in replies), hold)
        )

    assert strength() == Fraction(1, 2)
    assert strength(("concede", False)) > strength()
    assert strength(("partial", False)) < strength()
    assert strength(("refute", False)) < strength(("partial", False))
    assert strength(("refute", False)) < strength(("refute", True)) < strength()
    assert strength(("refute", False), ("challenge", False)) < strength(("refute", False))
    assert strength(("concede", True), hold="withdrawn") == 0
