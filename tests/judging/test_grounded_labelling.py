"""The grounded labelling equals the smallest complete extension, found by trying every set of arguments.

The oracle knows nothing of labels. It is the definition of Dung 1995: a set is conflict-free when none of its
members attacks another, a node is acceptable to a set that attacks every attacker of the node, a complete
extension is a conflict-free set that holds exactly what is acceptable to it, and the grounded extension is the
smallest of them.
"""

from __future__ import annotations

from itertools import chain, combinations, product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from disputatio.judging.standing import Label, grounded_labelling
from strategies import examples

Attack = tuple[str, str]
Framework = tuple[list[str], list[Attack]]


def grounded_extension(nodes: list[str], attacks: list[Attack]) -> frozenset[str]:
    """By enumeration; usable up to six or seven nodes."""
    attackers = {node: {source for source, target in attacks if target == node} for node in nodes}

    def acceptable(to: frozenset[str]) -> frozenset[str]:
        return frozenset(
            node for node in nodes if all(any(friend in to for friend in attackers[foe]) for foe in attackers[node])
        )

    subsets = map(frozenset, chain.from_iterable(combinations(nodes, size) for size in range(len(nodes) + 1)))
    complete = [
        chosen
        for chosen in subsets
        if not any(source in chosen and target in chosen for source, target in attacks) and acceptable(chosen) == chosen
    ]
    smallest = min(complete, key=len)
    assert all(smallest <= other for other in complete), "the smallest complete extension is part of all others"
    return smallest


def expected(nodes: list[str], attacks: list[Attack]) -> dict[str, Label]:
    extension = grounded_extension(nodes, attacks)
    beaten = {target for source, target in attacks if source in extension}
    return {node: Label.IN if node in extension else Label.OUT if node in beaten else Label.UNDECIDED for node in nodes}


def every_framework(size: int) -> list[Framework]:
    nodes = list("abc"[:size])
    pairs = list(product(nodes, nodes))
    return [
        (nodes, [pair for pair, there in zip(pairs, chosen, strict=True) if there])
        for chosen in product((False, True), repeat=len(pairs))
    ]


@pytest.mark.parametrize(("size", "how_many"), [(0, 1), (1, 2), (2, 16), (3, 512)])
def test_every_framework_of_up_to_three_nodes_is_labelled(size: int, how_many: int) -> None:
    """Every framework of up to three nodes is labelled as enumeration finds."""
    frameworks = every_framework(size)
    assert len(frameworks) == how_many
    for nodes, attacks in frameworks:
        assert grounded_labelling(nodes, attacks) == expected(nodes, attacks), attacks


frameworks = st.lists(st.sampled_from("abcdef"), min_size=1, max_size=6, unique=True).flatmap(
    lambda nodes: st.tuples(
        st.just(nodes), st.lists(st.tuples(st.sampled_from(nodes), st.sampled_from(nodes)), max_size=14)
    )
)


@examples(50)
@given(frameworks)
def test_random_frameworks_are_labelled_as_enumeration_finds(framework: Framework) -> None:
    assert grounded_labelling(*framework) == expected(*framework)


@given(frameworks, st.randoms(use_true_random=False))
def test_the_labelling_does_not_depend_on_the_order_of_nodes(framework: Framework, shuffle: object) -> None:
    """The labelling does not depend on the order of nodes and attacks."""
    nodes, attacks = framework
    mixed = sorted(nodes, key=lambda _: shuffle.random()), sorted(attacks, key=lambda _: shuffle.random())  # type: ignore[attr-defined]
    assert grounded_labelling(*mixed) == grounded_labelling(nodes, attacks)


IN, OUT, UNDECIDED = Label.IN, Label.OUT, Label.UNDECIDED

LITERATURE: dict[str, tuple[str, str, dict[str, Label]]] = {
    # Dung 1995, the blame for a blocked negotiation: i1 and a attack each other, i2 attacks a.
    "Dung: the last word has it": ("i1 a i2", "i1>a a>i1 i2>a", {"i1": IN, "a": OUT, "i2": IN}),
    "Dung: two attack each other": ("i1 a", "i1>a a>i1", {"i1": UNDECIDED, "a": UNDECIDED}),
    # Dung 1995, after Reiter: Nixon is a Quaker and a Republican.
    "Nixon diamond": ("pacifist hawk", "pacifist>hawk hawk>pacifist", {"pacifist": UNDECIDED, "hawk": UNDECIDED}),
    # Caminada 2006, "On the issue of reinstatement in argumentation": C attacks B, which attacks A.
    "Caminada: reinstatement": ("A B C", "C>B B>A", {"A": IN, "B": OUT, "C": IN}),
    "an even chain leaves its end beaten": ("A B C D", "D>C C>B B>A", {"A": OUT, "B": IN, "C": OUT, "D": IN}),
    "an argument that attacks itself": ("A B", "A>A A>B", {"A": UNDECIDED, "B": UNDECIDED}),
    "one beaten from outside though it attacks itself": ("A B C", "A>A A>B C>A", {"A": OUT, "B": IN, "C": IN}),
    "an odd cycle": ("A B C", "A>B B>C C>A", dict.fromkeys("ABC", UNDECIDED)),
    "an even cycle": ("A B C D", "A>B B>C C>D D>A", dict.fromkeys("ABCD", UNDECIDED)),
    # Floating reinstatement: A and B attack each other, both attack C, which attacks D.
    "floating reinstatement is not sceptical": ("A B C D", "A>B B>A A>C B>C C>D", dict.fromkeys("ABCD", UNDECIDED)),
    "a cycle broken from outside": ("A B C D", "A>B B>C C>A D>A", {"A": OUT, "B": IN, "C": OUT, "D": IN}),
    "nobody attacks": ("A B", "", {"A": IN, "B": IN}),
}


@pytest.mark.parametrize("name", LITERATURE)
def test_examples_of_the_literature_come_out_as_published(name: str) -> None:
    nodes, attacks, labels = LITERATURE[name]
    pairs = [tuple(attack.split(">")) for attack in attacks.split()]
    assert grounded_labelling(nodes.split(), pairs) == labels  # type: ignore[arg-type]


@pytest.mark.parametrize("attack", [("a", "ghost"), ("ghost", "a")])
def test_an_attack_on_or_by_an_unknown_node_is_an_error(attack: Attack) -> None:
    with pytest.raises(ValueError, match="unknown node"):
        grounded_labelling(["a"], [attack])
