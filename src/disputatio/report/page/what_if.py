"""Standings, strengths, totals and agreed points of a debate, computed again without what a reader struck.

The rules are those of the debate itself; this module calls them and adds one: what is struck was never said.

    an argument    has no standing, no score and no agreement; what was said about it is gone with it
    a response     attacks or concedes nothing; an argument that drew no other is one that drew none
    a criticism    of a review aims at nothing
    an answer      to a criticism was not given
    a quote        is no citation. Figures of a market debate are checked against the base without it. In a review, what
                   rests on evidence and has no citation left is struck by the rules. Elsewhere no standing depends on
                   citations

What people and models said later stays as it is, also where it answers what is struck: a withdrawal holds, and so do
the judge's scores, marks and standings. `disputatio fork` asks them again. Of a review the moderator's standing of an
argument is computed from how the moderator settled the criticisms, so it is computed again.

The script of the page (``page/templates/what_if.js``) follows the same rules; tests hold the two to each other.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from disputatio.formats.market_verdict import hold_against_figures
from disputatio.formats.review_verdict import VOID, computed_of_criticism, standing_under
from disputatio.formats.turns.criticism import RebuttalKind
from disputatio.judging.challenge import Attack
from disputatio.judging.scoring import mean, round_half_up
from disputatio.judging.standing import Exchange, Mark, Reply, Standing, compute_exchange_strength, compute_standing
from disputatio.report.page.argument_graph import ArgumentGraph, Drawn, Family, Node, Quote, argument_graph

if TYPE_CHECKING:
    from disputatio.report.page.exchange import Exchange as DebateExchange
    from disputatio.report.reading import DebateReport


@dataclass(frozen=True, slots=True)
class Found:
    """What was computed for one argument.

    ``computed`` is ``STRUCK`` where the reader struck it, ``VOID`` where the rules did. ``strength`` is exact.
    """

    computed: str
    because: str
    strength: Fraction | None
    judged: str | None

    @property
    def differs(self) -> bool:
        """Whether the judge's standing and the computed one part."""
        return self.judged is not None and self.judged != self.computed


@dataclass(frozen=True, slots=True)
class WhatIf:
    """A debate without what was struck: arguments by name, totals by side, agreed points, citations by status."""

    arguments: Mapping[str, Found]
    totals: Mapping[str, Fraction | None]
    agreed: tuple[str, ...]
    quotes: Mapping[str, int]

    @property
    def differing(self) -> tuple[str, ...]:
        """The arguments on which judge and computation part."""
        return tuple(name for name, row in self.arguments.items() if row.differs)


STRUCK = "STRUCK"
_UNCITED = "uncited evidence: it says that it rests on evidence and cites none"


def recompute(graph: ArgumentGraph, struck: Collection[str]) -> WhatIf:
    """The debate of ``graph`` without what was ``struck``. Names that it does not have strike nothing."""
    gone = frozenset(struck)
    found = _review(graph, gone) if graph.family is Family.REVIEW else _exchanges(graph, gone)
    out = {name for name, row in found.items() if row.computed in {STRUCK, VOID}}
    scores = {node.id: node.score for node in graph.nodes}
    totals = {
        side: mean(
            [Fraction(score, 10_000) for name in ids if name not in gone and (score := scores[name]) is not None]
        )
        for side, ids in graph.totals.items()
    }
    agreed = tuple(
        node.id
        for node in graph.nodes
        if node.id in graph.agreed
        and node.id not in out
        and any(row.kind == "concede" and row.id not in gone for row in node.drew)
    )
    quotes: dict[str, int] = {}
    for node in graph.nodes:
        rows = [(node.id, node.quotes), *((row.id, row.quotes) for row in node.drew)]
        for each in [each for name, cited in rows if not gone & {name, node.id} for each in _left(cited, gone)]:
            quotes[each.status] = quotes.get(each.status, 0) + 1
    return WhatIf(found, totals, agreed, quotes)


def what_if_graph(report: DebateReport, exchange: DebateExchange) -> ArgumentGraph | None:
    """The graph of a debate of which a reader may strike something; None where a what-if would mislead.

    That is where the rules of this version do not give the standings that the record has: it may come from an earlier
    version, or state words that these rules do not know.
    """
    try:
        graph = argument_graph(report, exchange)
        return graph if graph is not None and _agrees_with_record(graph) else None
    except (ValueError, KeyError):
        return None


