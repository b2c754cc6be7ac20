"""The charts of a market debate, drawn as SVG: the price with its averages, indicators, and the analysts' scores.

Places and sizes are worked out here and the style sheet paints. Every chart is drawn twice, for a wide page and for a
narrow one, so that its words can be read on a phone without moving it. All texts are ours or pass the page's gate.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import ceil, floor, log10
from typing import Any

from disputatio.errors import InvalidInputError
from disputatio.market.knowledge import KnowledgeBase
from disputatio.market.knowledge_json import from_json
from disputatio.report.columns import most_ems
from disputatio.report.market import MarketReading, is_market, market_reading
from disputatio.report.reading import DebateReport

_LINES = {"close": "close", "ma20": "20-day average", "ma50": "50-day average", "ma200": "200-day average"}
_MACD = {"macd": "MACD", "macd_signal": "signal line"}
_LENSES = {"tech": "technical", "fund": "fundamental", "macro": "macro", "senti": "sentiment"}
_LOWEST, _HIGHEST = 1, 10
_TICK_SIZE, _NAME_SIZE = 12.5, 14
"""As the style sheet has them."""


@dataclass(frozen=True, slots=True)
class Text:
    """A word in a chart. ``anchor`` is ``start``, ``middle`` or ``end``; ``kind`` its class."""

    x: float
    y: float
    text: str
    kind: str = "tick"
    anchor: str = "start"


@dataclass(frozen=True, slots=True)
class Path:
    """A line or an area, as SVG path data; ``kind`` is its class."""

    d: str
    kind: str


@dataclass(frozen=True, slots=True)
class Dot:
    """A round mark; ``title`` is shown on hovering."""

    x: float
    y: float
    kind: str
    title: str = ""
    radius: float = 4.5


@dataclass(frozen=True, slots=True)
class Drawing:
    """One chart at one width."""

    name: str
    width: int
    height: int
    paths: tuple[Path, ...] = ()
    texts: tuple[Text, ...] = ()
    dots: tuple[Dot, ...] = ()


@dataclass(frozen=True, slots=True)
class Chart:
    """One chart. ``told`` says in a sentence what it shows, for those who do not see it; ``legend`` its lines."""

    key: str
    title: str
    told: str
    drawings: tuple[Drawing, ...]
    legend: tuple[tuple[str, str], ...] = ()


@dataclass(slots=True)
class _Sheet:
    """Collects the pieces of one drawing."""

    name: str
    width: int
    height: int
    left: int = 52
    right: int = 12
    top: int = 10
    bottom: int = 24
    paths: list[Path] = field(default_factory=list)
    texts: list[Text] = field(default_factory=list)
    dots: list[Dot] = field(default_factory=list)

    def done(self) -> Drawing:
        return Drawing(self.name, self.width, self.height, tuple(self.paths), tuple(self.texts), tuple(self.dots))

    @property
    def inner(self) -> int:
        return self.width - self.left - self.right

    def x(self, place: float, count: int) -> float:
        return round(self.left + self.inner * place / max(1, count - 1), 1)

    def y(self, value: float, low: float, high: float) -> float:
        size = self.height - self.top - self.bottom
        return round(self.top + size * (high - value) / (high - low or 1), 1)

    def across(self, y: float, kind: str) -> None:
        self.paths.append(Path(f"M{self.left} {y}H{self.width - self.right}", kind))


def knowledge_of(report: DebateReport) -> KnowledgeBase | None:
    """The knowledge base that a record keeps; None where it has none that this version reads."""
    for row in report.evidence:
        if row.get("kind") == "knowledge" and str(row.get("text")) in report.texts:
            try:
                return from_json(json.loads(report.texts[str(row["text"])]))
            except (InvalidInputError, ValueError, KeyError, TypeError):
                return None
    return None


def charts_of(report: DebateReport) -> tuple[Chart, ...]:
    """The charts of a market debate; none for another."""
    market = market_reading(report)
    if market is None:
        return ()
    base = knowledge_of(report)
    charts = [*_history(base), _scores(market, report.outcome), _confidences(market)]
    return tuple(chart for chart in charts if chart is not None)


def _history(base: KnowledgeBase | None) -> list[Chart | None]:
    if base is None or len(base.history.days) < 2:
        return []
    days, lines, name = base.history.days, base.history.lines, base.meta.subject_name
    return [
        _line_chart("price", f"{name} and its averages", days, lines, _LINES, unit="points"),
        _line_chart("rsi", "RSI of 14 sessions", days, lines, {"rsi_14": "RSI"}, marks=(30, 70), bounds=(0, 100)),
        _line_chart("macd", "MACD and its signal line", days, lines, _MACD, marks=(0,)),
    ]


def _line_chart(
    key: str,
    title: str,
    days: Sequence[str],
    lines: Mapping[str, Sequence[float | None]],
    wanted: Mapping[str, str],
    *,
    marks: Sequence[float] = (),
    bounds: tuple[float, float] | None = None,
    unit: str = "",
) -> Chart | None:
    rows = {name: lines[name] for name in wanted if any(value is not None for value in lines.get(name, ()))}
    values = [value for row in rows.values() for value in row if value is not None]
    if not values:
        return None
    drawings = []
    for name, width, height in (
        ("wide", 1000, 300 if key == "price" else 170),
        ("narrow", 400, 260 if key == "price" else 160),
    ):
        low, high, ticks = (
            _scale(min(values), max(values), 5 if key == "price" else 3) if bounds is None else (*bounds, marks)
        )
        left = max(52, _reach(map(_written, ticks), _TICK_SIZE) + 10)
        sheet = _Sheet(name, width, height, left=left)
        for tick in ticks if bounds is None else marks:
            sheet.across(sheet.y(tick, low, high), "grid")
            sheet.texts.append(Text(sheet.left - 8, sheet.y(tick, low, high) + 4, _written(tick), anchor="end"))
        for mark in marks:
            sheet.across(sheet.y(mark, low, high), "threshold")
        _months(sheet, days)
        for line, row in rows.items():
            sheet.paths.append(Path(_path(sheet, row, low, high), f"line {line}"))
        drawings.append(sheet.done())
    last = {
        wanted[name]: next((value for value in reversed(row) if value is not None), None) for name, row in rows.items()
    }
    ends = ", ".join(f"{label} {_written(value)}" for label, value in last.items() if value is not None)
    description = f"{title}, {days[0]} to {days[-1]}. Last: {ends}{f' {unit}' if unit else ''}."
    return Chart(key, title, description, tuple(drawings), tuple((name, wanted[name]) for name in rows))


def _path(sheet: _Sheet, row: Sequence[float | None], low: float, high: float) -> str:
    """The line through the values, broken where there is none."""
    pieces, pen = [], "M"
    for place, value in enumerate(row):
        if value is None:
            pen = "M"
            continue
        pieces.append(f"{pen}{sheet.x(place, len(row))} {sheet.y(value, low, high)}")
        pen = "L"
    return "".join(pieces)


def _months(sheet: _Sheet, days: Sequence[str]) -> None:
    """A mark where a month begins; as many names as there is room for."""
    begins = [place for place in range(1, len(days)) if days[place][:7] != days[place - 1][:7]]
    step = max(1, ceil(len(begins) / (9 if sheet.name == "wide" else 4)))
    for place in begins[::step]:
        x = sheet.x(place, len(days))
        if x > sheet.width - sheet.right - 24:
            continue
        sheet.paths.append(Path(f"M{x} {sheet.height - sheet.bottom}v5", "axis"))
        sheet.texts.append(Text(x, sheet.height - 6, days[place][:7], anchor="middle"))
    sheet.across(sheet.height - sheet.bottom, "axis")


def _scale(low: float, high: float, count: int) -> tuple[float, float, list[float]]:
    """Bounds and ticks at round numbers that hold ``low`` and ``high``."""
    span = (high - low) or abs(high) or 1
    rough = span / count
    power = 10 ** floor(log10(rough))
    step = next(power * factor for factor in (1, 2, 2.5, 5, 10) if power * factor >= rough)
    bottom, top = floor(low / step) * step, ceil(high / step) * step
    ticks = [round(bottom + step * place, 10) for place in range(round((top - bottom) / step) + 1)]
    return bottom, top, ticks


def _written(value: float) -> str:
    size = abs(value)
    return f"{value:,.0f}" if size >= 100 or value == round(value) else f"{value:,.1f}" if size >= 1 else f"{value:.2f}"


def _scores(market: MarketReading, outcome: Mapping[str, Any]) -> Chart | None:
    """A bar for each analyst's mean, a dot for each argument."""
    if not is_market(outcome) or all(row.score is None for row in market.analysts):
        return None
    points: dict[str, list[tuple[float, str]]] = {}
    for row in outcome.get("trace") or ():
        if isinstance(row, Mapping) and isinstance(row.get("weighted"), int | float):
            points.setdefault(str(row.get("side")), []).append((float(row["weighted"]), str(row.get("id"))))
    drawings = []
    for name, width in (("wide", 1000), ("narrow", 400)):
        sheet = _rows_sheet(name, width, market)
        for tick in range(_LOWEST, _HIGHEST + 1, 1 if name == "wide" else 3):
            x = _across(sheet, (tick - _LOWEST) / (_HIGHEST - _LOWEST))
            sheet.paths.append(Path(f"M{x} {sheet.top}V{sheet.height - sheet.bottom}", "grid"))
            sheet.texts.append(Text(x, sheet.height - 6, str(tick), anchor="middle"))
        for place, row in enumerate(market.analysts):
            y = _row_y(sheet, place)
            sheet.texts.append(Text(sheet.left - 10, y + 5, row.seat, f"name {row.side}", "end"))
            if row.score is None:
                sheet.texts.append(Text(sheet.left + 4, y + 5, "no score", "tick"))
                continue
            end = _across(sheet, (row.score - _LOWEST) / (_HIGHEST - _LOWEST))
            sheet.paths.append(Path(f"M{sheet.left} {y - 8}H{end}V{y + 8}H{sheet.left}Z", f"bar {row.side}"))
            sheet.texts.append(Text(sheet.width - 4, y + 5, f"{row.score:.2f}", "value", "end"))
            for score, argument in points.get(row.seat, ()):
                x = _across(sheet, (score - _LOWEST) / (_HIGHEST - _LOWEST))
                sheet.dots.append(Dot(x, y, f"dot {row.side}", f"{argument}: {score:.2f}"))
        drawings.append(sheet.done())
    scores = ", ".join(f"{row.seat} {row.shown_score}" for row in market.analysts)
    return Chart(
        "scores", "Scores by analyst", f"Mean score of each analyst's arguments, 1 to 10: {scores}.", tuple(drawings)
    )


