"""What may be said of a review on the command line."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from disputatio.failures import InvalidInputError

_REVIEW = "What a review looks at"

PresetOption = Annotated[
    str | None,
    typer.Option(
        "--preset",
        metavar="NAME",
        help="What a review looks for: contract-risk, security-threat-model, architecture-decision, investment-thesis "
        "or regulatory-compliance.",
        rich_help_panel=_REVIEW,
    ),
]
TaskTypeOption = Annotated[
    str | None,
    typer.Option("--task-type", metavar="TYPE", help="What kind of decision is reviewed.", rich_help_panel=_REVIEW),
]
PositionOption = Annotated[
    list[str] | None,
    typer.Option(
        "--position",
        metavar="SENTENCE",
        help="One of several positions, each with a proposer of its own; repeatable.",
        rich_help_panel=_REVIEW,
    ),
]
EvidenceRoundOption = Annotated[
    list[str] | None,
    typer.Option(
        "--evidence-round",
        metavar="N=PATH",
        help="A source that round N of a review brings; repeatable.",
        rich_help_panel=_REVIEW,
    ),
]


def read_rounds(entries: Sequence[str]) -> list[tuple[int, Path]]:
    """The rounds and paths of ``--evidence-round``.

    Raises:
        InvalidInputError: one does not say which source belongs to which round.
    """
    from disputatio.failures.quoting import shown

    found = []
    for entry in entries:
        number, sign, path = entry.partition("=")
        if not sign or number.strip() not in {"1", "2", "3"} or not path.strip():
            raise InvalidInputError(
                f"--evidence-round {shown(entry)} does not say which round brings which source.",
                "Allowed is N=PATH with a round from 1 to 3, such as --evidence-round 2=audit.pdf.",
            )
        found.append((int(number), Path(path.strip())))
    return found
