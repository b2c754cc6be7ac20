"""The presets of reviews. Each is a TOML file in the folder ``presets``."""

from __future__ import annotations

import tomllib
from functools import cache
from importlib.resources import files

from disputatio.errors import InvalidInputError
from disputatio.errors.quoting import did_you_mean, quote
from disputatio.formats.rule_values import Brief


@cache
def presets() -> dict[str, Brief]:
    """Every preset by its name."""
    folder = files("disputatio.config").joinpath("presets")
    names = sorted(entry.name for entry in folder.iterdir() if entry.name.endswith(".toml"))
    return {name.removesuffix(".toml"): _read(folder.joinpath(name).read_text("utf-8"), name) for name in names}


def preset_named(name: str, source: str) -> Brief:
    """The preset called ``name``. The beginning of a name is enough if it fits only one.

    Raises:
        InvalidInputError: no preset or several fit.
    """
    known = presets()
    fitting = [name] if name in known else [row for row in known if row.startswith(name)]
    if len(fitting) == 1:
        return known[fitting[0]]
    raise InvalidInputError(
        f"There is no preset called {quote(name)} (from {source}).",
        f"{did_you_mean(name, known)}The presets are: {', '.join(known)}.",
    )


def _read(text: str, name: str) -> Brief:
    return Brief.from_json({"name": name.removesuffix(".toml"), **tomllib.loads(text)})
