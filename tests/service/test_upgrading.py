"""A store of an older version keeps every amount that was noted, however many servers open it at once."""

from __future__ import annotations

import asyncio
import json
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from typing import Any

import sqlalchemy as sa

from disputatio._service.database import Database
from disputatio._service.key_ledger import KeyLedger, Room
from disputatio._service.service import Choices, Service
from disputatio._service.tables import runs, spending
from disputatio.record.events import CallMade, CallSent, encode
from disputatio.record.sql import SqlStore
from disputatio.record.tables import events

# As the version before wrote them.
OLD = (
    """CREATE TABLE service_keys (
        id VARCHAR(16) NOT NULL PRIMARY KEY, hash VARCHAR(64) NOT NULL, name VARCHAR(80) NOT NULL,
        tenant VARCHAR(40) NOT NULL, scope VARCHAR(16) NOT NULL, created_at VARCHAR(32) NOT NULL,
        revoked_at VARCHAR(32) NOT NULL, budget_usd VARCHAR(32), budget_tokens INTEGER, period VARCHAR(8) NOT NULL,
        per_minute INTEGER NOT NULL)""",
    """CREATE TABLE service_debates (
        debate VARCHAR(32) NOT NULL PRIMARY KEY, tenant VARCHAR(40) NOT NULL, "key" VARCHAR(16) NOT NULL,
        idempotency VARCHAR(200), body VARCHAR(64) NOT NULL, asked_at VARCHAR(32) NOT NULL,
        format VARCHAR(64) NOT NULL, motion TEXT NOT NULL, ceiling_usd VARCHAR(32), ceiling_tokens INTEGER,
        spent_usd VARCHAR(32), spent_tokens INTEGER,
        CONSTRAINT uq_service_debates_idempotency UNIQUE (tenant, idempotency))""",
    """CREATE INDEX ix_service_debates_key ON service_debates ("key", asked_at)""",
    """INSERT INTO service_keys VALUES
        ('aaaaaaaa', '', 'a', 'local', 'run', '', '', '10', 90000, 'total', 300),
        ('bbbbbbbb', '', 'b', 'local', 'run', '', '', '10', NULL, 'day', 300)""",
    """INSERT INTO service_debates VALUES
        ('done', 'local', 'aaaaaaaa', 'k', '', '2026-03-01T10:00:00.000000Z', 'freeform', 'm', '2', NULL, '0.5', 700),
        ('cheap', 'local', 'aaaaaaaa', NULL, '', '2026-03-01T10:00:00.000000Z', 'freeform', 'm', NULL, NULL, '0', 0),
        ('later', 'local', 'aaaaaaaa', NULL, '', '2026-03-01T10:00:00.000000Z', 'freeform', 'm', '4', NULL, '3', 900),
        ('open', 'local', 'aaaaaaaa', NULL, '', '2026-03-02T10:00:00.000000Z', 'freeform', 'm', '1.25', 40000,
         NULL, NULL)""",
    """INSERT INTO debates VALUES ('later', '2026-03-01T10:00:00.000000Z', 'freeform', 'm', 'COMPLETE', 5, '')""",
    """INSERT INTO orders VALUES
        ('later', '{}', 'debates', 0, 'ENDED', '2026-03-01T10:00:00.000000Z', false, 0, 0, '', ''),
        ('open', '{}', 'debates', 0, 'WAITING', '2026-03-02T10:00:00.000000Z', false, 0, 0, '', '')""",
)
CALLS = (("2026-03-01T10:00:01.000000Z", "0.75"), ("2026-03-05T10:00:01.000000Z", "2.25"))


async def make_old_store(url: str) -> None:
    """A store with the service's tables of the version before, and in it a debate that went on days later."""
    store = SqlStore(url)
    with store.engine.begin() as connection:
        for statement in OLD:
            connection.exec_driver_sql(statement)
        for number, (at, usd) in enumerate(CALLS):
            for seq, event in enumerate(call(f"c{number}", usd), 2 * number + 1):
                body = json.dumps(encode(event))
                row = {"debate": "later", "seq": seq, "at": at, "kind": event.kind, "body": body}
                connection.execute(events.insert(), {**row, "previous": "", "hash": ""})
    await store.aclose()


def call(name: str, usd: str) -> tuple[CallSent, CallMade]:
    held = {"input_tokens": 100, "output_tokens": 900, "usd": "9", "bytes": 1}
    way: dict[str, Any] = {"part": "", "seat": "pro", "model": "m", "mode": "native", "schema": ""}
    sent = CallSent(call=name, path="p", temperature=None, max_tokens=9, prompt=(), reserved=held, **way)
    told: dict[str, Any] = {"fault": "", "message": "", "text": "", "served_model": None, "finish": "", "usage": {}}
    cost: dict[str, Any] = {"cost_usd": usd, "cost_basis": "", "charged_tokens": 450, "latency_ms": 1}
    return sent, CallMade(call=name, path="p", **told, **cost)


def opened_at_once(url: str) -> Room:
    """What a key has left once eight servers have begun at the same moment."""
    with ThreadPoolExecutor(8) as threads:
        databases = list(threads.map(lambda _: Database(url), range(8)))
    left = KeyLedger(databases[0]).room("aaaaaaaa")
    for database in databases:
        database.close()
    return left


async def check_upgrade(url: str, *, workers: bool) -> None:
    await make_old_store(url)
    left = opened_at_once(url)
    # What was noted counts, and what goes on with its ceilings.
    assert left == Room(Decimal(10) - Decimal("0.5") - 3 - Decimal("1.25"), 90_000 - 700 - 900 - 40_000)
    service = Service(Choices(url, keyless=True, workers=workers))
    if not workers:
        # Nobody takes up what is on order: it would be held here.
        service.runner.start = _nothing  # type: ignore[method-assign]
    await service.open()
    async with asyncio.timeout(20):
        while "later" in service.book.unsettled():
            await asyncio.sleep(0.01)
    with service.database.reading() as connection:
        rows = connection.execute(sa.select(runs.c.debate, spending.c.day, spending.c.usd).join_from(runs, spending))
        booked = sorted(map(tuple, rows))
    # What went on later is booked on the days that its record tells.
    assert booked == [
        ("done", "2026-03-01", Decimal("0.5")),
        ("later", "2026-03-01", Decimal("0.75")),
        ("later", "2026-03-05", Decimal("2.25")),
    ]
    assert service.book.unsettled() == ["open"]
    assert service.ledger.room("aaaaaaaa") == left
    # The widest ceiling that an order can have is room for no overflow.
    with service.database.writing() as connection:
        service.ledger.begin(connection, "x", "bbbbbbbb", "bbbbbbbb", Room(Decimal(9), 10**12))
    await service.close(0)


async def _nothing() -> None:
    return None


async def test_a_file_of_the_version_before_is_taken_over(tmp_path):
    await check_upgrade(f"sqlite:///{tmp_path}/store.sqlite", workers=False)
