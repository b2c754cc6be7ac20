"""The arguments of a debate with what each drew, as far as its computed standing depends on it.

The graph is read from a record. `disputatio.report.page.what_if` computes standings from it again without what a reader
struck, and the script of the page does the same: so the graph holds what both need and nothing else.

Every item has a name, which addresses and commands use:

    PRO-1                    an argument, or a criticism of a review
    CON on PRO-1             the response of a side to it
    REB-1                    the answer to a criticism
    PRO-1 quote 2            the second citation of an argument
    CON on PRO-1 quote 1     the first citation of a response
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from enum import StrEnum
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from disputatio.judging.standing import Mark, find_worst_mark
from disputatio.motion import one_line
from disputatio.report.json_values import objects_in
from disputatio.report.market import is_market
from disputatio.report.review import contests_in, is_review

if TYPE_CHECKING:
    from disputatio.report.page.exchange import Exchange, Said
    from disputatio.report.reading import DebateReport


class Family(StrEnum):
    """Which rules compute the standings."""

    EXCHANGE = "exchange"
    """`disputatio.judging.standing`: of the structured debate."""
    MARKET = "market"
    """The same, then compared with the figures: `disputatio.formats.market_verdict`."""
    REVIEW = "review"
    """`disputatio.formats.review_verdict`."""


@dataclass(frozen=True, slots=True)
class Quote:
    """A citation: its name, what its check came to, its words, and its place on the page (empty: it has none)."""

    id: str
    status: str
    text: str = ""
    place: str = ""


@dataclass(frozen=True, slots=True)
class Drawn:
    """A response to an argument, or the answer to a criticism.

    Attributes:
        id: its name.
        kind: ``refute``, ``challenge``, ``partial`` or ``concede``.
        answered: whether every question of it was answered.
        mark: how far the answers meet its questions; None where no judge marks answers.
        quotes: what it cites.
    """

    id: str
    kind: str
    answered: bool
    mark: str | None
    quotes: tuple[Quote, ...] = ()


@dataclass(frozen=True, slots=True)
class Node:
    """An argument, or a criticism of a review.

    Attributes:
        id: its name.
        side: who made it.
        judged: the judge's standing; None where there is none.
        computed: the recorded computed standing; ``VOID`` where the rules of the debate struck it.
        strength: the recorded strength, 0 to 1, rounded to 4 decimals; None where the format has none.
        score: weighted points, 1 to 10, in ten-thousandths; None if it was not scored.
        hold: its owner's last word; None where it gave none.
        drew: the responses to it; of a criticism the answers.
        quotes: what it cites.
        has_false_words: in a market debate, whether the base contradicts figures in its own words.
        target: of a criticism, the argument it aims at; empty for an argument.
        attack: of a criticism, its line of attack.
        rests_on_evidence: in a review, whether it says that it rests on evidence.
    """

    id: str
    side: str
    judged: str | None
    computed: str
    strength: float | None
    score: int | None
    hold: str | None
    drew: tuple[Drawn, ...] = ()
    quotes: tuple[Quote, ...] = ()
    has_false_words: bool = False
    target: str = ""
    attack: str = ""
    rests_on_evidence: bool = False


@dataclass(frozen=True, slots=True)
class ArgumentGraph:
    """All arguments of a debate.

    ``totals`` has by side the names of the arguments whose mean score is its total; sides whose total is made in
    another way are left out. ``agreed`` are the arguments that the other side conceded and their owner still holds.
    """

    family: Family
    nodes: tuple[Node, ...]
    totals: Mapping[str, tuple[str, ...]]
    agreed: tuple[str, ...]

    @property
    def ids(self) -> frozenset[str]:
        """The names of everything that can be struck."""
        found: set[str] = set()
        for node in self.nodes:
            found |= {node.id, *(row.id for row in node.quotes)}
            for drawn in node.drew:
                found |= {drawn.id, *(row.id for row in drawn.quotes)}
        return frozenset(found)

    def as_json(self) -> dict[str, Any]:
        """As the page holds it for its script."""
        return {
            "family": self.family.value,
            "nodes": [asdict(node) for node in self.nodes],
            "totals": {side: list(ids) for side, ids in self.totals.items()},
            "agreed": list(self.agreed),
        }


def argument_graph(report: DebateReport, exchange: Exchange) -> ArgumentGraph | None:
    """The graph of a debate whose standings were computed from an exchange; None for any other.

    It is None as well where two items would have the same name.

    Raises:
        ValueError: the record has a mark that is none.
    """
    rows = report.outcome.get("trace")
    if not isinstance(rows, list | tuple) or exchange.verdict is None:
        return None
    trace = [row for row in rows if isinstance(row, Mapping)]
    family = (
        Family.REVIEW if is_review(report.outcome) else Family.MARKET if is_market(report.outcome) else Family.EXCHANGE
    )
    on_evidence = _resting_on_evidence(report.outcome)
    nodes = tuple(_node(exchange, row, family, on_evidence) for row in trace)
    names = [name for node in nodes for name in (node.id, *(row.id for row in node.drew))]
    if not nodes or len(set(names)) < len(names):
        return None
    agreed = tuple(row.id for row in exchange.verdict.agreed)
    return ArgumentGraph(family, nodes, _totals(nodes, exchange.verdict.totals), agreed)


def spell(seat: str) -> str:
    """A seat in the name of a response: ``CON``, ``tech_bear``."""
    return seat.upper() if seat.isalpha() else seat


def _node(exchange: Exchange, row: Mapping[str, Any], family: Family, on_evidence: frozenset[str]) -> Node:
    name = str(row.get("id", ""))
    said = next(iter(exchange.about("argument", name)), None)
    hold = next((held.statement.word for held in exchange.about("hold", name)), None)
    refined = row.get("refined")
    if family is Family.MARKET:
        hold = str(refined["status"]) if isinstance(refined, Mapping) and refined.get("status") else None
    marks = {
        str(answer.get("id")): str(answer.get("mark"))
        for drawn in objects_in(row.get("drew"))
        for answer in objects_in(drawn.get("answers"))
    }
    drew = (_drawn(name, said, hold, marks, exchange, family) for said in exchange.about("response", name))
    score = row.get("weighted")
    strength = row.get("strength")
    return Node(
        id=name,
        side=str(row.get("side", "")),
        judged=str(row["judged"]) if row.get("judged") else None,
        computed=str(row.get("computed", "")),
        strength=float(strength) if isinstance(strength, int | float) else None,
        score=round(score * 10_000) if isinstance(score, int | float) else None,
        hold=hold,
        drew=tuple(_answers(exchange, row) if family is Family.REVIEW else drew),
        quotes=_quotes(name, said),
        has_false_words=bool(row.get("not_borne_out")),
        target=str(row.get("target") or ""),
        attack=str(row.get("attack") or ""),
        rests_on_evidence=name in on_evidence,
    )


_KINDS = {"question evidence": "challenge"}


def _drawn(
    about: str, said: Said, hold: str | None, marks: Mapping[str, str], exchange: Exchange, family: Family
) -> Drawn:
    name = f"{spell(said.seat)} on {about}"
    kind = _KINDS.get(said.statement.word, said.statement.word)
    if family is Family.MARKET:
        # The closing of a market debate answers everything, unless the argument is given up there.
        answered = hold is not None and hold != "withdrawn"
        return Drawn(name, kind, answered, None, _quotes(name, said))
    put = [label for label, anchor, _ in said.points if anchor]
    answered_ids = {row.about for row in exchange.about("answer", about)}
    answered = all(f"{about}.{label}" in answered_ids for label in put)
    found = [Mark(marks.get(f"{about}.A{label[1:]}", Mark.UNMARKED)) for label in put]
    mark = find_worst_mark(found) if answered and found else Mark.EVADED
    return Drawn(name, kind, answered, mark.value, _quotes(name, said))


def _answers(exchange: Exchange, row: Mapping[str, Any]) -> Iterable[Drawn]:
    """The remaining answers to a criticism of a review, by the numbers in its trace."""
    responses = exchange.about("response", str(row.get("id", "")))
    for drawn in objects_in(row.get("drew")) if row.get("target") else ():
        name = str(drawn.get("by", ""))
        yield Drawn(name, str(drawn.get("response", "")), False, None, _quotes(name, next(iter(responses), None)))


def _quotes(about: str, said: Said | None) -> tuple[Quote, ...]:
    return tuple(
        Quote(f"{about} quote {number}", row.reading.status, one_line(row.reading.shown, 120), row.anchor)
        for number, row in enumerate(said.citations if said else (), start=1)
    )


def _resting_on_evidence(outcome: Mapping[str, Any]) -> frozenset[str]:
    """The parts of a review that say that they rest on evidence."""
    found = set()
    for _, contest in contests_in(outcome):
        for turn, key in (("proposition", "arguments"), ("criticism", "arguments"), ("rebuttals", "answers")):
            part = contest.get(turn)
            rows = objects_in(part.get(key)) if isinstance(part, Mapping) else []
            found |= {str(row.get("id")) for row in rows if row.get("rests_on") == "evidence"}
    return frozenset(found)


def _totals(nodes: Iterable[Node], totals: Mapping[str, float | None]) -> dict[str, tuple[str, ...]]:
    """By side the arguments whose mean score is its recorded total."""
    found = {}
    for side, total in totals.items():
        rows = [
            node for node in nodes if side in {node.side, node.side.rpartition("_")[2], node.side.partition("_")[0]}
        ]
        scores = [node.score for node in rows if node.score is not None]
        if total is not None and scores and abs(Fraction(sum(scores), len(scores)) / 10_000 - Fraction(total)) < _NEAR:
            found[side] = tuple(node.id for node in rows)
    return found


_NEAR = Fraction(3, 10_000)
"""Scores and totals are recorded with four decimals."""
