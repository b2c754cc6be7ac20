"""Draws the arguments of both sides and what they drew as a picture: places and sizes only, the template paints.

There are two drawings of one debate. The wide one sets the sides opposite each other, with the responses between
them; the narrow one sets everything in one column. Text is broken for the widest common typeface, because a picture
cannot break its own lines.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from disputatio.motion import one_line
from disputatio.report.amounts import counted
from disputatio.report.columns import chopped, columns, cut, pieces
from disputatio.report.page.exchange import Exchange, Said

_LINE, _COLUMN = 19, 7.9
_MOST_LINES = 4
_PAD = 14
_HEAD, _FOOT = 30, 30
_CHIP = 50
_APART = 18
_TITLE = 40
_WIDE, _BOX, _CHIP_WIDTH, _GUTTER = 1120, 322, 156, 34
_NARROW, _INDENT = 340, 76


_KINDS = {"question evidence": "challenge"}
"""Words of a format for which there is no room, by the kind that is drawn."""


@dataclass(frozen=True, slots=True)
class ResponseNode:
    """A response, and the line from it to the argument it answers, as an SVG path from (x1, y1) to its end.

    ``badge_x`` and ``badge_y`` are where the sign of its kind sits on the line; ``about`` names the argument.
    """

    side: str
    kind: str
    about: str
    note: str
    href: str
    x: float
    y: float
    width: float
    height: float
    line: str
    badge_x: float
    badge_y: float
    tip: str

    @property
    def spoken(self) -> str:
        """The response for those who do not see it."""
        return f"{self.side} on {self.about}: {self.kind}, {self.note}"


@dataclass(frozen=True, slots=True)
class ArgumentNode:
    """An argument in its place. ``judged`` and ``computed`` are empty where there is no such standing."""

    id: str
    side: str
    lines: tuple[str, ...]
    claim: str
    judged: str
    computed: str
    score: str
    hold: str
    agreed: bool
    href: str
    x: float
    y: float
    width: float
    height: float
    responses: tuple[ResponseNode, ...]

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
        told = [f"{self.id}: {self.claim}"]
        told += [f"judge: {self.judged}"] if self.judged else []
        told += [f"computed: {self.computed}"] if self.computed else []
        told += ["agreed by both sides"] if self.agreed else []
        return "; ".join(told)


@dataclass(frozen=True, slots=True)
class SideTitle:
    """The title over a side's arguments."""

    side: str
    x: float
    y: float


@dataclass(frozen=True, slots=True)
class Drawing:
    """A whole picture of ``width`` x ``height`` units."""

    name: str
    width: float
    height: float
    titles: tuple[SideTitle, ...]
    arguments: tuple[ArgumentNode, ...]

    @property
    def responses(self) -> list[ResponseNode]:
        """All responses in it."""
        return [row for argument in self.arguments for row in argument.responses]


@dataclass(frozen=True, slots=True)
class _Facts:
    """What is drawn of one argument, before it has a place."""

    id: str
    side: str
    claim: str
    judged: str
    computed: str
    score: str
    hold: str
    agreed: bool
    href: str
    drew: tuple[tuple[str, str, str, str], ...]


def wide_map(exchange: Exchange) -> Drawing | None:
    """The sides opposite each other; None where there are no arguments."""
    sides = _sides(exchange)
    if not sides:
        return None
    names = list(sides)
    left = sides[names[0]]
    right = [row for name in names[1:] for row in sides[name]]
    placed: list[ArgumentNode] = []
    y: float = _TITLE
    for number in range(max(len(left), len(right))):
        pair = [rows[number] if number < len(rows) else None for rows in (left, right)]
        height = max(_wide_height(row) for row in pair if row)
        placed += [_opposite(row, y, height, mirrored=place == 1) for place, row in enumerate(pair) if row]
        y += height + _APART
    titles = [SideTitle(name, 0 if number == 0 else _WIDE - _BOX, 18) for number, name in enumerate(names[:2])]
    return Drawing("wide", _WIDE, y - _APART + 4, tuple(titles), tuple(placed))


def narrow_map(exchange: Exchange) -> Drawing | None:
    """Everything in one column; None where there are no arguments."""
    titles, placed = [], []
    y: float = 0
    for name, rows in _sides(exchange).items():
        titles.append(SideTitle(name, 0, y + 18))
        y += _TITLE
        for row in rows:
            node = _stacked(row, y)
            placed.append(node)
            y += node.height + len(row.drew) * (_CHIP + _APART) + _APART
        y += _APART
    return Drawing("narrow", _NARROW, y, tuple(titles), tuple(placed)) if placed else None


def _sides(exchange: Exchange) -> dict[str, list[_Facts]]:
    sides: dict[str, list[_Facts]] = {}
    for row in exchange.everything:
        if row.kind == "argument":
            # The proposers of several positions stand on one side, opposite their critic.
            # So do the analysts of one direction.
            side = "proposer" if row.seat.startswith("proposer_") else row.seat
            side = side.rpartition("_")[2] if side.endswith(("_bull", "_bear")) else side
            sides.setdefault(side, []).append(_facts(exchange, row))
    return sides


def _facts(exchange: Exchange, row: Said) -> _Facts:
    verdict = exchange.verdict
    found = next((line for line in verdict.trace if line.id == row.about), None) if verdict else None
    agreed = any(point.id == row.about for point in verdict.agreed) if verdict else False
    holds = exchange.about("hold", row.about)
    struck = {line.id for line in exchange.verdict.trace if line.void} if exchange.verdict else set()
    return _Facts(
        id=one_line(row.about, 16),
        side=row.seat,
        claim=one_line(row.statement.lead),
        judged=(found and found.judged) or "",
        computed=found.computed if found else "",
        score="" if found is None or found.score is None else f"{found.score:.2f}",
        hold=holds[0].statement.word if holds else "",
        agreed=agreed,
        href=row.anchor,
        drew=(
            *(
                (drawn.seat, _kind_shown(drawn), _answered(exchange, drawn), drawn.anchor)
                for drawn in exchange.about("response", row.about)
            ),
            *(
                (drawn.seat, "challenge", _attack(drawn), drawn.anchor)
                for drawn in exchange.attacking(row.about)
                if drawn.about not in struck
            ),
        ),
    )


