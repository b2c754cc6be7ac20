"""Archive whole records in files of their own, so that a store need not keep them forever.

A file is JSON lines compressed with gzip: a header (format, debate, number of events, last hash), each event as its row
of the store, then each text. The chain is checked on writing and again on restoring. Events are kept byte for byte, so
the head hash of a record never changes.
"""

from __future__ import annotations

import gzip
import json
import os
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from disputatio.errors import InvalidInputError, VerificationError
from disputatio.record.chain import Sealed, find_fault, split_events
from disputatio.record.sql import SqlStore
from disputatio.record.store import EventBatch
from disputatio.record.text import digest

_FORMAT = "disputatio-archive-1"
_SUFFIX = ".jsonl.gz"
_MOST_BYTES = 1 << 30
"""Most bytes of an unpacked file. Small files can unpack to any size."""


@dataclass(frozen=True, slots=True)
class ArchivedRecord:
    """A record in a file: all events in order, and their texts by hash."""

    debate: str
    events: tuple[Sealed, ...]
    texts: Mapping[str, str]

    @property
    def head(self) -> str:
        """The hash of the last event."""
        return self.events[-1].hash


def archive_path(folder: Path, opened_at: str, debate: str) -> Path:
    """The file of ``debate`` below ``folder``, in a folder for the month of its opening."""
    return folder / opened_at[:7] / f"{debate}{_SUFFIX}"


def write_archive(path: Path, record: ArchivedRecord) -> None:
    """Write ``record`` to ``path`` atomically, read it back and check it. A shorter file of it is replaced.

    Raises:
        InvalidInputError: ``path`` cannot be written, or holds another record, or more of this one.
        VerificationError: what was read back does not verify.
    """
    if path.exists():
        there = read_archive(path)
        if record.events[: len(there.events)] != there.events:
            raise InvalidInputError(
                f"{path} holds another record of {there.debate}.", "Move it away, or choose another folder."
            )
    part = path.with_suffix(".part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with part.open("wb") as sink:
            with gzip.GzipFile("", "wb", fileobj=sink, mtime=0) as packed:
                packed.writelines(_lines(record))
            sink.flush()
            os.fsync(sink.fileno())
        if read_archive(part) != record:
            raise VerificationError(
                f"{part} does not hold what was written to it.", "Check the disk; nothing was removed."
            )
        part.replace(path)
        _sync(path.parent)
    except OSError as error:
        raise InvalidInputError(
            f"{path} cannot be written: {(error.strerror or str(error)).lower()}.", "Choose another folder."
        ) from error


def read_archive(path: Path) -> ArchivedRecord:
    """Read and check the record in ``path``.

    Raises:
        InvalidInputError: the file cannot be read, or is no archive.
        VerificationError: it was altered.
    """
    try:
        rows = _rows(path)
        heading = next(rows, None)
        if not isinstance(heading, dict) or heading.get("archive") != _FORMAT:
            raise InvalidInputError(f"{path} is no archive of a debate.", "Give files that `disputatio archive` wrote.")
        debate, events, texts = str(heading.get("debate")), [], {}
        for row in rows:
            if isinstance(row, str):
                texts[digest(row)] = row
            else:
                seq, at, kind, body, previous, own = row
                events.append(Sealed(debate, int(seq), *map(_text, (at, kind, body, previous, own))))
    except (OSError, EOFError, ValueError, TypeError, zlib.error) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else "it is damaged"
        raise InvalidInputError(f"{path} cannot be read: {reason.lower()}.", "Restore it from a backup.") from error
    record = ArchivedRecord(debate, tuple(events), texts)
    fault = find_fault(record.events, texts)
    if fault is None and (not events or (len(events), record.head) != (heading.get("events"), heading.get("head"))):
        fault = "its heading names another end"
    if fault is not None:
        raise VerificationError(f"{path} was altered: {fault}.", "Restore it from a backup.")
    return record


def remove(store: SqlStore, record: ArchivedRecord) -> bool:
    """Delete a record from the store if it still equals ``record``. Returns whether it did.

    The caller holds the claim of the debate.
    """
    import sqlalchemy as sa

    from disputatio.record.tables import debates, events, questions, summaries, texts

    with store.engine.begin() as connection:
        last = sa.select(events.c.hash).where(events.c.debate == record.debate).order_by(events.c.seq.desc()).limit(1)
        if connection.execute(last).scalar() != record.head:
            return False
        for table in (texts, events, questions, summaries):
            connection.execute(sa.delete(table).where(table.c.debate == record.debate))
        connection.execute(sa.delete(debates).where(debates.c.id == record.debate))
    return True


async def restore(store: SqlStore, record: ArchivedRecord) -> bool:
    """Put a record back. False where the store already has the debate.

    Raises:
        StoreError: the store cannot be written.
    """
    if store.row(record.debate) is not None:
        return False
    store.claim(record.debate)
    try:
        await store.append(EventBatch(record.debate, record.events, record.texts))
    finally:
        store.release(record.debate)
    return True


def _lines(record: ArchivedRecord) -> Iterator[bytes]:
    heading = {"archive": _FORMAT, "debate": record.debate, "events": len(record.events), "head": record.head}
    yield _line(heading)
    for part in split_events(record.events):
        for sealed in part:
            yield _line(sealed[1:])
    for name in sorted(record.texts):
        yield _line(record.texts[name])


def _line(value: Mapping[str, Any] | Sequence[Any]) -> bytes:
    return json.dumps(value).encode() + b"\n"


def _rows(path: Path) -> Iterator[Any]:
    size = 0
    with gzip.open(path, "rb") as packed:
        while line := packed.readline(_MOST_BYTES + 1 - size):
            size += len(line)
            if size > _MOST_BYTES:
                raise InvalidInputError(f"{path} unpacks to more than {_MOST_BYTES:,} bytes.", "No debate is as long.")
            yield json.loads(line)


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError("a field of an event is no text")
    return value


def _sync(folder: Path) -> None:
    place = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(place)
    finally:
        os.close(place)
