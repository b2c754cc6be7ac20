"""The argument map: the arguments of both sides, the standing of each, and the responses to it.

Only facts are here. The template writes them as ordinary boxes, and the browser lays those out: it alone knows how wide
a text is in the reader's font, so it wraps the text and makes the box as tall as it needs.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from disputatio.motion import one_line
from disputatio.report.amounts import counted
from disputatio.report.page.argument_graph import ArgumentGraph
from disputatio.report.page.exchange import Exchange, Said

_KINDS = {"question evidence": "challenge"}
"""Words of a format, by the kind that is drawn."""


@dataclass(frozen=True, slots=True)
class MapResponse:
    """A response to an argument.

    ``about`` is the argument's id, ``href`` the place where the response was said. ``name`` is the response's own
    name, by which a reader strikes it; empty where it cannot be struck.
    """

    side: str
    kind: str
    about: str
    note: str
    href: str
    name: str = ""

    @property
    def spoken(self) -> str:
        """The response for those who do not see it."""
        return f"{self.side} on {self.about}: {self.kind}, {self.note}"


@dataclass(frozen=True, slots=True)
class MapArgument:
    """An argument and what it drew. ``judged`` and ``computed`` are empty where there is no such standing.

    ``id`` is shortened to be shown; ``name`` is whole.
    """

    id: str
    name: str
    side: str
    claim: str
    judged: str
    computed: str
    score: str
    hold: str
    agreed: bool
    href: str
    responses: tuple[MapResponse, ...]

    @property
    def standing(self) -> str:
        """The standing it is painted with: the judge's, or else the computed one."""
        return self.judged or self.computed

    @property
    def differs(self) -> bool:
        """Whether judge and computation part."""
        judged = self.judged not in {"", "SPLIT", "VOID"}
        return bool(judged and self.computed and self.judged != self.computed)

    @property
    def spoken(self) -> str:
        """The argument for those who do not see it."""
        parts = [f"{self.id}: {self.claim}"]
        parts += [f"judge: {self.judged}"] if self.judged else []
        parts += [f"computed: {self.computed}"] if self.computed else []
        parts += ["agreed by both sides"] if self.agreed else []
        return "; ".join(parts)


@dataclass(frozen=True, slots=True)
class MapSide:
    """One side's arguments, in the order in which they were made."""

    name: str
    arguments: tuple[MapArgument, ...]


def argument_map(exchange: Exchange, graph: ArgumentGraph | None = None) -> tuple[MapSide, ...]:
    """The sides of a debate in the order in which they first argued; none where there are no arguments.

    Args:
        exchange: what was said.
        graph: what of it a reader may strike.
    """
    names = {node.id: tuple(row.id for row in node.drew) for node in graph.nodes} if graph else {}
    sides: dict[str, list[MapArgument]] = {}
    for row in exchange.everything:
        if row.kind == "argument":
            # The proposers of several positions are drawn on one side, opposite their critic.
            # So do the analysts of one direction.
            side = "proposer" if row.seat.startswith("proposer_") else row.seat
            side = side.rpartition("_")[2] if side.endswith(("_bull", "_bear")) else side
            sides.setdefault(side, []).append(_argument(exchange, row, names))
    return tuple(MapSide(name, tuple(rows)) for name, rows in sides.items())


def _argument(exchange: Exchange, row: Said, names: Mapping[str, tuple[str, ...]]) -> MapArgument:
    verdict = exchange.verdict
    found = next((line for line in verdict.trace if line.id == row.about), None) if verdict else None
    agreed = any(point.id == row.about for point in verdict.agreed) if verdict else False
    holds = exchange.about("hold", row.about)
    struck = {line.id for line in verdict.trace if line.void} if verdict else set()
    name = one_line(row.about, 16)
    responses = exchange.about("response", row.about)
    known = names.get(row.about, ())
    # What the rules of a review struck is named and cannot be struck again.
    known = known if len(known) == len(responses) else ("",) * len(responses)
    answers = [
        MapResponse(drawn.seat, _kind_shown(drawn), name, _answered(exchange, drawn), drawn.anchor, own)
        for drawn, own in zip(responses, known, strict=True)
    ]
    attacks = [
        MapResponse(
            drawn.seat, "challenge", name, _attack(drawn), drawn.anchor, drawn.about if drawn.about in names else ""
        )
        for drawn in exchange.attacking(row.about)
        if drawn.about not in struck
    ]
    return MapArgument(
        id=name,
        name=row.about,
        side=row.seat,
        claim=one_line(row.statement.lead),
        judged=(found and found.judged) or "",
        computed=found.computed if found else "",
        score="" if found is None or found.score is None else f"{found.score:.2f}",
        hold=holds[0].statement.word if holds else "",
        agreed=agreed,
        href=row.anchor,
        responses=(*answers, *attacks),
    )


def _attack(criticism: Said) -> str:
    return one_line(f"{criticism.about}: {criticism.statement.word.partition(' against ')[0]}", 26)


def _answered(exchange: Exchange, response: Said) -> str:
    if exchange.verdict is not None and not exchange.verdict.has_questions:
        return f"answer to {response.about}"
    questions = [name for _, name, _ in response.points if name]
    if not questions:
        return "no question"
    given = {row.about for row in exchange.about("answer", response.about)}
    put = [f"{response.about}.{label}" for label, name, _ in response.points if name]
    answered = sum(question in given for question in put)
    if answered == len(put):
        return f"{counted(len(put), 'question')} answered"
    if not answered:
        return f"{counted(len(put), 'question')} unanswered"
    return f"{answered} of {counted(len(put), 'question')} answered"


def _kind_shown(drawn: Said) -> str:
    """The kind of a response, shortened where a record of elsewhere has a long one."""
    return _KINDS.get(drawn.statement.word, one_line(drawn.statement.word, 14))
