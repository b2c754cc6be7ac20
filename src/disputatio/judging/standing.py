"""How an argument stands, computed from what was said about it.

The exchange about one argument is an argumentation framework (Dung 1995, "On the acceptability of arguments
and its fundamental role in nonmonotonic reasoning, logic programming and n-person games"), and the standing is
read off its grounded labelling, the one a sceptical reader can defend:

- a **challenge** asks for evidence and attacks the argument; an answer discharges it, so the answer
  attacks the challenge;
- a **refutation** attacks the argument; an answer disputes it, and code cannot tell who is right: the two
  attack each other;
- a **partial** response leaves the core alone and attacks the rest in the way a challenge does;
- a **concession** attacks nothing.

An argument its owner withdraws is REFUTED; one its owner narrows is at best PARTIALLY_UPHELD. The labelling
knows nothing of truth: it says what the exchange left standing, and is shown beside the judge's own
standing so that a reader sees where the two part.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache


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
    """The grounded labelling of the framework ``(nodes, attacks)``; an attack is (attacker, target).

    A node is IN when all its attackers are OUT, and OUT when one of them is IN; what neither rule reaches is
    UNDECIDED (the labelling of Caminada 2006; its IN nodes are Dung's grounded extension).

    Raises:
        ValueError: an attack names a node that is not among ``nodes``.
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


@dataclass(frozen=True, slots=True)
class Reply:
    """One response to an argument: ``refute``, ``challenge``, ``concede`` or ``partial``, answered or not."""

    kind: str
    answered: bool


@dataclass(frozen=True, slots=True)
class Exchange:
    """All that was said about one argument. ``hold`` is its owner's last word, None where it gave none."""

    argument: str
    replies: tuple[Reply, ...]
    hold: str | None


def computed_standing(exchange: Exchange) -> tuple[Standing, str]:
    """The standing that follows from ``exchange``, and why, in one sentence."""
    return _standing(exchange.replies, exchange.hold)


@lru_cache(maxsize=1024)  # few exchanges differ in anything but their words
def _standing(replies: tuple[Reply, ...], hold: str | None) -> tuple[Standing, str]:
    if hold == "withdrawn":
        return Standing.REFUTED, "its own side withdrew it"
    if not replies:
        return Standing.UNCERTAIN, "the other side never responded to it"
    labels = grounded_labelling(*_framework(replies))
    core, rest = labels["core"], labels["rest"]
    kinds = {reply.kind for reply in replies}
    unanswered = {reply.kind for reply in replies if not reply.answered}
    if core is Label.UNDECIDED:
        return Standing.UNCERTAIN, "a refutation was answered and neither prevails"
    if core is Label.OUT:
        if "refute" in unanswered:
            return Standing.REFUTED, "a refutation went unanswered"
        return Standing.UNCERTAIN, "a challenge to its evidence went unanswered"
    if hold == "narrowed":
        return Standing.PARTIALLY_UPHELD, "its own side narrowed it"
    if rest is not Label.IN:
        return Standing.PARTIALLY_UPHELD, "its degree or scope was disputed and not defended"
    if kinds == {"concede"}:
        return Standing.UPHELD, "the other side conceded it"
    return Standing.UPHELD, "every objection was answered"


def _framework(replies: tuple[Reply, ...]) -> tuple[list[str], list[tuple[str, str]]]:
    nodes, attacks = ["core", "rest"], []
    for number, reply in enumerate(replies):
        response, answer = f"response-{number}", f"answer-{number}"
        targets: Mapping[str, tuple[str, ...]] = {
            "refute": ("core", "rest"),
            "challenge": ("core", "rest"),
            "partial": ("rest",),
            "concede": (),
        }
        nodes.append(response)
        attacks += [(response, target) for target in targets[reply.kind]]
        if reply.answered:
            nodes.append(answer)
            attacks.append((answer, response))
            if reply.kind == "refute":
                attacks.append((response, answer))
    return nodes, attacks