def _agrees_with_record(graph: ArgumentGraph) -> bool:
    found = recompute(graph, ()).arguments
    return all(
        found[node.id].computed == node.computed
        and found[node.id].judged == node.judged
        and (node.strength is None or _shown(found[node.id].strength) == node.strength)
        for node in graph.nodes
    )


def _shown(strength: Fraction | None) -> float | None:
    return None if strength is None else round_half_up(strength, 4)


def _left(quotes: Collection[Quote], gone: frozenset[str]) -> list[Quote]:
    return [row for row in quotes if row.id not in gone]


def _exchanges(graph: ArgumentGraph, gone: frozenset[str]) -> dict[str, Found]:
    market = graph.family is Family.MARKET
    return {
        node.id: Found(STRUCK, "you struck it", None, None)
        if node.id in gone
        else (_in_market(node, gone) if market else _in_exchange(node, gone))
        for node in graph.nodes
    }


def _reply(row: Drawn) -> Reply:
    return Reply(row.kind, row.answered, None if row.mark is None else Mark(row.mark))


def _in_exchange(node: Node, gone: frozenset[str]) -> Found:
    replies = tuple(_reply(row) for row in node.drew if row.id not in gone)
    exchange = Exchange(node.id, replies, node.hold)
    standing, because = compute_standing(exchange)
    return Found(standing.value, because, compute_exchange_strength(exchange), node.judged)


_SOUND = frozenset({"verified", "repaired", "inferred"})


def _in_market(node: Node, gone: frozenset[str]) -> Found:
    rows = [row for row in node.drew if row.id not in gone]
    sound = [all(each.status in _SOUND for each in _left(row.quotes, gone)) for row in rows]
    replies = tuple(_reply(row) for row, holds in zip(rows, sound, strict=True) if holds)
    exchange = Exchange(node.id, replies, node.hold)
    standing, because = compute_standing(exchange)
    found, why = hold_against_figures(
        standing,
        because,
        sound=sound,
        statuses=[row.status for row in _left(node.quotes, gone)],
        has_false_words=node.has_false_words,
    )
    return Found(found.value, why, compute_exchange_strength(exchange), node.judged)


@dataclass(frozen=True, slots=True)
class _Criticism:
    id: str
    attack: Attack


def _review(graph: ArgumentGraph, gone: frozenset[str]) -> dict[str, Found]:
    out = {node.id: row for node in graph.nodes if (row := _out_of_review(node, gone))}
    criticisms = [node for node in graph.nodes if node.target and node.id not in out]
    computed = {node.id: computed_of_criticism(_answer(node, gone)) for node in criticisms}
    found: dict[str, Found] = {}
    for node in graph.nodes:
        if node.id in out:
            found[node.id] = out[node.id]
            continue
        if node.target:
            standing, because = computed[node.id]
            found[node.id] = Found(standing.value, because, None, node.judged)
            continue
        against = [(_Criticism(row.id, Attack(row.attack)), row) for row in criticisms if row.target == node.id]
        standing, because = standing_under((each, computed[row.id][0]) for each, row in against)
        # The moderator settles every remaining criticism, or none.
        settled = [(each, Standing(row.judged)) for each, row in against if row.judged is not None]
        judged = standing_under(settled)[0].value if node.judged is not None else None
        found[node.id] = Found(standing.value, because, None, judged)
    return found


def _out_of_review(node: Node, gone: frozenset[str]) -> Found | None:
    """Why an argument or criticism has no standing; None where it has one."""
    if node.id in gone:
        return Found(STRUCK, "you struck it", None, None)
    if node.computed == VOID:
        return Found(VOID, "the rules of the debate struck it", None, None)
    if node.rests_on_evidence and not _left(node.quotes, gone):
        return Found(VOID, _UNCITED, None, None)
    return None


def _answer(node: Node, gone: frozenset[str]) -> RebuttalKind | None:
    """The judgement of a criticism in the answer to it; None if no answer remains."""
    rows = [row for row in node.drew if row.id not in gone]
    return RebuttalKind(rows[0].kind) if rows else None
