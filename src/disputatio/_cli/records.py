"""``disputatio list``, ``show`` and ``verify``: show the debates of a store and verify their records."""

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

from disputatio._cli.options import DebateArgument, OutFileOption, StoreOption
from disputatio._cli.screen import print_list
from disputatio._cli.stores import locate_store, open_debate, open_store
from disputatio._cli.streams import print_json, print_lines
from disputatio.errors import InvalidInputError, UnknownDebateError, VerificationError

if TYPE_CHECKING:
    from disputatio.record.store import DebateRow, Store
    from disputatio.report.text import Detail


class View(StrEnum):
    """The formats in which a debate can be shown."""

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
    rows = _list_rows(store)
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


def _list_rows(store: str | None) -> Sequence[DebateRow]:
    """The debates of the store; none if the default store does not exist yet."""
    from disputatio.record.database import list_file

    url, is_default = locate_store(store)
    if is_default and not Path(url.removeprefix("sqlite:///")).exists():
        return ()
    rows = list_file(url)
    if rows is not None:
        return rows
    with open_store(url) as opened:
        return opened.debates()


def _used_store(store: str | None) -> str:
    """The address of a store that may have debates.

    Raises:
        UnknownDebateError: the default store does not exist yet, because no debate was run.
    """
    url, is_default = locate_store(store)
    if is_default and not Path(url.removeprefix("sqlite:///")).exists():
        raise UnknownDebateError(
            "There are no debates yet.", 'Start one: disputatio debate "We should adopt microservices"'
        )
    return url


def show(
    debate_id: DebateArgument,
    as_: Annotated[View, typer.Option("--as", help="The format of the output.")] = View.TEXT,
    brief: Annotated[bool, typer.Option("--brief", metavar="", help="Show only the first screen of the text.")] = False,
    full: Annotated[bool, typer.Option("--full", metavar="", help="Show all of the text, with every turn.")] = False,
    out: OutFileOption = None,
    open_: Annotated[bool, typer.Option("--open", metavar="", help="Write to a file and open it.")] = False,
    store: StoreOption = None,
) -> None:
    """Show a recorded debate: its decision, its worst doubt, and the reasons for both, in at most 120 lines.

    --brief shows only the decision, the worst doubt and the cost. --full also shows every turn.

    An altered record is shown as it is now, with a warning and exit code 6. While people take part in a debate that is
    not over, the command shows only what all of them may see.
    """
    if brief and full:
        raise InvalidInputError("--brief and --full exclude each other.", "Give one of them, or neither.")
    if (brief or full) and as_ is not View.TEXT:
        chosen = "--brief" if brief else "--full"
        raise InvalidInputError(
            f"{chosen} shortens the text, and --as {as_.value} is not text.", "Leave one of them out."
        )
    from disputatio.report.text import Detail

    # A file gets everything unless the user asks for less.
    detail = Detail.BRIEF if brief else Detail.FULL if full or out is not None or open_ else Detail.SHORT
    if open_ and out is None:
        # A new folder: at a name that other users can guess, they could place a link to another file.
        out = Path(tempfile.mkdtemp(prefix="disputatio-")) / f"debate.{'txt' if as_ is View.TEXT else as_.value}"
    with open_debate(_used_store(store), debate_id) as (opened, found):
        _show_checked(opened, found, _Output(as_, out, detail, store or ""))
    if open_ and out is not None and not webbrowser.open(out.resolve().as_uri()):
        raise InvalidInputError("No browser could be started here.", f"Open {out} yourself.")


@dataclass(frozen=True, slots=True)
class _Output:
    """How and where a debate is shown. ``address`` is the store as the command line names it."""

    view: View
    out: Path | None
    detail: Detail
    address: str


def _show_checked(store: Store, debate_id: str, output: _Output) -> None:
    from disputatio.record.verified import read_verified

    altered: VerificationError | None = None
    try:
        read_verified(store, debate_id)
    except VerificationError as error:
        altered = error
    try:
        _show(store, debate_id, output)
    except (InvalidInputError, OSError):
        raise
    except Exception:
        if altered is None:
            raise
        raise VerificationError(
            altered.cause, f"Too little of it is left to show anything. {altered.next_step}"
        ) from None
    if altered is not None:
        raise VerificationError(f"Do not trust what is shown. {altered.cause}", altered.next_step)


def _show(store: Store, debate_id: str, output: _Output) -> None:
    from disputatio._cli.screen import console, terminal_width
    from disputatio._terminal import print_report
    from disputatio.debates import read_debate
    from disputatio.report.text import render_text

    as_, out = output.view, output.out
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
        print_report(console(), debate.report(), output.detail, output.address)
        return
    else:
        text = render_text(debate.report(), 100 if out else terminal_width(), output.detail, output.address)
    write_or_print(text, out)


def write_or_print(text: str, out: Path | None) -> None:
    """Write a text to a file, or to standard output if there is no file.

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
    debate_id: DebateArgument,
    head: Annotated[
        str | None, typer.Option("--head", metavar="HASH", help="The head hash that an earlier verify printed.")
    ] = None,
    store: StoreOption = None,
) -> None:
    """Check that no byte of a record was altered, and print its head hash.

    Store the head hash elsewhere. With --head it also proves that the record was not rewritten or cut off.
    """
    from disputatio.motion import one_line
    from disputatio.record.chain import Sealed
    from disputatio.record.events import DebateForked
    from disputatio.record.verified import read_verified
    from disputatio.report.amounts import counted

    expected = None if head is None else head.strip().lower()
    if expected is not None and not _HEAD.fullmatch(expected):
        raise InvalidInputError(
            f"--head {head[:80]!r} is not a head hash." if head else "--head is empty.",
            "Give the 64 hexadecimal digits that an earlier verify printed.",
        )
    with open_debate(_used_store(store), debate_id) as (opened, found):
        events = read_verified(opened, found)
        texts = opened.texts(found)
    if expected is not None and not any(event.hash == expected for event in events):
        raise VerificationError(
            f"The record of {found} is consistent, but the event {expected[:12]} is missing: it was rewritten.",
            "Restore it from a backup.",
        )
    forked = next((row for row in map(Sealed.event, events[1:2]) if isinstance(row, DebateForked)), None)
    print_lines(
        f"{found} verifies: {counted(len(events), 'event')} and {counted(len(texts), 'text')}, nothing altered.\n"
        f"Head {events[-1].hash}"
        + ("" if forked is None else f"\nA fork of {one_line(forked.parent, 40)}, whose head was {forked.head[:64]}")
    )