def _confidences(market: MarketReading) -> Chart | None:
    """From the confidence of the opening to that of the closing, means over the arguments."""
    rows = [row for row in market.analysts if row.confidence is not None and row.adjusted is not None]
    if not rows:
        return None
    drawings = []
    for name, width in (("wide", 1000), ("narrow", 400)):
        sheet = _rows_sheet(name, width, market)
        for tick in (0, 0.25, 0.5, 0.75, 1):
            x = _across(sheet, tick)
            sheet.paths.append(
                Path(f"M{x} {sheet.top}V{sheet.height - sheet.bottom}", "threshold" if tick == 0.5 else "grid")
            )
            sheet.texts.append(Text(x, sheet.height - 6, f"{tick:g}", anchor="middle"))
        for place, row in enumerate(market.analysts):
            y = _row_y(sheet, place)
            sheet.texts.append(Text(sheet.left - 10, y + 5, row.seat, f"name {row.side}", "end"))
            if row.confidence is None or row.adjusted is None:
                word = "silent" if row.confidence is None else "withdrawn"
                sheet.texts.append(Text(sheet.left + 4, y + 5, word, "tick"))
                continue
            before, after = _across(sheet, row.confidence), _across(sheet, row.adjusted)
            sheet.paths.append(Path(f"M{before} {y}H{after}", f"move {row.side}"))
            sheet.dots.append(Dot(before, y, f"ring {row.side}", f"opening: {row.confidence:.2f}"))
            sheet.dots.append(Dot(after, y, f"dot {row.side}", f"closing: {row.adjusted:.2f}"))
            sheet.texts.append(Text(sheet.width - 4, y + 5, f"{row.adjusted:.2f}", "value", "end"))
        drawings.append(sheet.done())
    changes = ", ".join(f"{row.seat} {row.confidence:.2f} to {row.adjusted:.2f}" for row in rows)
    title = "Confidence, from the opening (ring) to the closing (dot)"
    return Chart("confidence", title, f"Mean confidence of each analyst, 0 to 1: {changes}.", tuple(drawings))


def _rows_sheet(name: str, width: int, market: MarketReading) -> _Sheet:
    left = _reach((row.seat for row in market.analysts), _NAME_SIZE) + 12
    return _Sheet(name, width, 34 + 28 * len(market.analysts) + 8, left=left, right=56, top=6)


def _reach(texts: Iterable[str], size: float) -> int:
    """How far the longest of ``texts`` reaches at most, in the units of the drawing."""
    return ceil(max(map(most_ems, texts), default=0) * size)


def _row_y(sheet: _Sheet, place: int) -> float:
    """The middle of a row; pairs of one lens have a gap between them."""
    return sheet.top + 16 + place * 26 + place // 2 * 4


def _across(sheet: _Sheet, share: float) -> float:
    return round(sheet.left + sheet.inner * min(1.0, max(0.0, share)), 1)
