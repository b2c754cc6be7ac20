"""``disputatio archive`` and ``restore``: old records leave the store for files that verify, and come back."""

from __future__ import annotations

import asyncio
import re
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from disputatio._cli.given import kept_store
from disputatio._cli.options import StoreOption
from disputatio._cli.streams import print_lines
from disputatio.errors import HeldElsewhereError, InvalidInputError, VerificationError

if TYPE_CHECKING:
    from disputatio.record.sql import SqlStore
    from disputatio.record.store import DebateRow

_DAYS = re.compile(r"([1-9]\d{0,4})d")
_DATE = re.compile(r"\d{4}-\d\d-\d\d")
_MOST_NAMED = 5


def archive(
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="Where the files go, in a folder for each month.")],
    before: Annotated[
        str, typer.Option("--before", metavar="DATE", help="Debates opened before this day, or as many days ago: 90d.")
    ],
    keep: Annotated[
        bool, typer.Option("--keep", metavar="", help="Write the files and leave the store as it is.")
    ] = False,
    store: StoreOption = None,
) -> None:
    """Move finished debates out of the store, each into a file that verifies.

    A record leaves the store only after its file was written, read back and checked. A debate that is not over stays,
    and so does a record that was altered: it is named, with exit code 6. `disputatio restore` brings a record back.
    """
    from disputatio._cli.kept import reading
    from disputatio.record.history import Status

    end = _day(before, datetime.now(UTC))
    open_ = {Status.RUNNING.value, Status.INTERRUPTED.value}
    moved, altered = 0, []
    with reading(kept_store(store)) as opened:
        rows = [row for row in opened.debates() if row.opened_at < end and row.status not in open_]
        for row in rows:
            try:
                moved += _archive(opened, row, folder, keep=keep)
            except HeldElsewhereError:
                continue
            except VerificationError as error:
                altered.append((row.id, error))
    print_lines(
        f"{moved:,} of {len(rows):,} finished debates from before {end} {'copied' if keep else 'moved'} to {folder}."
    )
    if altered:
        names = ", ".join(name for name, _ in altered[:_MOST_NAMED])
        more = f" and {len(altered) - _MOST_NAMED} more" if len(altered) > _MOST_NAMED else ""
        raise VerificationError(f"Left in the store: {names}{more}. {altered[0][1].cause}", altered[0][1].next_step)


def restore(
    files: Annotated[list[Path], typer.Argument(metavar="FILE...", help="Files that `disputatio archive` wrote.")],
    check: Annotated[bool, typer.Option("--check", metavar="", help="Verify the files, and change nothing.")] = False,
    store: StoreOption = None,
) -> None:
    """Bring archived debates back into the store, or verify their files with --check.

    All files are read and checked first: where one was altered, nothing is restored. A debate that is in the store
    already is left as it is.
    """
    from disputatio.record.archive import read_archive

    if check:
        for file in files:
            record = read_archive(file)
            print_lines(f"{record.debate} verifies: {len(record.events):,} events. Head {record.head}")
        return
    for file in files:
        read_archive(file)
    asyncio.run(_restore(files, kept_store(store)))


async def _restore(files: list[Path], url: str) -> None:
    from disputatio.record.archive import read_archive, restore
    from disputatio.record.sql import SqlStore

    opened = SqlStore(url)
    try:
        for file in files:
            record = read_archive(file)
            found = "restored" if await restore(opened, record) else "is in the store already"
            print_lines(f"{record.debate} {found}. Head {record.head}")
    finally:
        await opened.aclose()


def _archive(store: SqlStore, row: DebateRow, folder: Path, *, keep: bool) -> bool:
    from disputatio.record.archive import ArchivedRecord, archive_path, remove, write_archive
    from disputatio.record.verified import read_verified

    store.claim(row.id)
    try:
        record = ArchivedRecord(row.id, read_verified(store, row.id), store.texts(row.id))
        write_archive(archive_path(folder, row.opened_at, row.id), record)
        return keep or remove(store, record)
    finally:
        store.release(row.id)


def _day(text: str, now: datetime) -> str:
    """The day that ``--before`` names.

    Raises:
        InvalidInputError: it names none.
    """
    if days := _DAYS.fullmatch(text.strip()):
        return f"{now - timedelta(days=int(days[1])):%Y-%m-%d}"
    try:
        if _DATE.fullmatch(text.strip()):
            return f"{datetime.fromisoformat(text.strip()):%Y-%m-%d}"
    except ValueError:
        pass
    raise InvalidInputError(
        f"--before {text[:40]!r} is no day.", "Give one such as 2026-01-31, or 90d for 90 days ago."
    )
