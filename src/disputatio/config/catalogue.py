"""Packaged topics to debate and personalities for debaters, and personalities of a user's own."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from disputatio.config.document import parse_file
from disputatio.errors import InvalidInputError
from disputatio.errors.quoting import did_you_mean, quote
from disputatio.formats.rule_values import Cast, Personality

USUAL = {1: "logical", 2: "aggressive", 3: "data_driven", 4: "emotional"}
"""The default personality of a debater by its place, equal in both teams so that neither has an advantage."""
_LONGEST_NAME, _LONGEST_ABOUT = 60, 4_000


def _packaged(name: str) -> dict[str, Any]:
    return tomllib.loads(files("disputatio.config").joinpath(name).read_text("utf-8"))


@cache
def topics() -> Mapping[str, str]:
    """The built-in topics: a motion by its name."""
    return {name: str(motion) for name, motion in sorted(_packaged("topics.toml").items())}


def topic_named(name: str) -> str:
    """The motion of the built-in topic ``name``.

    Raises:
        InvalidInputError: there is none.
    """
    known = topics()
    if name not in known:
        raise InvalidInputError(
            f"There is no topic called {quote(name)}.",
            f"{did_you_mean(name, known)}`disputatio topics` lists them; or give a motion of your own.",
        )
    return known[name]


def personalities(own: Path | None = None) -> dict[str, Personality]:
    """The personalities by name: the packaged ones, and those of a user's file, which win.

    Raises:
        InvalidInputError: the file cannot be read, or is not a table of tables with ``about``.
    """
    rows = {name: Personality(name, row["about"].strip()) for name, row in _packaged("personalities.toml").items()}
    return rows if own is None else {**rows, **_read_personalities(own)}


def _read_personalities(path: Path) -> dict[str, Personality]:
    tree = parse_file(path)
    found = {}
    for name, row in tree.items() if isinstance(tree, dict) else ():
        about = row.get("about") if isinstance(row, dict) else row
        if not isinstance(name, str) or not isinstance(about, str) or not about.strip():
            raise _unusable(path, f"the personality {quote(name)} has no description")
        if len(name) > _LONGEST_NAME or len(about) > _LONGEST_ABOUT:
            raise _unusable(path, f"the personality {quote(name[:20])} is too long")
        found[name] = Personality(name, about.strip())
    if not found:
        raise _unusable(path, "it has no personality")
    return found


def _unusable(path: Path, cause: str) -> InvalidInputError:
    return InvalidInputError(
        f"The personalities in {path.name} cannot be used: {cause}.",
        f"Write a table for each, such as [logical] with about = '...', of up to {_LONGEST_ABOUT:,} characters.",
    )


def motion_or_topic(motion: str | None, topic: str | None) -> str:
    """The motion that was given, or that of the built-in topic.

    Raises:
        InvalidInputError: both or neither were given, or there is no such topic.
    """
    if topic is not None and motion is not None:
        raise InvalidInputError(
            "A motion and a topic are given, but a debate has one motion.", "Leave one of them out."
        )
    if topic is None and motion is None:
        raise InvalidInputError("There is no motion.", "Give a question or proposition, or the name of a topic.")
    return topic_named(topic) if topic is not None else str(motion)


def _check_personalities(own: Mapping[str, str]) -> dict[str, Personality]:
    """A program's own personalities by name.

    Raises:
        InvalidInputError: one is empty or too long.
    """
    for name, about in own.items():
        if not about.strip() or len(name) > _LONGEST_NAME or len(about) > _LONGEST_ABOUT:
            raise InvalidInputError(
                f"The personality {quote(name[:60])} has no description, or one that is too long.",
                f"Describe it in up to {_LONGEST_ABOUT:,} characters.",
            )
    return {name: Personality(name, about.strip()) for name, about in own.items()}


def make_cast(seats: tuple[str, ...], chosen: Mapping[str, str], own: str | Mapping[str, str] | None) -> Cast:
    """The personalities of all debaters among ``seats``: the chosen ones, or the defaults.

    Raises:
        InvalidInputError: a chosen one does not exist.
    """
    known = (
        {**personalities(), **_check_personalities(own)}
        if isinstance(own, Mapping)
        else personalities(Path(own) if own else None)
    )
    members = []
    for seat in seats:
        team, _, place = seat.rpartition("_")
        if not place.isdigit():
            continue
        name = next((chosen[scope] for scope in (seat, team, "all") if scope in chosen), USUAL.get(int(place), ""))
        if name == "none":
            continue
        if name not in known:
            raise InvalidInputError(
                f"There is no personality called {quote(name)} (for {seat}).",
                f"{did_you_mean(name, known)}Allowed are: {', '.join((*known, 'none'))}.",
            )
        members.append((seat, known[name]))
    return Cast(tuple(members))
