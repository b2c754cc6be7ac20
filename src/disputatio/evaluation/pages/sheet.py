"""A page of sections with tables and plots. Templates escape every text.

Plots are inline SVG, coloured by the style sheet, readable on a phone, and described for screen readers. The tables
beside them have the same numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

from disputatio.report.templates import escaping_environment

if TYPE_CHECKING:
    from jinja2 import Environment


import math
from xml.sax.saxutils import escape, quoteattr

from disputatio.evaluation.statistics.scores import Reliability
from disputatio.motion import clean
from disputatio.report.columns import cut, most_ems

POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'"


@dataclass(frozen=True, slots=True)
class Table:
    """Rows under column headings; the first column names the row, numbers are right-aligned."""

    caption: str
    heads: Sequence[str]
    rows: Sequence[Sequence[str]]


@dataclass(frozen=True, slots=True)
class Figure:
    """A drawing with a caption."""

    drawing: Drawing
    caption: str


@dataclass(frozen=True, slots=True)
class Section:
    """A part of a page. ``anchor`` is its link in the table of contents."""

    anchor: str
    title: str
    intro: str = ""
    figures: Sequence[Figure] = ()
    tables: Sequence[Table] = ()
    notes: Sequence[str] = ()
    folded: bool = False


@dataclass(frozen=True, slots=True)
class Sheet:
    """A whole page. ``notice`` is shown at the top and may be empty; ``finding`` is the result in a sentence."""

    kind: str
    title: str
    finding: str
    sections: Sequence[Section]
    notice: str = ""
    byline: Sequence[str] = ()


def render_sheet(sheet: Sheet) -> str:
    """Render the page as HTML that needs no network."""
    return _environment().get_template("sheet.html").render(sheet=sheet, policy=POLICY, style=_style())


@cache
def _environment() -> Environment:
    return escaping_environment(_asset)


def _style() -> object:
    from markupsafe import Markup

    # The packaged style sheet, without foreign text.
    return Markup(_asset("sheet.css"))  # noqa: S704


def _asset(name: str) -> str:
    return files("disputatio.evaluation.pages").joinpath(name).read_text("utf-8")


WIDTH = 480.0
_LEFT, _RIGHT, _ROW = 12.0, 14.0, 46.0
_MOST_LABEL = 46
_SIZE, _SMALL = 13.0, 11.5
"""Font sizes of the style sheet."""


@dataclass(frozen=True, slots=True)
class Drawing:
    """A finished drawing; its texts are escaped."""

    markup: str

    def __html__(self) -> str:
        """The markup."""
        from markupsafe import Markup

        # Built from numbers and escaped texts only.
        return Markup(self.markup)  # noqa: S704


@dataclass(frozen=True, slots=True)
class Bar:
    """One row of an interval plot; the interval may be missing."""

    label: str
    value: float | None
    low: float | None
    high: float | None
    shown: str
    tone: str = "c1"


@dataclass(frozen=True, slots=True)
class Curve:
    """A line through points, or points alone; ``names`` label the points."""

    label: str
    points: Sequence[tuple[float, float]]
    tone: str
    names: Sequence[str] = ()
    joined: bool = True


def _reach(words: str, size: float = _SIZE) -> float:
    """The largest width of ``words``."""
    return most_ems(words) * size


def _text(x: float, y: float, words: str, anchor: str = "start", classes: str = "", room: float | None = None) -> str:
    """A text element, cut if it would leave the drawing or its ``room``."""
    shown = cut(clean(words), _MOST_LABEL)
    if room is None:
        room = {"start": WIDTH - x, "end": x, "middle": 2 * min(x, WIDTH - x)}[anchor]
    size = _SMALL if "small" in classes else _SIZE
    while len(shown) > 2 and _reach(shown, size) > room:
        shown = shown[:-2].rstrip() + "…"
    named = f' class="{classes}"' if classes else ""
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"{named}>{escape(shown)}</text>'


def _line(x1: float, y1: float, x2: float, y2: float, classes: str) -> str:
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" class="{classes}"/>'


def _svg(height: float, title: str, parts: Sequence[str]) -> Drawing:
    label = quoteattr(clean(title))
    inner = "".join(parts)
    return Drawing(f'<svg viewBox="0 0 {WIDTH:g} {height:.0f}" role="img" aria-label={label}>{inner}</svg>')


def ticks(low: float, high: float, most: int = 6) -> list[float]:
    """Round numbers from ``low`` to ``high``, at most ``most``."""
    span = max(high - low, 1e-9)
    raw = span / max(1, most - 1)
    size = 10.0 ** math.floor(math.log10(raw))
    step = next(size * factor for factor in (1, 2, 2.5, 5, 10) if size * factor >= raw - 1e-12)
    first = math.ceil(low / step - 1e-9)
    return [number * step for number in range(first, math.floor(high / step + 1e-9) + 1)]


def interval_plot(
    bars: Sequence[Bar], low: float, high: float, axis: str, mark: float | None = None, *, percent: bool = True
) -> Drawing:
    """Draw each row's value with its interval on one axis; ``mark`` is a line to compare with."""
    heads = [_row_head(bar.label, bar.shown) for bar in bars]
    foot = sum(height for _, height in heads) + 6
    scale = (WIDTH - _LEFT - _RIGHT) / (high - low)

    def place(value: float) -> float:
        return _LEFT + (min(max(value, low), high) - low) * scale

    parts = [
        _line(place(tick), 4, place(tick), foot, "grid")
        # A label centred on the last line would be cut off at the edge.
        + _text(*_at_foot(place(tick), foot + 15, _tick(tick, percent)), "quiet small")
        for tick in ticks(low, high)
    ]
    parts.append(_text(WIDTH / 2, foot + 32, axis, "middle", "quiet small"))
    if mark is not None:
        parts.append(_line(place(mark), 2, place(mark), foot, "zero"))
    top = 0.0
    for bar, (head, tall) in zip(bars, heads, strict=True):
        parts.append(f'<g transform="translate(0 {top:g})">{head}</g>')
        top += tall
        y, drawn = top - 15, ""
        if bar.low is not None and bar.high is not None:
            drawn += _line(place(bar.low), y, place(bar.high), y, "whisker")
            drawn += _line(place(bar.low), y - 4, place(bar.low), y + 4, "whisker")
            drawn += _line(place(bar.high), y - 4, place(bar.high), y + 4, "whisker")
        if bar.value is not None:
            drawn += f'<circle cx="{place(bar.value):.1f}" cy="{y}" r="5" class="dot"/>'
        parts.append(f'<g class="{bar.tone}">{drawn}</g>')
    return _svg(foot + 38, f"{axis}: " + "; ".join(f"{bar.label} {bar.shown}" for bar in bars), parts)


