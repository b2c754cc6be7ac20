"""Keys and the sessions of browsers, kept without their secrets."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from typing import Any

import sqlalchemy as sa

from disputatio._service.database import Database, now, stamp
from disputatio._service.keys import Caller, Key, Period, Scope, hashed, id_in, new_token, same
from disputatio._service.tables import keys, sessions
from disputatio.failures import InvalidInputError

SESSION_HOURS = 12


class KeyBook:
    """The keys of a service."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def add(self, key: Key) -> tuple[Key, str]:
        """Keep ``key`` under a new id; returns it with the whole key, which is kept nowhere."""
        key_id, token = new_token()
        kept = replace(key, id=key_id, created_at=stamp(now()))
        with self._database.writing() as connection:
            connection.execute(
                keys.insert(),
                {
                    "id": kept.id,
                    "hash": hashed(token),
                    "name": kept.name,
                    "tenant": kept.tenant,
                    "scope": kept.scope.value,
                    "created_at": kept.created_at,
                    "revoked_at": "",
                    "budget_usd": None if kept.budget_usd is None else str(kept.budget_usd),
                    "budget_tokens": kept.budget_tokens,
                    "period": kept.period.value,
                    "per_minute": kept.per_minute,
                },
            )
        return kept, token

    def all(self, tenant: str | None = None) -> Sequence[Key]:
        """The keys of a tenant, or of all; the oldest first, revoked ones among them."""
        query = sa.select(keys).order_by(keys.c.created_at)
        if tenant is not None:
            query = query.where(keys.c.tenant == tenant)
        with self._database.reading() as connection:
            return [_key(row) for row in connection.execute(query).mappings()]

    def any(self) -> bool:
        """Whether there is a key that is good."""
        query = sa.select(keys.c.id).where(keys.c.revoked_at == "").limit(1)
        with self._database.reading() as connection:
            return connection.execute(query).first() is not None

    def revoke(self, key_id: str, tenant: str | None = None) -> Key:
        """Make a key worthless, and with it the sessions that were begun with it. Safe to repeat.

        Raises:
            InvalidInputError: there is no such key, or it is another tenant's.
        """
        with self._database.writing() as connection:
            row = connection.execute(sa.select(keys).where(keys.c.id == key_id)).mappings().first()
            if row is None or (tenant is not None and row["tenant"] != tenant):
                raise InvalidInputError(f"There is no key {key_id[:20]!r}.", "`disputatio keys list` shows all.")
            if not row["revoked_at"]:
                connection.execute(keys.update().where(keys.c.id == key_id), {"revoked_at": stamp(now())})
            connection.execute(sessions.delete().where(sessions.c.key == key_id))
            return replace(_key(row), revoked_at=str(row["revoked_at"]) or stamp(now()))

    def find(self, token: str) -> Key | None:
        """The key that ``token`` is; None where it is none or was revoked."""
        key_id = id_in(token)
        if key_id is None:
            return None
        with self._database.reading() as connection:
            row = connection.execute(sa.select(keys).where(keys.c.id == key_id)).mappings().first()
        if row is None or row["revoked_at"] or not same(row["hash"], hashed(token)):
            return None
        return _key(row)

    def begin_session(self, key: Key) -> str:
        """A session of a browser for ``key``; returns its secret, which goes into a cookie."""
        secret = secrets.token_urlsafe(32)
        row = {
            "hash": hashed(secret),
            "key": key.id,
            "csrf": secrets.token_urlsafe(24),
            "expires_at": stamp(now() + timedelta(hours=SESSION_HOURS)),
        }
        with self._database.writing() as connection:
            connection.execute(sessions.delete().where(sessions.c.expires_at < stamp(now())))
            connection.execute(sessions.insert(), row)
        return secret

    def session(self, secret: str) -> Caller | None:
        """Who the session with this secret is of; None where it ended or its key was revoked."""
        query = sa.select(keys, sessions.c.csrf, sessions.c.expires_at).join(sessions, sessions.c.key == keys.c.id)
        with self._database.reading() as connection:
            row = connection.execute(query.where(sessions.c.hash == hashed(secret))).mappings().first()
        if row is None or row["revoked_at"] or row["expires_at"] < stamp(now()):
            return None
        return Caller(_key(row), session=str(row["csrf"]))

    def end_session(self, secret: str) -> None:
        """Forget a session. Safe to repeat."""
        with self._database.writing() as connection:
            connection.execute(sessions.delete().where(sessions.c.hash == hashed(secret)))


def _key(row: Any) -> Key:
    return Key(
        id=row["id"],
        name=row["name"],
        tenant=row["tenant"],
        scope=Scope(row["scope"]),
        created_at=row["created_at"],
        revoked_at=row["revoked_at"],
        budget_usd=None if row["budget_usd"] is None else Decimal(row["budget_usd"]),
        budget_tokens=row["budget_tokens"],
        period=Period(row["period"]),
        per_minute=row["per_minute"],
    )
