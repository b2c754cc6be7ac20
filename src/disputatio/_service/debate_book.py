"""Whose each debate is, what it may spend of its key's budget, and what was uploaded for debates to come."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import sqlalchemy as sa

from disputatio._service.database import Database, now, stamp
from disputatio._service.keys import OWN_TENANT, Caller, Key
from disputatio._service.problems import RefusedError, not_found, retry_after
from disputatio._service.tables import owned, uploads
from disputatio.engine.market_matter import KNOWLEDGE
from disputatio.record.tables import debates

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
        ceiling_usd: the most it may spend; None has no limit.
        ceiling_tokens: the same in tokens.
    """

    debate: str
    motion: str
    format: str
    body: str
    idempotency: str | None = None
    ceiling_usd: Decimal | None = None
    ceiling_tokens: int | None = None


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


@dataclass(frozen=True, slots=True)
class Spent:
    """What the debates of a key spent in its period, the ceilings of those that go on counted whole."""

    usd: Decimal
    tokens: int


class DebateBook:
    """Which debate is whose."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def take(self, asked: Asked, caller: Caller) -> str:
        """Enter a debate for a caller; returns its id, or that of the one its idempotency key stands for.

        Raises:
            RefusedError: the idempotency key stands for another order, or the budget has no room for its ceiling.
        """
        with self._database.writing() as connection:
            before = self._same(connection, asked, caller)
            if before is not None:
                return before
            self._check_budget(connection, asked, caller.key)
            connection.execute(
                owned.insert(),
                {
                    "debate": asked.debate,
                    "tenant": caller.tenant,
                    "key": caller.key.id,
                    "idempotency": asked.idempotency,
                    "body": asked.body,
                    "asked_at": stamp(now()),
                    "format": asked.format,
                    "motion": asked.motion,
                    "ceiling_usd": None if asked.ceiling_usd is None else str(asked.ceiling_usd),
                    "ceiling_tokens": asked.ceiling_tokens,
                },
            )
        return asked.debate

    def _same(self, connection: Any, asked: Asked, caller: Caller) -> str | None:
        if asked.idempotency is None:
            return None
        here = (owned.c.tenant == caller.tenant) & (owned.c.idempotency == asked.idempotency)
        row = connection.execute(sa.select(owned.c.debate, owned.c.body).where(here)).first()
        if row is not None and row.body != asked.body:
            raise RefusedError(
                422,
                "idempotency",
                f"This idempotency key stands for the debate {row.debate}, which was asked for in other words.",
                "Send a new key with a new order, and the same order with the same key.",
            )
        return str(row.debate) if row else None

    def _check_budget(self, connection: Any, asked: Asked, key: Key) -> None:
        left_usd, left_tokens = self._left(connection, key)
        short = (left_usd is not None and (asked.ceiling_usd is None or asked.ceiling_usd > left_usd)) or (
            left_tokens is not None and (asked.ceiling_tokens is None or asked.ceiling_tokens > left_tokens)
        )
        if not short:
            return
        ends = key.period.ends(now())
        left = " and ".join(
            text
            for text, amount in ((f"{left_usd} USD", left_usd), (f"{left_tokens} tokens", left_tokens))
            if amount is not None
        )
        raise RefusedError(
            429,
            "budget-spent",
            f"The budget of this key has {left} left, debates that go on counted with their whole ceilings.",
            "Give a lower ceiling (budget_usd, budget_tokens), or wait until debates end or the period does.",
            {} if ends is None else retry_after((ends - now()).total_seconds()),
        )

    def left(self, key: Key) -> tuple[Decimal | None, int | None]:
        """What the budget of ``key`` has left, in US dollars and in tokens; None where it has no limit."""
        with self._database.reading() as connection:
            return self._left(connection, key)

    def _left(self, connection: Any, key: Key) -> tuple[Decimal | None, int | None]:
        if not key.has_budget:
            return None, None
        spent = self._spent(connection, key)
        return (
            None if key.budget_usd is None else max(Decimal(0), key.budget_usd - spent.usd),
            None if key.budget_tokens is None else max(0, key.budget_tokens - spent.tokens),
        )

    def _spent(self, connection: Any, key: Key) -> Spent:
        began = stamp(key.period.began(now()))
        mine = (owned.c.key == key.id) & ((owned.c.asked_at >= began) | owned.c.spent_tokens.is_(None))
        usd, tokens = Decimal(0), 0
        for row in connection.execute(sa.select(owned).where(mine)).mappings():
            usd += Decimal(row["ceiling_usd"] or 0 if row["spent_usd"] is None else row["spent_usd"])
            tokens += (row["ceiling_tokens"] or 0) if row["spent_tokens"] is None else row["spent_tokens"]
        return Spent(usd, tokens)

    def settle(self, debate: str, usd: Decimal, tokens: int) -> None:
        """Note what a debate that ended has spent; its ceiling no longer counts."""
        with self._database.writing() as connection:
            here = owned.c.debate == debate
            connection.execute(owned.update().where(here), {"spent_usd": str(usd), "spent_tokens": tokens})

    def reopen(self, debate: str, key: Key, usd: Decimal | None, tokens: int | None) -> Callable[[], None]:
        """Let a debate count with its ceilings again, raised or not; returns what takes that back.

        Raises:
            RefusedError: it was not ordered here, or the budget has no room for the ceilings.
        """
        here = owned.c.debate == debate
        with self._database.writing() as connection:
            row = connection.execute(sa.select(owned).where(here)).mappings().first()
            if row is None:
                raise RefusedError(
                    409, "conflict", f"The debate {debate} was not ordered here.", f"disputatio resume {debate}"
                )
            before = {name: row[name] for name in ("ceiling_usd", "ceiling_tokens", "spent_usd", "spent_tokens")}
            raised = Asked(
                debate,
                "",
                "",
                "",
                ceiling_usd=usd or (None if row["ceiling_usd"] is None else Decimal(row["ceiling_usd"])),
                ceiling_tokens=tokens or row["ceiling_tokens"],
            )
            # Its own spending makes room for its ceiling, of which it is a part.
            connection.execute(owned.update().where(here), {"spent_usd": "0", "spent_tokens": 0})
            self._check_budget(connection, raised, key)
            shown = None if raised.ceiling_usd is None else str(raised.ceiling_usd)
            now_counts = {"ceiling_usd": shown, "ceiling_tokens": raised.ceiling_tokens}
            connection.execute(owned.update().where(here), {**now_counts, "spent_usd": None, "spent_tokens": None})

        def take_back() -> None:
            with self._database.writing() as connection:
                connection.execute(owned.update().where(here), before)

        return take_back

    def unsettled(self) -> Sequence[str]:
        """The debates that have not ended as far as this book knows."""
        query = sa.select(owned.c.debate).where(owned.c.spent_tokens.is_(None))
        with self._database.reading() as connection:
            return list(connection.execute(query).scalars())

    def forget(self, debate: str) -> None:
        """Strike a debate that never began, so that its idempotency key is free again."""
        with self._database.writing() as connection:
            connection.execute(owned.delete().where(owned.c.debate == debate))

    def tenant_of(self, debate: str) -> str | None:
        """Whose a debate is; None where there is none."""
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
        query = sa.select(owned).where((owned.c.tenant == tenant) & ~begun & owned.c.spent_tokens.is_(None))
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
        query = query.where(whose).order_by(debates.c.opened_at.desc(), debates.c.id.desc()).limit(limit + 1)
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
        query = sa.select(debates.c.id).outerjoin(owned, owned.c.debate == debates.c.id).where(whose)
        with self._database.reading() as connection:
            return frozenset(connection.execute(query).scalars())

    def upload(self, tenant: str, row: Mapping[str, str]) -> str:
        """Keep a source, or a knowledge base, for debates to come; returns its id."""
        upload = f"{'kb' if row['kind'] == KNOWLEDGE else 'ev'}_{secrets.token_hex(8)}"
        mine = uploads.c.tenant == tenant
        with self._database.writing() as connection:
            old = sa.select(uploads.c.id).where(mine).order_by(uploads.c.uploaded_at.desc()).offset(MOST_UPLOADS - 1)
            connection.execute(uploads.delete().where(uploads.c.id.in_(old)))
            connection.execute(uploads.insert(), {"id": upload, "tenant": tenant, "uploaded_at": stamp(now()), **row})
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


def _waiting(row: Any) -> Listed:
    return Listed(row["debate"], row["asked_at"], row["format"], row["motion"], WAITING, 0, "")
