"""Compute how an argument stands after its exchange, as a standing and as a strength.

The exchange about one argument is an argumentation framework (Dung 1995, "On the acceptability of arguments and its
fundamental role in nonmonotonic reasoning, logic programming and n-person games"). Its grounded labelling, which a
sceptical reader can defend, gives the standing:

- a **challenge** asks for evidence and attacks the argument;
- a **refutation** attacks the argument too;
- a **partial** response leaves the core alone and attacks the rest;
- a **concession** attacks nothing.

The effect of an answer depends on whether it meets the question, which a judge marks (``Mark``):

- an answer that **meets** it attacks the response, which is then out;
- one that **partly meets** it saves the core from the response, not the rest;
- one that **evades** it does nothing, like no answer;
- an **unmarked** one and its response attack each other: neither prevails.

In formats without marks an answer defeats a challenge or a partial response, and disputes a refutation: the two attack
each other, because code cannot tell who is right.

A withdrawn argument is REFUTED; a narrowed one is at best PARTIALLY_UPHELD. The labelling does not know the truth. It
is shown beside the judge's own standing, so that a reader sees where they differ.

The strength is a number by the DF-QuAD semantics (Rago, Toni, Aurisicchio and Baroni 2016, "Discontinuity-free decision
support with quantitative argumentation debates", KR 2016). Attackers and supporters of a node are aggregated by the
probabilistic sum, and the difference moves the base score towards 0 or 1. Base scores are one half unless the caller
has better ones, so the strength measures the exchange, not the judge's preference. Numbers are exact fractions.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from functools import lru_cache
from graphlib import CycleError, TopologicalSorter


class Standing(StrEnum):
    """Where an argument ended (structured debate protocol, "Level 2: Argument Trace Table")."""

    UPHELD = "UPHELD"
    PARTIALLY_UPHELD = "PARTIALLY_UPHELD"
    REFUTED = "REFUTED"
    UNCERTAIN = "UNCERTAIN"


class Label(StrEnum):
    """The grounded label of a node: accepted, rejected, or neither."""

    IN = "in"
    OUT = "out"
    UNDECIDED = "undecided"


def grounded_labelling(nodes: Iterable[str], attacks: Iterable[tuple[str, str]]) -> dict[str, Label]:
    """Return the grounded labelling of the framework ``(nodes, attacks)``; an attack is (attacker, target).

    A node is IN if all its attackers are OUT, and OUT if one of them is IN; others are UNDECIDED (Caminada 2006; the IN
    nodes are Dung's grounded extension).

    Raises:
        ValueError: an attack names an unknown node.
    """
    labels = dict.fromkeys(nodes, Label.UNDECIDED)
    attackers: dict[str, set[str]] = {node: set() for node in labels}
    for attacker, target in attacks:
        if attacker not in labels or target not in labels:
            raise ValueError(f"the attack {attacker} -> {target} names an unknown node")
        attackers[target].add(attacker)
    changed = True
    while changed:
        changed = False
        for node, label in labels.items():
            if label is not Label.UNDECIDED:
                continue
            sources = [labels[attacker] for attacker in attackers[node]]
            if all(source is Label.OUT for source in sources):
                labels[node] = Label.IN
            elif Label.IN in sources:
                labels[node] = Label.OUT
            else:
                continue
            changed = True
    return labels


class Mark(StrEnum):
    """How far an answer meets its question."""

    MET = "met"
    PARTLY_MET = "partly_met"
    EVADED = "evaded"
    UNMARKED = "unmarked"
    """No judge marked it, or the words quoted for the mark were never spoken."""


_FROM_WORST = (Mark.EVADED, Mark.UNMARKED, Mark.PARTLY_MET, Mark.MET)


def combine_marks(marks: Iterable[Mark]) -> Mark:
    """Return the median of the judges' marks from evaded to met, the lower of two, without unmarked ones."""
    known = sorted((mark for mark in marks if mark is not Mark.UNMARKED), key=_FROM_WORST.index)
    return known[(len(known) - 1) // 2] if known else Mark.UNMARKED


def find_worst_mark(marks: Iterable[Mark]) -> Mark:
    """Return the mark of a response: that of its worst answer.

    Raises:
        ValueError: there are none.
    """
    return min(marks, key=_FROM_WORST.index)


@dataclass(frozen=True, slots=True)
class Reply:
    """One response to an argument: ``refute``, ``challenge``, ``concede`` or ``partial``, answered or not.

    ``mark`` is how far the answers meet its questions; None in formats without marks.
    """

    kind: str
    answered: bool
    mark: Mark | None = None


@dataclass(frozen=True, slots=True)
class Exchange:
    """All responses to one argument. ``hold`` is its owner's last word, or None."""

    argument: str
    replies: tuple[Reply, ...]
    hold: str | None


def compute_standing(exchange: Exchange) -> tuple[Standing, str]:
    """Return the standing after ``exchange``, and why in one sentence."""
    return _compute_standing(exchange.replies, exchange.hold)


@lru_cache(maxsize=1024)  # few exchanges differ in anything but their words
def _compute_standing(replies: tuple[Reply, ...], hold: str | None) -> tuple[Standing, str]:
    if hold == "withdrawn":
        return Standing.REFUTED, "its own side withdrew it"
    if not replies:
        return Standing.UNCERTAIN, "the other side never responded to it"
    labels = grounded_labelling(*_build_framework(replies))
    core, rest = labels["core"], labels["rest"]
    open_ones = [reply for reply in replies if not _has_answer(reply)]
    refuting = [reply for reply in open_ones if reply.kind == "refute"]
    if core is Label.UNDECIDED:
        if any(reply.mark is Mark.UNMARKED for reply in replies):
            return Standing.UNCERTAIN, "no judge said whether the answers meet the questions"
        return Standing.UNCERTAIN, "a refutation was answered and neither prevails"
    if core is Label.OUT:
        if refuting:
            return Standing.REFUTED, f"a refutation {_describe_unmet(refuting)}"
        return Standing.UNCERTAIN, f"a challenge to its evidence {_describe_unmet(open_ones)}"
    if hold == "narrowed":
        return Standing.PARTIALLY_UPHELD, "its own side narrowed it"
    if rest is not Label.IN:
        if any(reply.mark is Mark.PARTLY_MET for reply in replies):
            return Standing.PARTIALLY_UPHELD, "an objection was met in part"
        return Standing.PARTIALLY_UPHELD, "its degree or scope was disputed and not defended"
    if {reply.kind for reply in replies} == {"concede"}:
        return Standing.UPHELD, "the other side conceded it"
    return Standing.UPHELD, "every objection was met" if _has_marks(replies) else "every objection was answered"


def _has_answer(reply: Reply) -> bool:
    """Whether an answer counters the response; an evading one does not."""
    return reply.answered and reply.mark is not Mark.EVADED


def _describe_unmet(replies: list[Reply]) -> str:
    return "was evaded" if all(reply.answered for reply in replies) else "went unanswered"


def _has_marks(replies: tuple[Reply, ...]) -> bool:
    return any(reply.mark is not None for reply in replies)


_TARGETS = {"refute": ("core", "rest"), "challenge": ("core", "rest"), "partial": ("rest",), "concede": ()}


def _build_framework(replies: tuple[Reply, ...]) -> tuple[list[str], list[tuple[str, str]]]:
    nodes, attacks = ["core", "rest"], []
    for number, reply in enumerate(replies):
        answer = f"answer-{number}"
        # A response attacks core and rest through separate nodes, so that an answer may save one of them.
        against = {target: f"response-{number}-{target}" for target in _TARGETS[reply.kind]}
        nodes += against.values()
        attacks += [(response, target) for target, response in against.items()]
        if not _has_answer(reply):
            continue
        nodes.append(answer)
        saved = [node for target, node in against.items() if reply.mark is not Mark.PARTLY_MET or target == "core"]
        attacks += [(answer, response) for response in saved]
        if reply.mark is Mark.UNMARKED or (reply.mark is None and reply.kind == "refute"):
            attacks += [(response, answer) for response in saved]
    return nodes, attacks


@dataclass(frozen=True, slots=True)
class AgreedPoint:
    """An argument that one side conceded and its owner still maintains."""

    argument: str
    claim: str
    conceded_by: str


def find_agreed_points(
    claims: Iterable[tuple[str, str, str]], conceded: Iterable[str], withdrawn: Iterable[str]
) -> tuple[AgreedPoint, ...]:
    """Return the agreed points, which come only from explicit concessions.

    Args:
        claims: (argument id, claim, opposing side), in the order of the list.
        conceded: ids that the opposing side conceded entirely, in cross-examination.
        withdrawn: ids that their owner gave up in the closing.
    """
    given, dropped = frozenset(conceded), frozenset(withdrawn)
    return tuple(
        AgreedPoint(argument, claim, opponent)
        for argument, claim, opponent in claims
        if argument in given and argument not in dropped
    )


HALF = Fraction(1, 2)


def aggregate(strengths: Iterable[Fraction]) -> Fraction:
    """Return the probabilistic sum of ``strengths``, each 0 to 1; 0 without any."""
    left = Fraction(1)
    for strength in strengths:
        left *= 1 - strength
    return 1 - left


def combine(base: Fraction, attack: Fraction, support: Fraction) -> Fraction:
    """Move ``base`` towards 0 by an excess of attack, towards 1 by an excess of support."""
    if attack >= support:
        return base - base * (attack - support)
    return base + (1 - base) * (support - attack)


def compute_strengths(
    bases: Mapping[str, Fraction], attacks: Iterable[tuple[str, str]], supports: Iterable[tuple[str, str]] = ()
) -> dict[str, Fraction]:
    """Compute the strength of every node of an acyclic graph, 0 to 1.

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
"""Base scores of responses. A partial one disputes only degree or scope, so it has half the force."""

_DEFENCE = {Mark.MET: Fraction(1), Mark.PARTLY_MET: HALF, Mark.EVADED: Fraction(0), Mark.UNMARKED: HALF, None: HALF}
"""Base scores of answers by their marks. An unmarked one may go either way."""


def compute_exchange_strength(exchange: Exchange, base: Fraction = HALF) -> Fraction:
    """Compute the strength of an argument after its exchange, 0 to 1; 0 if withdrawn.

    A response attacks the argument, or supports it by conceding; an answer attacks the response.
    """
    if exchange.hold == "withdrawn":
        return Fraction(0)
    answers = tuple((reply.kind, _DEFENCE[reply.mark] if reply.answered else None) for reply in exchange.replies)
    return _compute_strength(answers, base)


# Cached: every argument has an exchange, and few of them differ.
@lru_cache(maxsize=1024)
def _compute_strength(replies: tuple[tuple[str, Fraction | None], ...], base: Fraction) -> Fraction:
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
    return compute_strengths(bases, attacks, supports)["argument"]
