"""The one gate for texts on their way into an HTML document: hidden characters are taken out and the rest is escaped.

A template cannot forget to, because it is the environment that does it, for the page of a debate and its dossier alike.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from disputatio.motion import clean

if TYPE_CHECKING:
    from jinja2 import Environment


BLOCKS = "block.html"
"""The template by which every HTML document shows its blocks."""


def fit_to_show(value: Any) -> Any:
    """What an expression of a template gives, made fit to be shown; markup of our own stays as it is."""
    return value.__html__() if hasattr(value, "__html__") else clean(str(value))


def escaping_environment(asset: Callable[[str], str], finalize: Callable[[Any], Any] = fit_to_show) -> Environment:
    """An environment for the templates that ``asset`` reads by name; a name that is not defined is an error.

    Args:
        asset: the text of a template.
        finalize: makes every value fit to be shown; ends in ``fit_to_show``.
    """
    from jinja2 import Environment, FunctionLoader, StrictUndefined

    environment = Environment(
        autoescape=True,
        loader=FunctionLoader(lambda name: blocks_template() if name == BLOCKS else asset(name)),
        undefined=StrictUndefined,
        finalize=finalize,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.tests["of_kind"] = lambda block, name: type(block).__name__ == name
    return environment


@cache
def blocks_template() -> str:
    """The template that shows blocks."""
    return files("disputatio.report").joinpath(BLOCKS).read_text("utf-8")
