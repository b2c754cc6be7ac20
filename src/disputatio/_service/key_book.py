"""Keys and the sessions of browsers, kept without their secrets."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta

import sqlalchemy as sa

from disputatio._service.database import Database, stamp
from disputatio._service.keys import KEYLESS, Caller, Key, hashed, id_in, key_of, new_token, same
from disputatio._service.tables import keys, sessions
from disputatio.errors import InvalidInputError

SESSION_HOURS = 12


class KeyBook:
    """The keys of a service."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def add(self, key: Key) -> tuple[Key, str]:
        """Keep ``key`` under a new id; returns it with the whole key, which is kept nowhere."""
        key_id, token = new_token()
        kept = replace(key, id=key_id, created_at=self._database.stamped_now())
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
            return [key_of(row) for row in connection.execute(query).mappings()]

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
                connection.execute(
                    keys.update().where(keys.c.id == key_id), {"revoked_at": self._database.stamped_now()}
                )
            connection.execute(sessions.delete().where(sessions.c.key == key_id))
            return replace(key_of(row), revoked_at=str(row["revoked_at"]) or self._database.stamped_now())

    def find(self, token: str) -> Key | None:
        """The key that ``token`` is; None where it is none or was revoked."""
        key_id = id_in(token)
        if key_id is None:
            return None
        with self._database.reading() as connection:
            row = connection.execute(sa.select(keys).where(keys.c.id == key_id)).mappings().first()
        if row is None or row["revoked_at"] or not same(row["hash"], hashed(token)):
            return None
        return key_of(row)

    def begin_session(self, key: Key) -> str:
        """A session of a browser for ``key``; returns its secret, which goes into a cookie."""
        secret = secrets.token_urlsafe(32)
        row = {
            "hash": hashed(secret),
            "key": key.id,
            "csrf": secrets.token_urlsafe(24),
            "expires_at": stamp(self._database.now() + timedelta(hours=SESSION_HOURS)),
        }
        with self._database.writing() as connection:
            connection.execute(sessions.delete().where(sessions.c.expires_at < self._database.stamped_now()))
            connection.execute(sessions.insert(), row)
        return secret

    def session(self, secret: str) -> Caller | None:
        """Who the session with this secret is of; None where it ended or its key was revoked."""
        query = sa.select(keys, sessions.c.csrf, sessions.c.expires_at).join(sessions, sessions.c.key == keys.c.id)
        with self._database.reading() as connection:
            row = connection.execute(query.where(sessions.c.hash == hashed(secret))).mappings().first()
        if row is None or row["revoked_at"] or not self._begun_and_good(row["expires_at"]):
            return None
        return Caller(key_of(row), session=str(row["csrf"]))

    def _begun_and_good(self, expires_at: str) -> bool:
        """Whether a session has not ended, nor begun in a time to come: by a clock that was set back since."""
        now = self._database.now()
        return stamp(now) <= expires_at <= stamp(now + timedelta(hours=SESSION_HOURS, minutes=5))

    def still_known(self, caller: Caller) -> bool:
        """Whether a caller who was let in before would be let in now: its key is good and its session has not ended."""
        if caller.key.id == KEYLESS.id:
            return not self.any()
        query = sa.select(keys.c.id).where((keys.c.id == caller.key.id) & (keys.c.revoked_at == ""))
        if caller.session:
            query = query.join(sessions, sessions.c.key == keys.c.id).where(
                (sessions.c.csrf == caller.session) & (sessions.c.expires_at >= self._database.stamped_now())
            )
        with self._database.reading() as connection:
            return connection.execute(query).first() is not None

    def end_session(self, secret: str) -> None:
        """Forget a session. Safe to repeat."""
        with self._database.writing() as connection:
            connection.execute(sessions.delete().where(sessions.c.hash == hashed(secret)))
