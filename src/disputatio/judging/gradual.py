"""How strong an argument is after what was said, as a number: the DF-QuAD gradual semantics.

Source: Rago, Toni, Aurisicchio and Baroni 2016, "Discontinuity-free decision support with quantitative argumentation
debates" (KR 2016). Every node has a base score; attackers and supporters are aggregated by the probabilistic sum and
the difference moves the base score towards 0 or 1. All numbers are exact fractions.

Nobody's base score is known beforehand here, so each is one half unless the caller has better: the strength is a
measure of the exchange alone, as the grounded standing is, and not of the judge's liking.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction
from functools import lru_cache
from graphlib import CycleError, TopologicalSorter

from disputatio.judging.standing import Exchange, Mark

HALF = Fraction(1, 2)


def aggregate(strengths: Iterable[Fraction]) -> Fraction:
    """The probabilistic sum of ``strengths``, each 0 to 1; 0 of none."""
    left = Fraction(1)
    for strength in strengths:
        left *= 1 - strength
    return 1 - left


def combine(base: Fraction, attack: Fraction, support: Fraction) -> Fraction:
    """``base`` moved towards 0 by an excess of attack, towards 1 by an excess of support."""
    if attack >= support:
        return base - base * (attack - support)
    return base + (1 - base) * (support - attack)


def strengths(
    bases: Mapping[str, Fraction], attacks: Iterable[tuple[str, str]], supports: Iterable[tuple[str, str]] = ()
) -> dict[str, Fraction]:
    """The strength of every node, 0 to 1, of an acyclic graph.

    Args:
        bases: the base score of each node, 0 to 1.
        attacks: (attacker, target).
        supports: (supporter, target).

    Raises:
        ValueError: a base score is out of range, an edge names an unknown node, or the graph has a cycle.
    """
    attackers: dict[str, list[str]] = {node: [] for node in bases}
    supporters: dict[str, list[str]] = {node: [] for node in bases}
    for edges, kept in ((attacks, attackers), (supports, supporters)):
        for source, target in edges:
            if source not in bases or target not in bases:
                raise ValueError(f"the edge {source} -> {target} names an unknown node")
            kept[target].append(source)
    if any(not 0 <= base <= 1 for base in bases.values()):
        raise ValueError("a base score is between 0 and 1")
    try:
        order = list(TopologicalSorter({node: [*attackers[node], *supporters[node]] for node in bases}).static_order())
    except CycleError:
        raise ValueError("the graph has a cycle, and this semantics is for acyclic ones") from None
    found: dict[str, Fraction] = {}
    for node in order:
        attack = aggregate(found[source] for source in attackers[node])
        support = aggregate(found[source] for source in supporters[node])
        found[node] = combine(bases[node], attack, support)
    return found


_FORCE = {"refute": HALF, "challenge": HALF, "partial": Fraction(1, 4), "concede": HALF}
"""Base scores of responses. A partial response disputes degree or scope only, so it has half the force."""

_DEFENCE = {Mark.MET: Fraction(1), Mark.PARTLY_MET: HALF, Mark.EVADED: Fraction(0), Mark.UNMARKED: HALF, None: HALF}
"""Base scores of answers, by how far they meet the question. One that nobody marked may go either way."""


def exchange_strength(exchange: Exchange, base: Fraction = HALF) -> Fraction:
    """The strength of one argument after its exchange, 0 to 1; 0 where its own side withdrew it.

    A response attacks the argument, or supports it where it concedes; an answer attacks the response.
    """
    if exchange.hold == "withdrawn":
        return Fraction(0)
    answers = tuple((reply.kind, _DEFENCE[reply.mark] if reply.answered else None) for reply in exchange.replies)
    return _strength(answers, base)


# There are few different exchanges, and every argument of every debate has one.
@lru_cache(maxsize=1024)
def _strength(replies: tuple[tuple[str, Fraction | None], ...], base: Fraction) -> Fraction:
    bases = {"argument": base}
    attacks: list[tuple[str, str]] = []
    supports: list[tuple[str, str]] = []
    for number, (kind, defence) in enumerate(replies):
        response, answer = f"response-{number}", f"answer-{number}"
        bases[response] = _FORCE[kind]
        (supports if kind == "concede" else attacks).append((response, "argument"))
        if defence is not None and kind != "concede":
            bases[answer] = defence
            attacks.append((answer, response))
    return strengths(bases, attacks, supports)["argument"]