def _row_head(label: str, shown: str) -> tuple[str, float]:
    """The words above a row's bar and the height of the row: one line if both fit in any font, else two."""
    whole = WIDTH - _LEFT - _RIGHT
    if _reach(cut(clean(label), _MOST_LABEL)) + _reach(shown, _SMALL) + 12 <= whole:
        return _text(_LEFT, 17, label) + _text(WIDTH - _RIGHT, 17, shown, "end", "quiet small"), _ROW
    return _text(_LEFT, 17, label) + _text(_LEFT, 33, shown, classes="quiet small"), _ROW + 16


def _at_foot(x: float, y: float, words: str) -> tuple[float, float, str, str]:
    """The position of a label under an axis: centred, but inside the drawing."""
    if x > WIDTH - 30:
        return min(x + 14, WIDTH - 2), y, words, "end"
    return (max(x - 10, 2), y, words, "start") if x < 30 else (x, y, words, "middle")


def _tick(value: float, percent: bool) -> str:  # noqa: FBT001
    return f"{100 * value:g} %" if percent else f"{value:,.0f}" if abs(value) >= 10 or value == 0 else f"{value:g}"


@dataclass(frozen=True, slots=True)
class _Frame:
    """A field with axes."""

    x_low: float
    x_high: float
    y_low: float
    y_high: float
    top: float = 14.0
    height: float = 270.0
    left: float = 58.0

    def x(self, value: float) -> float:
        return self.left + (value - self.x_low) / (self.x_high - self.x_low) * (WIDTH - self.left - _RIGHT)

    def y(self, value: float) -> float:
        return self.top + self.height - (value - self.y_low) / (self.y_high - self.y_low) * self.height

    def axes(self, x_name: str, y_name: str, *, x_percent: bool = True, y_percent: bool = True) -> list[str]:
        foot = self.top + self.height
        parts = []
        for tick in ticks(self.x_low, self.x_high):
            parts.append(_line(self.x(tick), self.top, self.x(tick), foot, "grid"))
            parts.append(_text(*_at_foot(self.x(tick), foot + 18, _tick(tick, x_percent)), "quiet small"))
        for tick in ticks(self.y_low, self.y_high):
            parts.append(_line(self.left, self.y(tick), WIDTH - _RIGHT, self.y(tick), "grid"))
            parts.append(_text(self.left - 6, self.y(tick) + 4, _tick(tick, y_percent), "end", "quiet small"))
        parts.append(_text((self.left + WIDTH - _RIGHT) / 2, foot + 34, x_name, "middle", "quiet small"))
        turned = f'<g transform="translate(13 {self.top + self.height / 2:.0f}) rotate(-90)">'
        return [*parts, turned + _text(0, 0, y_name, "middle", "quiet small", self.height) + "</g>"]


