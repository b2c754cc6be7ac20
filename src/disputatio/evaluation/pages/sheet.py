"""A page made of sections with tables and figures; every text in it is escaped by the one gate for templates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

from disputatio.report.templates import escaping_environment

if TYPE_CHECKING:
    from jinja2 import Environment

    from disputatio.evaluation.pages.plots import Drawing

POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'"


@dataclass(frozen=True, slots=True)
class Table:
    """Rows under heads; the first column names the row, numbers are set right. ``caption`` says what it shows."""

    caption: str
    heads: Sequence[str]
    rows: Sequence[Sequence[str]]


@dataclass(frozen=True, slots=True)
class Figure:
    """A drawing with a sentence that says what to see in it."""

    drawing: Drawing
    caption: str


@dataclass(frozen=True, slots=True)
class Section:
    """A part of a page. ``anchor`` is its place in the table of contents."""

    anchor: str
    title: str
    intro: str = ""
    figures: Sequence[Figure] = ()
    tables: Sequence[Table] = ()
    notes: Sequence[str] = ()
    folded: bool = False


@dataclass(frozen=True, slots=True)
class Sheet:
    """A whole page. ``notice`` stands above everything, and may be empty; ``finding`` is the result in a sentence."""

    kind: str
    title: str
    finding: str
    sections: Sequence[Section]
    notice: str = ""
    byline: Sequence[str] = ()


def render_sheet(sheet: Sheet) -> str:
    """The page as HTML that needs no network."""
    return _environment().get_template("sheet.html").render(sheet=sheet, policy=POLICY, style=_style())


@cache
def _environment() -> Environment:
    return escaping_environment(_asset)


def _style() -> object:
    from markupsafe import Markup

    # Our own style sheet, which no text of anybody else's is in.
    return Markup(_asset("sheet.css"))  # noqa: S704


def _asset(name: str) -> str:
    return files("disputatio.evaluation.pages").joinpath(name).read_text("utf-8")
