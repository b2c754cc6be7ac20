"""``disputatio list``, ``show`` and ``verify``: what the store holds, and whether it can be trusted."""

from __future__ import annotations

import sys
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from disputatio._cli.debating import StoreOption, command_line, store_url
from disputatio._cli.screen import print_json, print_lines, print_list
from disputatio.failures import InvalidInputError, VerificationError

if TYPE_CHECKING:
    from disputatio.record.sql import SqlStore


class View(StrEnum):
    """How a debate can be shown."""

    TEXT = "text"
    JSON = "json"
    MD = "md"


def _open(store: str | None) -> SqlStore:
    from disputatio.record.sql import SqlStore

    return SqlStore(store_url(command_line(store=store)), create=False)


def list_debates(
    json_: Annotated[bool, typer.Option("--json", help="Print the list as JSON.")] = False,
    store: StoreOption = None,
) -> None:
    """List the debates in the store, newest first."""
    from disputatio.record.sql import SqlStore

    rows = SqlStore(store_url(command_line(store=store))).debates()
    if json_:
        print_json(
            [
                {
                    "id": row.id,
                    "opened_at": row.opened_at,
                    "format": row.format,
                    "status": row.status,
                    "motion": row.motion,
                    "events": row.events,
                    "head": row.head,
                }
                for row in rows
            ]
        )
        return
    print_list(rows)


def show(
    debate_id: Annotated[str, typer.Argument(metavar="ID", help="The debate's id, or its beginning.")],
    as_: Annotated[View, typer.Option("--as", help="How to show it.")] = View.TEXT,
    out: Annotated[Path | None, typer.Option("--out", "-o", metavar="FILE", help="Write it to a file.")] = None,
    store: StoreOption = None,
) -> None:
    """Show a recorded debate: its turns, trace table, scores and briefing."""
    from disputatio._cli.screen import console, terminal_width
    from disputatio._terminal import print_report
    from disputatio.door import read_debate
    from disputatio.engine.debates import find_debate
    from disputatio.report import render_json

    opened = _open(store)
    debate = read_debate(opened, find_debate(opened, debate_id))
    if as_ is View.JSON:
        text = render_json(debate.report())
    elif as_ is View.MD:
        text = debate.markdown()
    elif out is None and sys.stdout.isatty():
        print_report(console(), debate.report())
        return
    else:
        text = debate.text(100 if out else terminal_width())
    if out is None:
        print_lines(text)
        return
    try:
        out.write_text(text + "\n", "utf-8")
    except OSError as error:
        raise InvalidInputError(
            f"{out} cannot be written: {(error.strerror or 'unknown cause').lower()}.", "Choose another file."
        ) from None


def verify(
    debate_id: Annotated[str, typer.Argument(metavar="ID", help="The debate's id, or its beginning.")],
    head: Annotated[
        str | None, typer.Option("--head", metavar="HASH", help="The head hash that was kept from an earlier verify.")
    ] = None,
    store: StoreOption = None,
) -> None:
    """Check that no byte of a record was altered, and print its head hash.

    Keep the head hash elsewhere: given back with --head it also shows that nothing was rewritten or cut off.
    """
    from disputatio.engine.debates import find_debate, read_verified

    opened = _open(store)
    found = find_debate(opened, debate_id)
    events = read_verified(opened, found)
    row = next(row for row in opened.debates() if row.id == found)
    if len(events) < row.events or events[row.events - 1].hash != row.head:
        raise VerificationError(
            f"The record of {found} does not verify: it does not hold event {row.events} ({row.head[:12]}) any more, "
            "which the list of debates knows.",
            "Restore it from a backup.",
        )
    if head is not None and not any(event.hash == head.lower() for event in events):
        raise VerificationError(
            f"The record of {found} is whole, but it no longer holds the event {head[:12]}: it was rewritten.",
            "Restore it from a backup.",
        )
    texts = opened.texts(found)
    print_lines(
        f"{found} verifies: {len(events)} events and {len(texts)} texts, nothing altered.\nHead {events[-1].hash}"
    )
