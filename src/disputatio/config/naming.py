"""Who the seats are of a format whose seats the user names: the debaters of a panel.

Their names must be known before anything else is read, since seats, models and weights are set by them. They are taken
from the highest place that gives them: ``--debaters`` (or ``--set debaters=...``), the seats that ``--seat`` names,
``DISPUTATIO_DEBATERS``, the key ``debaters`` of the file; else they are the format's own.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from disputatio.config.arguments import Arguments
from disputatio.config.environment import Environment
from disputatio.formats.options import read_debaters
from disputatio.options import Given

VARIABLE = "DISPUTATIO_DEBATERS"
KEY = "debaters"


def named_seats(
    default: Sequence[str], arguments: Arguments, environment: Environment, in_file: Given | None
) -> tuple[str, ...]:
    """The seats, in the order in which they speak.

    Raises:
        InvalidInputError: a name cannot be one, is there twice, or none is given.
    """
    given = _given(arguments, environment.directory) or environment.get(VARIABLE) or in_file
    return read_debaters(KEY, given) if given is not None else tuple(default)


def names_in(given: Given | None) -> frozenset[str]:
    """The debaters a file names, for formats that have none: what is set for them is allowed and has no effect."""
    return frozenset(read_debaters(KEY, given)) if given is not None else frozenset()


def _given(arguments: Arguments, directory: Path) -> Given | None:
    for path, given in arguments.given:
        if path == (KEY,):
            return given
    seated = [seat.strip().lower() for seat, _ in arguments.seated()]
    seated = [name for name in dict.fromkeys(seated) if name not in {"all", ""}]
    source = next((given.source.partition(" ")[0] for path, given in arguments.given if path[0] == "seats"), "")
    return Given(seated, source, directory) if seated else None