def curve_plot(
    curves: Sequence[Curve], x_name: str, y_name: str, *, x_percent: bool = True, y_percent: bool = True
) -> Drawing:
    """Draw curves in one field, with their names below."""
    points = [point for curve in curves for point in curve.points]
    x_low, x_high = _range([x for x, _ in points], x_percent)
    y_low, y_high = _range([y for _, y in points], y_percent)
    frame = _Frame(x_low, x_high, y_low, y_high)
    parts = frame.axes(x_name, y_name, x_percent=x_percent, y_percent=y_percent)
    foot = frame.top + frame.height + 52
    for number, curve in enumerate(curves):
        placed = [(frame.x(x), frame.y(y)) for x, y in curve.points]
        drawn = ""
        if curve.joined and len(placed) > 1:
            drawn += f'<polyline class="line" points="{" ".join(f"{x:.1f},{y:.1f}" for x, y in placed)}"/>'
        drawn += "".join(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4.5" class="dot"/>' for x, y in placed)
        for (x, y), name in zip(placed, curve.names, strict=False):
            end = _reach(name, _SMALL) > WIDTH - x - 8 and x > WIDTH / 2
            drawn += _text(x - 8 if end else x + 8, y - 6, name, "end" if end else "start", "small")
        row = foot + 20 * number
        drawn += f'<circle cx="{frame.left}" cy="{row}" r="5" class="dot"/>'
        parts.append(f'<g class="{curve.tone}">{drawn}</g>' + _text(frame.left + 12, row + 4.5, curve.label))
    title = f"{y_name} against {x_name}: " + ", ".join(curve.label for curve in curves)
    return _svg(foot + 20 * len(curves), title, parts)


def _range(values: Sequence[float], percent: bool) -> tuple[float, float]:  # noqa: FBT001
    if not values:
        return 0.0, 1.0
    if not percent:
        return 0.0, max(values) * 1.15 or 1.0
    low = math.floor(min(values) * 10 - 0.2) / 10
    high = math.ceil(max(values) * 10 + 0.2) / 10
    return max(0.0, low), min(1.0, max(high, low + 0.2))


def reliability_plot(found: Reliability, label: str) -> Drawing:
    """Draw observed shares over forecasts, with the band of a perfectly calibrated forecaster and the counts."""
    frame = _Frame(0.0, 1.0, 0.0, 1.0)
    parts = frame.axes("forecast", "came")
    half = (frame.x(1.0) - frame.x(0.0)) / len(found.bins) / 2 - 3
    for row in found.bins:
        if row.null is not None and row.forecast is not None:
            x, top, foot = frame.x(row.forecast), frame.y(row.null[1]), frame.y(row.null[0])
            tall = max(2.0, foot - top)
            parts.append(
                f'<rect x="{x - half:.1f}" y="{top:.1f}" width="{2 * half:.1f}" height="{tall:.1f}" class="band"/>'
            )
    parts.append(_line(frame.x(0), frame.y(0), frame.x(1), frame.y(1), "zero"))
    foot = frame.top + frame.height + 50
    for row in found.bins:
        middle = frame.x((row.low + row.high) / 2)
        if row.forecast is not None and row.observed is not None:
            x, y = frame.x(row.forecast), frame.y(row.observed)
            parts.append(f'<g class="c1"><circle cx="{x:.1f}" cy="{y:.1f}" r="5" class="dot"/></g>')
        parts.append(_text(middle, foot, str(row.count), "middle", "small"))
    parts.append(_text(4, foot, "count", "start", "quiet small"))
    return _svg(foot + 8, f"Reliability of {label}: ECE {found.ece:.3f} over {found.items} forecasts", parts)


def share_bars(rows: Sequence[tuple[str, Sequence[tuple[str, int]]]], names: Sequence[tuple[str, str]]) -> Drawing:
    """Draw rows of counts by class as parts of a whole bar; ``names`` are the classes' tones and words."""
    parts, span = [], WIDTH - _LEFT - _RIGHT
    for number, (label, counts) in enumerate(rows):
        top, total, x = _ROW * number, sum(count for _, count in counts) or 1, _LEFT
        parts.append(_text(_LEFT, top + 17, label))
        for tone, count in counts:
            wide = span * count / total
            if count:
                box = f'<rect x="{x:.1f}" y="{top + 23}" width="{wide:.1f}" height="15" class="part"/>'
                parts.append(f'<g class="{tone}">{box}</g>')
            x += wide
    foot, x = _ROW * len(rows) + 14, _LEFT
    for tone, word in names:
        wide = 16 + _reach(word, _SMALL)
        if x > _LEFT and x + wide > WIDTH:
            foot, x = foot + 18, _LEFT
        parts.append(f'<g class="{tone}"><rect x="{x:.0f}" y="{foot - 10}" width="11" height="11" class="part"/></g>')
        parts.append(_text(x + 16, foot, word, "start", "small"))
        x += wide + 12
    counted = "; ".join(f"{label} " + ", ".join(str(count) for _, count in counts) for label, counts in rows)
    return _svg(foot + 10, f"{', '.join(word for _, word in names)}: {counted}", parts)
