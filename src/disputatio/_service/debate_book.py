"""Whose each debate is, and what was uploaded for debates to come."""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from disputatio._service.database import Database
from disputatio._service.key_ledger import NO_LIMIT, KeyLedger, Room, paid_calls, total
from disputatio._service.keys import OWN_TENANT, Caller
from disputatio._service.problems import RefusedError, not_found
from disputatio._service.tables import owned, runs, uploads
from disputatio.engine.market_setup import KNOWLEDGE
from disputatio.engine.runtime import baseline_id, debate_of_baseline
from disputatio.record.chain import Sealed
from disputatio.record.tables import debates, events

if TYPE_CHECKING:
    from sqlalchemy import Connection

_NO_BASELINE = ~debates.c.id.startswith("b.")
"""The records of baselines are not listed: the debate that they belong to names them."""
MOST_UPLOADS = 1_000
"""For each tenant; the oldest make room."""
WAITING = "WAITING"
"""The status of a debate that has no record yet."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A debate as it was asked for.

    Attributes:
        debate: its id.
        motion: of the debate.
        format: of the debate.
        body: the SHA-256 of the order, which an idempotency key belongs to.
        idempotency: the caller's key for it; None where it gave none.
        ceilings: the most it may cost.
    """

    debate: str
    motion: str
    format: str
    body: str
    idempotency: str | None = None
    ceilings: Room = NO_LIMIT


@dataclass(frozen=True, slots=True)
class Listed:
    """A debate in a list."""

    id: str
    opened_at: str
    format: str
    motion: str
    status: str
    events: int
    head: str


class AlreadyOrderedError(Exception):
    """The idempotency key was used for ``debate`` before."""

    def __init__(self, debate: str) -> None:
        super().__init__(debate)
        self.debate = debate


