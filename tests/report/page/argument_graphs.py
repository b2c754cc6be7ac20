"""Argument graphs of every kind, drawn by a seed: of the structured debate, of the market, of a review."""

from __future__ import annotations

from random import Random

from disputatio.formats.turns.criticism import RebuttalKind
from disputatio.judging.challenge import Attack
from disputatio.judging.standing import Mark
from disputatio.report.page.argument_graph import ArgumentGraph, Drawn, Family, Node, Quote

STANDINGS = ("UPHELD", "PARTIALLY_UPHELD", "REFUTED", "UNCERTAIN")
_STATUSES = ("verified", "repaired", "unverified", "inferred")
_KINDS = ("refute", "challenge", "partial", "concede")
_HOLDS = ("stands", "narrowed", "withdrawn", None)
# Names as rules make them, and some that only a strange record would have.
_STRANGE = ("PRO, 1", "a&at=b", "100%", "<b>é", "con #2")


def _quotes(random: Random, about: str) -> tuple[Quote, ...]:
    return tuple(
        Quote(f"{about} quote {number}", random.choice(_STATUSES))
        for number in range(1, random.choice((0, 0, 1, 2, 4)))
    )


def _drawn(random: Random, name: str, family: Family) -> Drawn:
    answered = random.random() < 0.7
    mark = None
    if family is Family.EXCHANGE:
        mark = random.choice([row.value for row in Mark]) if answered else Mark.EVADED.value
    return Drawn(name, random.choice(_KINDS), answered, mark, _quotes(random, name))


def _node(random: Random, name: str, side: str, family: Family, drew: tuple[Drawn, ...]) -> Node:
    words = [row if family is not Family.MARKET else row.replace("PARTIALLY_UPHELD", "WEAKENED") for row in STANDINGS]
    return Node(
        id=name,
        side=side,
        judged=random.choice([None, *words]),
        computed=random.choice(words),
        strength=None,
        score=random.choice([None, random.randrange(10_000, 100_001)]),
        hold=random.choice(_HOLDS),
        drew=drew,
        quotes=_quotes(random, name),
        has_false_words=family is Family.MARKET and random.random() < 0.3,
    )


def graph_of(seed: int, most: int = 8) -> ArgumentGraph:
    """A graph with up to ``most`` arguments a side."""
    random = Random(seed)
    family = random.choice(list(Family))
    if family is Family.REVIEW:
        return _review(random, most)
    sides = ("pro", "con") if family is Family.EXCHANGE else ("tech_bull", "tech_bear", "fund_bull", "fund_bear")
    nodes = []
    for side in sides:
        for number in range(1, random.randrange(most + 1) + 1):
            name = f"{side.upper()}-{number}" if random.random() < 0.9 else f"{random.choice(_STRANGE)} {side}{number}"
            others = random.sample(["A", "B", "C", "D"], random.choice((0, 1, 1, 1, 2, 4)))
            drew = tuple(_drawn(random, f"{other} on {name}", family) for other in others)
            nodes.append(_node(random, name, side, family, drew))
    return _graph(random, family, nodes)


def _review(random: Random, most: int) -> ArgumentGraph:
    targets = [f"PROP-{number}" for number in range(1, random.randrange(most + 1) + 1)]
    moderated = random.random() < 0.8
    nodes = [_in_review(random, name, "proposer", (), moderated=moderated) for name in targets]
    for number in range(1, random.randrange(2 * most + 1) + 1):
        drew = ()
        if random.random() < 0.7:
            name = f"REB-{number}"
            kind = random.choice(list(RebuttalKind)).value
            drew = (Drawn(name, kind, False, None, _quotes(random, name)),)
        row = _in_review(random, f"CRIT-{number}", "critic", drew, moderated=moderated)
        aimed = {"target": random.choice([*targets, "THESIS"]), "attack": random.choice(list(Attack)).value}
        nodes.append(_changed(row, **aimed))
    return _graph(random, Family.REVIEW, nodes)


def _in_review(random: Random, name: str, side: str, drew: tuple[Drawn, ...], *, moderated: bool) -> Node:
    row = _node(random, name, side, Family.REVIEW, drew)
    computed = "VOID" if random.random() < 0.15 else row.computed
    judged = random.choice(STANDINGS) if moderated and computed != "VOID" else None
    return _changed(row, computed=computed, judged=judged, hold=None, rests_on_evidence=random.random() < 0.4)


def _changed(row: Node, **fields: object) -> Node:
    return Node(**{**{name: getattr(row, name) for name in row.__dataclass_fields__}, **fields})


def _graph(random: Random, family: Family, nodes: list[Node]) -> ArgumentGraph:
    totals: dict[str, tuple[str, ...]] = {}
    for node in nodes:
        side = node.side.rpartition("_")[2]
        totals[side] = (*totals.get(side, ()), node.id)
    agreed = tuple(
        row.id for row in nodes if any(each.kind == "concede" for each in row.drew) and random.random() < 0.8
    )
    return ArgumentGraph(family, tuple(nodes), totals, agreed)


def strikes(graph: ArgumentGraph, seed: int) -> tuple[str, ...]:
    """Some items of a graph, in any order: none, one, some or all."""
    random, names = Random(seed), sorted(graph.ids)
    return tuple(random.sample(names, random.choice((0, min(1, len(names)), len(names) // 2, len(names)))))
