"""``--baseline``: what one model alone, or a free-form debate, says of the same motion, held beside the debate."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    pass

BaselineOption = Annotated[
    str | None,
    typer.Option(
        "--baseline",
        metavar="NAMES",
        help="Held beside it, in the same report: single, vote (at the debate's own token spend), freeform, or all.",
        rich_help_panel="How it is judged",
    ),
]