class DebateBook:
    """Which debate is whose."""

    def __init__(self, database: Database, ledger: KeyLedger) -> None:
        self._database, self._ledger = database, ledger

    def standing(self, asked: Asked, tenant: str) -> str | None:
        """The debate that the idempotency key of a request started before.

        Raises:
            RefusedError: it was used for another request.
        """
        with self._database.reading() as connection:
            return self._standing(connection, asked, tenant)

    def take(self, connection: Connection, asked: Asked, caller: Caller) -> None:
        """Enter a debate for a caller, within the transaction that enters its order.

        Raises:
            AlreadyOrderedError: its idempotency key was used for a debate.
            RefusedError: it was used for another request, or the budget has no room for the ceilings.
        """
        self._database.join(connection)
        before = self._standing(connection, asked, caller.tenant)
        if before is not None:
            raise AlreadyOrderedError(before)
        self._ledger.begin(connection, asked.debate, caller.key.id, caller.key.id, asked.ceilings)
        connection.execute(
            owned.insert(),
            {
                "debate": asked.debate,
                "tenant": caller.tenant,
                "key": caller.key.id,
                "idempotency": asked.idempotency,
                "body": asked.body,
                "asked_at": self._database.stamped_now(),
                "format": asked.format,
                "motion": asked.motion,
            },
        )

    def _standing(self, connection: Connection, asked: Asked, tenant: str) -> str | None:
        if asked.idempotency is None:
            return None
        here = (owned.c.tenant == tenant) & (owned.c.idempotency == asked.idempotency)
        row = connection.execute(sa.select(owned.c.debate, owned.c.body).where(here)).first()
        if row is not None and row.body != asked.body:
            raise RefusedError(
                422,
                "idempotency",
                f"This idempotency key was used for the debate {row.debate}, with another request.",
                "Send a new key with a new request, and the same key only with the same request.",
            )
        return str(row.debate) if row else None

    def owner(self, debate: str) -> str:
        """The id of the key that started a debate.

        Raises:
            RefusedError: it was not started by this service.
        """
        with self._database.reading() as connection:
            found = connection.execute(sa.select(owned.c.key).where(owned.c.debate == debate)).scalar()
        if found is None:
            raise RefusedError(
                409, "conflict", f"The debate {debate} was not started by this service.", f"disputatio resume {debate}"
            )
        return str(found)

    def go_on(
        self, connection: Connection, debate: str, caller: Caller, ceilings: Room, record: Sequence[Sealed]
    ) -> None:
        """Enter a resumption for a caller, within the transaction that opens its order again.

        Args:
            connection: of the transaction.
            debate: its id.
            caller: whose key causes it.
            ceilings: of the whole debate, what it has cost before included.
            record: its record.

        Raises:
            RefusedError: it went on meanwhile, or one of the two budgets has no room for the ceilings.
        """
        self._database.join(connection)
        length = connection.execute(sa.select(sa.func.max(events.c.seq)).where(events.c.debate == debate)).scalar()
        if length != record[-1].seq:
            raise goes_on(debate)
        calls = paid_calls(record)
        self._ledger.settle_all(connection, debate, calls)
        owner = connection.execute(sa.select(owned.c.key).where(owned.c.debate == debate)).scalar_one()
        held = ceilings.less(*total(calls))
        self._ledger.begin(connection, debate, caller.key.id, owner, held, after=length)

    def unsettled(self) -> Sequence[str]:
        """The debates that have not ended as far as the ledger knows."""
        return [run.debate for run in self._ledger.unsettled()]

    def forget(self, debate: str) -> bool:
        """Strike a debate that never began, so that its idempotency key is free again; False where it has a record."""
        with self._database.writing() as connection:
            if connection.execute(sa.select(debates.c.id).where(debates.c.id == debate)).first():
                return False
            connection.execute(runs.delete().where(runs.c.debate == debate))
            connection.execute(owned.delete().where(owned.c.debate == debate))
        return True

    def tenant_of(self, debate: str) -> str | None:
        """Whose a debate is; None where there is none."""
        debate = debate_of_baseline(debate) or debate
        query = sa.select(owned.c.tenant).where(owned.c.debate == debate)
        with self._database.reading() as connection:
            tenant = connection.execute(query).scalar()
            if tenant is not None:
                return str(tenant)
            there = connection.execute(sa.select(debates.c.id).where(debates.c.id == debate)).scalar()
        return OWN_TENANT if there else None

    def asked(self, debate: str) -> Listed | None:
        """A debate that may have no record yet."""
        query = sa.select(owned).where(owned.c.debate == debate)
        with self._database.reading() as connection:
            row = connection.execute(query).mappings().first()
        return None if row is None else _waiting(row)

    def waiting(self, tenant: str) -> Sequence[Listed]:
        """The debates of a tenant that have no record yet, newest first."""
        begun = sa.select(debates.c.id).where(debates.c.id == owned.c.debate).exists()
        waits = sa.select(runs.c.id).where((runs.c.debate == owned.c.debate) & runs.c.ended_at.is_(None)).exists()
        query = sa.select(owned).where((owned.c.tenant == tenant) & ~begun & waits)
        with self._database.reading() as connection:
            rows = connection.execute(query.order_by(owned.c.asked_at.desc()).limit(200)).mappings()
            return [_waiting(row) for row in rows]

    def page(
        self, tenant: str, *, limit: int, before: tuple[str, str] | None = None, chosen: Mapping[str, str] | None = None
    ) -> tuple[Sequence[Listed], bool]:
        """Debates of a tenant that have a record, newest first, and whether there are more.

        Args:
            tenant: whose.
            limit: the most there are.
            before: when the last one of the page before was opened, with its id.
            chosen: values that ``format`` or ``status`` must have.
        """
        names = ("id", "opened_at", "format", "motion", "status", "events", "head")
        whose = sa.func.coalesce(owned.c.tenant, OWN_TENANT) == tenant
        query = sa.select(*(debates.c[name] for name in names)).outerjoin(owned, owned.c.debate == debates.c.id)
        query = (
            query.where(whose & _NO_BASELINE).order_by(debates.c.opened_at.desc(), debates.c.id.desc()).limit(limit + 1)
        )
        for name, value in (chosen or {}).items():
            query = query.where(debates.c[name] == value)
        if before is not None:
            at, debate = before
            query = query.where((debates.c.opened_at < at) | ((debates.c.opened_at == at) & (debates.c.id < debate)))
        with self._database.reading() as connection:
            rows = [Listed(*row) for row in connection.execute(query)]
        return rows[:limit], len(rows) > limit

    def ids_of(self, tenant: str) -> frozenset[str]:
        """The ids of all debates of a tenant that have a record."""
        whose = sa.func.coalesce(owned.c.tenant, OWN_TENANT) == tenant
        query = sa.select(debates.c.id).outerjoin(owned, owned.c.debate == debates.c.id).where(whose & _NO_BASELINE)
        with self._database.reading() as connection:
            return frozenset(connection.execute(query).scalars())

    def baselines(self, debate: str) -> Sequence[str]:
        """The ids of the records of a debate's baselines."""
        query = sa.select(debates.c.id).where(debates.c.id.startswith(baseline_id(debate, ""), autoescape=True))
        with self._database.reading() as connection:
            return list(connection.execute(query).scalars())

    def upload(self, tenant: str, row: Mapping[str, str]) -> str:
        """Keep a source, or a knowledge base, for debates to come; returns its id."""
        upload = f"{'kb' if row['kind'] == KNOWLEDGE else 'ev'}_{secrets.token_hex(8)}"
        mine = uploads.c.tenant == tenant
        with self._database.writing() as connection:
            old = sa.select(uploads.c.id).where(mine).order_by(uploads.c.uploaded_at.desc()).offset(MOST_UPLOADS - 1)
            connection.execute(uploads.delete().where(uploads.c.id.in_(old)))
            connection.execute(
                uploads.insert(), {"id": upload, "tenant": tenant, "uploaded_at": self._database.stamped_now(), **row}
            )
        return upload

    def uploaded(self, tenant: str, upload: str) -> Mapping[str, str]:
        """A source, or a knowledge base, that was uploaded.

        Raises:
            RefusedError: this tenant has none of that id.
        """
        query = sa.select(uploads).where((uploads.c.id == upload) & (uploads.c.tenant == tenant))
        with self._database.reading() as connection:
            row = connection.execute(query).mappings().first()
        if row is None:
            raise not_found(f"There is no upload {upload[:40]!r} here.")
        return {name: str(row[name]) for name in ("source_id", "title", "kind", "text")}


def goes_on(debate: str) -> RefusedError:
    """The refusal of a resumption that nothing is left for, or that came second."""
    return RefusedError(
        409,
        "conflict",
        f"The debate {debate} is running, or has nothing left to ask.",
        "GET it to see its state.",
    )


def _waiting(row: Any) -> Listed:
    return Listed(row["debate"], row["asked_at"], row["format"], row["motion"], WAITING, 0, "")