def _attack(criticism: Said) -> str:
    return one_line(f"{criticism.about}: {criticism.statement.word.partition(' against ')[0]}", 26)


def _answered(exchange: Exchange, response: Said) -> str:
    if exchange.verdict is not None and exchange.verdict.points:
        return f"answer to {response.about}"
    asked = [name for _, name, _ in response.points if name]
    if not asked:
        return "no question"
    given = {row.about for row in exchange.about("answer", response.about)}
    put = [f"{response.about}.{label}" for label, name, _ in response.points if name]
    answered = sum(question in given for question in put)
    if answered == len(put):
        return f"{counted(len(put), 'question')} answered"
    if not answered:
        return f"{counted(len(put), 'question')} unanswered"
    return f"{answered} of {counted(len(put), 'question')} answered"


def _box_height(row: _Facts, width: float) -> float:
    return _HEAD + _LINE * len(_lines(row.claim, width)) + _FOOT


def _wide_height(row: _Facts) -> float:
    return max(_box_height(row, _BOX), len(row.drew) * (_CHIP + 10) - 10)


def _opposite(row: _Facts, y: float, height: float, *, mirrored: bool) -> ArgumentNode:
    x = _WIDE - _BOX if mirrored else 0
    edge = x if mirrored else x + _BOX
    chip_x = _WIDE / 2 + _GUTTER / 2 if mirrored else _WIDE / 2 - _GUTTER / 2 - _CHIP_WIDTH
    start = chip_x + _CHIP_WIDTH if mirrored else chip_x
    way = 1 if mirrored else -1
    top = y + (height - len(row.drew) * (_CHIP + 10) + 10) / 2
    responses = []
    for number, (side, kind, note, href) in enumerate(row.drew):
        middle = top + number * (_CHIP + 10) + _CHIP / 2
        responses.append(
            ResponseNode(
                side=side,
                kind=kind,
                about=row.id,
                note=note,
                href=href,
                x=chip_x,
                y=middle - _CHIP / 2,
                width=_CHIP_WIDTH,
                height=_CHIP,
                line=f"M{start:g} {middle:g}H{edge - way * _tip_length(kind):g}",
                badge_x=(start + edge) / 2 - way * 3,
                badge_y=middle,
                tip=_tip(edge, middle, way, 0),
            )
        )
    return _node(row, x, y, _BOX, height, responses)


def _stacked(row: _Facts, y: float) -> ArgumentNode:
    height = _box_height(row, _NARROW)
    responses = []
    x, turn = float(_INDENT), 22.0
    for number, (side, kind, note, href) in enumerate(row.drew):
        top = y + height + _APART + number * (_CHIP + _APART)
        middle = top + _CHIP / 2
        responses.append(
            ResponseNode(
                side=side,
                kind=kind,
                about=row.id,
                note=note,
                href=href,
                x=x,
                y=top,
                width=_NARROW - x,
                height=_CHIP,
                line=f"M{x:g} {middle:g}H{turn:g}V{y + height + _tip_length(kind):g}",
                badge_x=x - 24,
                badge_y=middle,
                tip=_tip(turn, y + height, 0, -1),
            )
        )
    return _node(row, 0, y, _NARROW, height, responses)


def _tip_length(kind: str) -> int:
    """How far before its end a line stops, to leave room for the arrow's tip; a concession attacks nothing."""
    return 0 if kind == "concede" else 9


def _tip(x: float, y: float, across: int, down: int) -> str:
    """The three points of an arrow's tip that ends in (x, y)."""
    back_x, back_y = x - across * 10, y - down * 10
    rise_x, rise_y = down * 6, across * 6
    return f"{x:g},{y:g} {back_x + rise_x:g},{back_y + rise_y:g} {back_x - rise_x:g},{back_y - rise_y:g}"


def _node(
    row: _Facts, x: float, y: float, width: float, height: float, responses: Sequence[ResponseNode]
) -> ArgumentNode:
    return ArgumentNode(
        id=row.id,
        side=row.side,
        lines=tuple(_lines(row.claim, width)),
        claim=row.claim,
        judged=row.judged,
        computed=row.computed,
        score=row.score,
        hold=row.hold,
        agreed=row.agreed,
        href=row.href,
        x=x,
        y=y,
        width=width,
        height=height,
        responses=tuple(responses),
    )


def _lines(text: str, width: float) -> list[str]:
    """``text`` in at most a few lines that fit into a box of ``width``."""
    room = int((width - 2 * _PAD) / _COLUMN)
    lines = list(_broken(text, room))
    if len(lines) > _MOST_LINES:
        return [*lines[: _MOST_LINES - 1], cut(" ".join(lines[_MOST_LINES - 1 :]), room)]
    return lines or [""]


def _broken(text: str, room: int) -> Iterable[str]:
    line = ""
    for gap, piece in pieces(text):
        for part in chopped(piece, room):
            joined = f"{line}{gap if line else ''}{part}"
            if line and columns(joined) > room:
                yield line
                line = part
            else:
                line = joined
    if line:
        yield line


def _kind_shown(drawn: Said) -> str:
    """The kind of a response, as there is room for it."""
    return _KINDS.get(drawn.statement.word, one_line(drawn.statement.word, 14))
