"""Brings the tables of a service that an older version wrote to this one's, within one transaction; nothing is lost.

Versions before ``service_runs`` noted once for each debate what it may spend and has spent, on the day it was ordered.
"""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from disputatio._service.tables import day_of, keys, owned, runs, spending
from disputatio.record.tables import events

if TYPE_CHECKING:
    from sqlalchemy import Connection


def upgrade(connection: Connection) -> None:
    """Widen what was too narrow, and enter every debate without a run into the ledger. Safe to repeat."""
    if connection.dialect.name == "postgresql":
        columns = {row["name"]: row for row in sa.inspect(connection).get_columns(keys.name)}
        if not isinstance(columns["budget_tokens"]["type"], sa.BigInteger):
            connection.exec_driver_sql("ALTER TABLE service_keys ALTER COLUMN budget_tokens TYPE BIGINT")
    known = sa.select(runs.c.id).where(runs.c.debate == owned.c.debate).exists()
    for row in connection.execute(sa.select(owned).where(~known)).mappings().all():
        _enter(connection, row)


def _enter(connection: Connection, row: Any) -> None:
    """One run for all that was spent on a debate, whichever key caused it: nobody noted that."""
    ceiling, spent = (None if row[name] is None else Decimal(row[name]) for name in ("ceiling_usd", "spent_usd"))
    run = {"debate": row["debate"], "key": row["key"], "owner": row["key"], "began_at": row["asked_at"], "after": 0}
    settled = row["spent_tokens"] is not None and not _went_on_later(connection, row)
    if settled:
        run["ended_at"] = row["asked_at"]
    else:
        # It counts with its ceilings, or with what was noted, until the record says on which days it was spent.
        run["held_usd"] = ceiling if spent is None else spent
        run["held_tokens"] = row["ceiling_tokens"] if row["spent_tokens"] is None else row["spent_tokens"]
    number = connection.execute(runs.insert().returning(runs.c.id), run).scalar_one()
    if settled and (spent or row["spent_tokens"]):
        booked = {"run": number, "day": day_of(row["asked_at"]), "tokens": row["spent_tokens"]}
        connection.execute(spending.insert(), {**booked, "usd": spent or Decimal(0)})


def _went_on_later(connection: Connection, row: Any) -> bool:
    """Whether the record of a debate has events of a later day than its order."""
    query = sa.select(events.c.at).where(events.c.debate == row["debate"]).order_by(events.c.seq.desc()).limit(1)
    last = connection.execute(query).scalar()
    return last is not None and day_of(last) > day_of(row["asked_at"])
