"""``disputatio list``, ``show`` and ``verify``: what the store holds, and whether it can be trusted."""

from __future__ import annotations

import re
import sys
import tempfile
import webbrowser
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from disputatio._cli.given import located_store
from disputatio._cli.kept import reading, reading_debate
from disputatio._cli.options import StoreOption
from disputatio._cli.screen import print_list
from disputatio._cli.streams import print_json, print_lines
from disputatio.errors import InvalidInputError, UnknownDebateError, VerificationError

if TYPE_CHECKING:
    from disputatio.record.store import DebateRow, Store
    from disputatio.report.text import Detail


class View(StrEnum):
    """How a debate can be shown."""

    TEXT = "text"
    JSON = "json"
    MD = "md"
    HTML = "html"
    ARGDOWN = "argdown"


def list_debates(
    json_: Annotated[bool, typer.Option("--json", metavar="", help="Print the list as JSON.")] = False,
    store: StoreOption = None,
) -> None:
    """List the debates in the store, newest first."""
    rows = _listed(store)
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
                    "parent": row.parent or None,
                }
                for row in rows
            ]
        )
        return
    print_list(rows)


def _listed(store: str | None) -> Sequence[DebateRow]:
    """What the store holds; nothing where nobody has held a debate yet, which is no failure."""
    from disputatio.record.database import list_file

    url, is_default = located_store(store)
    if is_default and not Path(url.removeprefix("sqlite:///")).exists():
        return ()
    rows = list_file(url)
    if rows is not None:
        return rows
    with reading(url) as opened:
        return opened.debates()


def _used_store(store: str | None) -> str:
    """The address of a store that may hold debates.

    Raises:
        UnknownDebateError: the usual store does not exist yet, because no debate was held.
    """
    url, is_default = located_store(store)
    if is_default and not Path(url.removeprefix("sqlite:///")).exists():
        raise UnknownDebateError(
            "There are no debates yet.", 'Start one: disputatio debate "We should adopt microservices"'
        )
    return url


def show(
    debate_id: Annotated[str, typer.Argument(metavar="ID", help="The debate's id, or its beginning.")],
    as_: Annotated[View, typer.Option("--as", help="How to show it.")] = View.TEXT,
    brief: Annotated[bool, typer.Option("--brief", metavar="", help="Only the first screen of the text.")] = False,
    full: Annotated[bool, typer.Option("--full", metavar="", help="All of the text, with every turn.")] = False,
    out: Annotated[Path | None, typer.Option("--out", "-o", metavar="FILE", help="Write it to a file.")] = None,
    open_: Annotated[bool, typer.Option("--open", metavar="", help="Write it to a file and open that.")] = False,
    store: StoreOption = None,
) -> None:
    """Show a recorded debate: its decision, its worst doubt, and what they rest on, in at most 120 lines.

    With --brief it shows the decision, the worst doubt and the cost alone; with --full also every turn.

    A record that was altered is shown as it is now, with exit code 6 and a sentence on what was found. While people sit
    in a debate that is not over, only what all of them may hear is shown.
    """
    if brief and full:
        raise InvalidInputError("--brief and --full exclude each other.", "Give one of them, or neither.")
    if (brief or full) and as_ is not View.TEXT:
        chosen = "--brief" if brief else "--full"
        raise InvalidInputError(f"{chosen} is about the text, and --as {as_.value} is not.", "Leave one of them out.")
    from disputatio.report.text import Detail

    # A file is made to be kept, so it holds everything unless less is asked for.
    detail = Detail.BRIEF if brief else Detail.FULL if full or out is not None or open_ else Detail.SHORT
    if open_ and out is None:
        # A folder of its own: a name that others can guess could be a link of theirs to another file.
        out = Path(tempfile.mkdtemp(prefix="disputatio-")) / f"debate.{'txt' if as_ is View.TEXT else as_.value}"
    with reading_debate(_used_store(store), debate_id) as (opened, found):
        _show_found(opened, found, Shown(as_, out, detail, store or ""))
    if open_ and out is not None and not webbrowser.open(out.resolve().as_uri()):
        raise InvalidInputError("No browser could be started here.", f"Open {out} yourself.")


