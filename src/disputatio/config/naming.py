"""Who the seats are of a format whose seats the user names: the debaters of a panel.

Their names must be known before anything else is read, since seats, models and weights are set by them. They are taken
from the highest place that gives them: ``--debaters`` (or ``--set debaters=...``), the seats that ``--seat`` names,
``DISPUTATIO_DEBATERS``, the key ``debaters`` of the file; else they are the format's own.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from disputatio.config.command_line import source_of
from disputatio.config.environment import Environment
from disputatio.config.settings import CommandLine
from disputatio.config.values import Given, debaters

VARIABLE = "DISPUTATIO_DEBATERS"
KEY = "debaters"


def named_seats(
    default: Sequence[str], arguments: CommandLine, environment: Environment, in_file: Given | None
) -> tuple[str, ...]:
    """The seats, in the order in which they speak.

    Raises:
        InvalidInputError: a name cannot be one, is there twice, or none is given.
    """
    given = _given(arguments, environment.directory) or environment.get(VARIABLE) or in_file
    return debaters(KEY, given) if given is not None else tuple(default)


def names_in(given: Given | None) -> frozenset[str]:
    """The debaters a file names, for formats that have none: what is set for them is allowed and has no effect."""
    return frozenset(debaters(KEY, given)) if given is not None else frozenset()


def _given(arguments: CommandLine, directory: Path) -> Given | None:
    names = arguments.debaters
    if names is not None:
        given = names if isinstance(names, str) else list(names)
        return Given(given, source_of(arguments, "--debaters", "debaters"), directory)
    for path, value in arguments.set:
        if path == (KEY,):
            return Given(value, source_of(arguments, f"--set {KEY}=...", f"settings.{KEY}"), directory)
    seated = [seat.strip().lower() for seat, _ in arguments.seat]
    seated = [name for name in dict.fromkeys(seated) if name not in {"all", ""}]
    return Given(seated, source_of(arguments, "--seat", "seats"), directory) if seated else None
