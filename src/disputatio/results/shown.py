"""A result in a few lines, as ``repr`` gives it, and in a notebook: its first screen and its map of arguments."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

from disputatio.motion import one_line
from disputatio.report.amounts import counted, seat_name, spoken
from disputatio.report.page.argument_map import MapSide, argument_map
from disputatio.report.page.exchange import Exchange
from disputatio.report.summary import first_blocks
from disputatio.report.templates import escaping_environment
from disputatio.results.result import Result

if TYPE_CHECKING:
    from jinja2 import Environment

_WIDTH = 120
_MOST_ARGUMENTS = 40


def short_text(result: Result) -> str:
    """The id, the status, the decision, the worst doubt and the cost, each on a line of at most 120 characters."""
    screen = result.screen
    rows = (
        f"<Debate {result.report.id}: {screen.status.value}, {screen.kind}>",
        f"  Motion: {screen.title}",
        f"  {screen.label}: {screen.decision}",
        f"  Worst doubt: {screen.worst_doubt.text}",
        f"  Cost: {screen.cost}",
    )
    return "\n".join(f"{row[:2] if row[0] == ' ' else ''}{one_line(row, _WIDTH - 2)}" for row in rows)


def notebook_html(result: Result) -> str:
    """The first screen and the map of arguments as a piece of HTML for a notebook.

    It needs nothing else, runs nothing, links nowhere, and its style touches nothing outside of it. All words of the
    debate are escaped. A map of more than 40 arguments is cut, and says so.
    """
    title, entries = first_blocks(result.report)
    sides = argument_map(Exchange.of(result.report))
    shown = _first(sides)
    left = sum(len(side.arguments) for side in sides) - sum(len(side.arguments) for side in shown)
    more = f"{counted(left, 'further argument')} not shown here: .html() has the whole page." if left else ""
    return _environment().get_template("notebook.html").render(title=title, entries=entries, sides=shown, more=more)


def _first(sides: tuple[MapSide, ...]) -> tuple[MapSide, ...]:
    """The first arguments of every side, as many of each."""
    each = _MOST_ARGUMENTS // max(1, len(sides))
    return tuple(MapSide(side.name, side.arguments[:each]) for side in sides)


@cache
def _environment() -> Environment:
    environment = escaping_environment(lambda name: files("disputatio.results").joinpath(name).read_text("utf-8"))
    environment.filters |= {"seat_name": seat_name, "spoken": spoken}
    return environment