@dataclass(frozen=True, slots=True)
class Shown:
    """What is shown of a debate, and where. ``address`` is the store as it was named on the command line."""

    view: View
    out: Path | None
    detail: Detail
    address: str


def _show_found(store: Store, found: str, shown: Shown) -> None:
    from disputatio.record.verified import read_verified

    altered: VerificationError | None = None
    try:
        read_verified(store, found)
    except VerificationError as error:
        altered = error
    try:
        _show(store, found, shown)
    except (InvalidInputError, OSError):
        raise
    except Exception:
        if altered is None:
            raise
        raise VerificationError(altered.cause, f"Too little of it is left to show. {altered.next_step}") from None
    if altered is not None:
        raise VerificationError(f"What is shown cannot be trusted. {altered.cause}", altered.next_step)


def _show(store: Store, debate_id: str, shown: Shown) -> None:
    from disputatio._cli.screen import console, terminal_width
    from disputatio._terminal import print_report
    from disputatio.debates import read_debate
    from disputatio.report.text import render_text

    as_, out = shown.view, shown.out
    debate = read_debate(store, debate_id).for_audience()
    if as_ is View.JSON and out is None:
        print_json(debate.as_json())
        return
    if as_ is View.JSON:
        from disputatio.report.json_export import render_json

        text = render_json(debate.report())
    elif as_ is View.MD:
        text = debate.markdown()
    elif as_ is View.HTML:
        text = debate.html()
    elif as_ is View.ARGDOWN:
        text = debate.argdown()
    elif out is None and sys.stdout.isatty():
        print_report(console(), debate.report(), shown.detail, shown.address)
        return
    else:
        text = render_text(debate.report(), 100 if out else terminal_width(), shown.detail, shown.address)
    write_or_print(text, out)


def write_or_print(text: str, out: Path | None) -> None:
    """Put a text into a file, or on standard output where none is named.

    Raises:
        InvalidInputError: the file cannot be written.
    """
    if out is None:
        print_lines(text)
        return
    try:
        out.write_text(text if text.endswith("\n") else text + "\n", "utf-8")
    except (OSError, ValueError) as error:
        raise InvalidInputError(
            f"{str(out)[:200]} cannot be written: {(getattr(error, 'strerror', None) or str(error)).lower()}.",
            "Choose another file.",
        ) from None


_HEAD = re.compile(r"[0-9a-f]{64}")


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
    from disputatio.motion import one_line
    from disputatio.record.chain import Sealed
    from disputatio.record.events import DebateForked
    from disputatio.record.verified import read_verified
    from disputatio.report.amounts import counted

    kept = None if head is None else head.strip().lower()
    if kept is not None and not _HEAD.fullmatch(kept):
        raise InvalidInputError(
            f"--head {head[:80]!r} is no head hash." if head else "--head is empty.",
            "Give the 64 hexadecimal digits that an earlier verify printed.",
        )
    with reading_debate(_used_store(store), debate_id) as (opened, found):
        events = read_verified(opened, found)
        texts = opened.texts(found)
    if kept is not None and not any(event.hash == kept for event in events):
        raise VerificationError(
            f"The record of {found} is whole, but it no longer holds the event {kept[:12]}: it was rewritten.",
            "Restore it from a backup.",
        )
    forked = next((row for row in map(Sealed.event, events[1:2]) if isinstance(row, DebateForked)), None)
    print_lines(
        f"{found} verifies: {counted(len(events), 'event')} and {counted(len(texts), 'text')}, nothing altered.\n"
        f"Head {events[-1].hash}"
        + ("" if forked is None else f"\nA fork of {one_line(forked.parent, 40)}, whose head was {forked.head[:64]}")
    )
