"""What is read from standard input before a debate begins: once, and by nobody else."""

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
"""Bytes of standard input; no motion is nearly as long."""


def sources_given(
    motion: str, evidence: Sequence[Path], by_round: Sequence[str], people: Sequence[str]
) -> tuple[tuple[Source, ...], dict[str, int]]:
    """The sources, and the round that brings each of those that come later.

    Raises:
        InvalidInputError: one of them cannot be used, or standard input would be read twice.
    """
    from disputatio.engine.review_setup import read_sources_by_round

    later = read_rounds(by_round)
    check_standard_input(motion, [*evidence, *(path for _, path in later)], people)
    return read_sources_by_round(evidence, later)


def read_rounds(entries: Sequence[str]) -> list[tuple[int, Path]]:
    """The rounds and paths of ``--evidence-round``.

    Raises:
        InvalidInputError: one does not say which source belongs to which round.
    """
    from disputatio.errors.quoting import quote

    found = []
    for entry in entries:
        number, sign, path = entry.partition("=")
        if not sign or number.strip() not in {"1", "2", "3"} or not path.strip():
            raise InvalidInputError(
                f"--evidence-round {quote(entry)} does not say which round brings which source.",
                "Allowed is N=PATH with a round from 1 to 3, such as --evidence-round 2=audit.pdf.",
            )
        found.append((int(number), Path(path.strip())))
    return found


def check_standard_input(motion: str, evidence: Sequence[Path], people: Sequence[str] = ()) -> None:
    """Refuse to read standard input twice: the second reading would find nothing.

    Raises:
        InvalidInputError: ``-`` is given more than once, or a person in a seat is to be read there too.
    """
    if people and not sys.stdin.isatty() and "-" in [motion, *map(str, evidence)]:
        raise InvalidInputError(
            "Standard input is given as '-', and the person in a seat is to type there.",
            "Give the motion as an argument and the sources as files.",
        )
    if [motion, *map(str, evidence)].count("-") > 1:
        raise InvalidInputError(
            "Standard input is given more than once ('-'), and it can be read once.",
            "Give the motion as an argument and the other sources as files.",
        )


def motion_given(motion: str) -> str | bytes:
    """The motion itself; where it is ``-`` what standard input has."""
    if motion == "-":
        if sys.stdin.isatty():
            tell("Type the motion, then press Ctrl-D on a line of its own.")
        return sys.stdin.buffer.read(_MOST_READ)
    try:
        motion.encode()
    except UnicodeEncodeError:
        # Bytes that are no UTF-8 come as lone surrogates; as bytes they are refused like those of a file.
        return os.fsencode(motion)
    return motion
