"""Read the motion and the sources of a debate, of which one may come from standard input."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from disputatio._cli.streams import tell
from disputatio.errors import InvalidInputError

if TYPE_CHECKING:
    from disputatio.evidence.sources import Source

_MOST_READ = 1 << 20
"""The most bytes that are read from standard input. No motion is nearly as long."""


def read_given_sources(
    motion: str, evidence: Sequence[Path], by_round: Sequence[str], people: Sequence[str]
) -> tuple[tuple[Source, ...], dict[str, int]]:
    """Read the sources. Returns them, and the round of those that come in a later round.

    Raises:
        InvalidInputError: a source cannot be used, or standard input would be read twice.
    """
    from disputatio.engine.review_setup import read_sources_by_round

    later = read_rounds(by_round)
    check_standard_input(motion, [*evidence, *(path for _, path in later)], people)
    return read_sources_by_round(evidence, later)


def read_rounds(entries: Sequence[str]) -> list[tuple[int, Path]]:
    """Read the rounds and paths of ``--evidence-round``.

    Raises:
        InvalidInputError: an entry is not of the form ``N=PATH``.
    """
    from disputatio.errors.quoting import quote

    rounds = []
    for entry in entries:
        number, sign, path = entry.partition("=")
        if not sign or number.strip() not in {"1", "2", "3"} or not path.strip():
            raise InvalidInputError(
                f"--evidence-round {quote(entry)} does not say which round brings which source.",
                "Allowed is N=PATH with a round from 1 to 3, such as --evidence-round 2=audit.pdf.",
            )
        rounds.append((int(number), Path(path.strip())))
    return rounds


def check_standard_input(motion: str, evidence: Sequence[Path], people: Sequence[str] = ()) -> None:
    """Refuse to read standard input twice.

    Raises:
        InvalidInputError: ``-`` is given more than once, or a person in a seat types there too.
    """
    if people and not sys.stdin.isatty() and "-" in [motion, *map(str, evidence)]:
        raise InvalidInputError(
            "Standard input is given as '-', but the person in a seat types there.",
            "Give the motion as an argument and the sources as files.",
        )
    if [motion, *map(str, evidence)].count("-") > 1:
        raise InvalidInputError(
            "Standard input is given more than once ('-'), but it can be read only once.",
            "Give the motion as an argument and the other sources as files.",
        )


def read_given_motion(motion: str) -> str | bytes:
    """The motion, from standard input if it is ``-``."""
    if motion == "-":
        if sys.stdin.isatty():
            tell("Type the motion, then press Ctrl-D on a line of its own.")
        return sys.stdin.buffer.read(_MOST_READ)
    try:
        motion.encode()
    except UnicodeEncodeError:
        # Python turns bytes that are not UTF-8 into lone surrogates. As bytes they are refused like those of a file.
        return os.fsencode(motion)
    return motion
