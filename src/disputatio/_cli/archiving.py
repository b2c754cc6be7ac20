"""``disputatio archive`` and ``restore``: move old records from the store to files, and back."""

from __future__ import annotations

import asyncio
import re
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from disputatio._cli.options import StoreOption
from disputatio._cli.stores import open_store, store_address
from disputatio._cli.streams import print_lines
from disputatio.errors import HeldElsewhereError, InvalidInputError, VerificationError
from disputatio.errors.quoting import name_some

if TYPE_CHECKING:
    from disputatio.record.sql import SqlStore
    from disputatio.record.store import DebateRow

_DAYS = re.compile(r"([1-9]\d{0,4})d")
_DATE = re.compile(r"\d{4}-\d\d-\d\d")


def archive(
    folder: Annotated[
        Path, typer.Argument(metavar="FOLDER", help="The folder for the files. Each month gets a folder in it.")
    ],
    before: Annotated[
        str,
        typer.Option(
            "--before",
            metavar="DATE",
            help="Take debates from before this day, such as 2026-01-31, or from before 90 days: 90d.",
        ),
    ],
    keep: Annotated[
        bool, typer.Option("--keep", metavar="", help="Write the files and leave the store as it is.")
    ] = False,
    store: StoreOption = None,
) -> None:
    """Move finished debates out of the store, each to a file that can be verified.

    A record leaves the store only after its file was written, read back and checked. Debates that are not over stay.
    Altered records stay too: the command names them and ends with exit code 6. `disputatio restore` brings records
    back.
    """
    from disputatio.record.history import Status

    end = _read_day(before, datetime.now(UTC))
    open_ = {Status.RUNNING.value, Status.INTERRUPTED.value}
    moved, altered = 0, []
    with open_store(store_address(store)) as opened:
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
        names = name_some([name for name, _ in altered])
        raise VerificationError(f"Left in the store: {names}. {altered[0][1].cause}", altered[0][1].next_step)


def restore(
    files: Annotated[list[Path], typer.Argument(metavar="FILE...", help="Files that `disputatio archive` wrote.")],
    check: Annotated[bool, typer.Option("--check", metavar="", help="Only verify the files.")] = False,
    store: StoreOption = None,
) -> None:
    """Bring archived debates back into the store, or verify their files with --check.

    All files are read and checked first. If one was altered, nothing is restored. A debate that the store has already
    stays as it is.
    """
    from disputatio.record.archive import read_archive

    if check:
        for file in files:
            record = read_archive(file)
            print_lines(f"{record.debate} verifies: {len(record.events):,} events. Head {record.head}")
        return
    for file in files:
        read_archive(file)
    asyncio.run(_restore(files, store_address(store)))


async def _restore(files: list[Path], url: str) -> None:
    from contextlib import aclosing

    from disputatio.record.archive import read_archive, restore
    from disputatio.record.sql import SqlStore

    async with aclosing(SqlStore(url)) as store:
        for file in files:
            record = read_archive(file)
            result = "restored" if await restore(store, record) else "is in the store already"
            print_lines(f"{record.debate} {result}. Head {record.head}")


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


def _read_day(text: str, now: datetime) -> str:
    """Read the day of ``--before``.

    Raises:
        InvalidInputError: it is not a day.
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
