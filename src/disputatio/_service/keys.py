"""API keys: what they look like, what they allow, whose they are.

A key is ``dsp_ID_SECRET``. The secret has 256 bits drawn by the operating system, so its SHA-256 can be kept: nobody
can try that many, and a slow hash, which protects words that people choose, would only cost time at every request.
"""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from enum import StrEnum
from typing import Any

from disputatio.errors import InvalidInputError
from disputatio.motion import one_line

OWN_TENANT = "local"
"""The owner of debates that were started without a key, such as those of the command line."""


class Scope(StrEnum):
    """What a key allows. Each scope includes those before it."""

    READ = "read"
    RUN = "run"
    ADMIN = "admin"

    def covers(self, wanted: Scope) -> bool:
        """Whether this allows what ``wanted`` allows."""
        order = list(Scope)
        return order.index(self) >= order.index(wanted)


class Period(StrEnum):
    """For how long a budget is."""

    DAY = "day"
    MONTH = "month"
    TOTAL = "total"

    def began(self, now: datetime) -> datetime:
        """When the period that ``now`` is in began; UTC."""
        midnight = now.replace(hour=0, minute=0, second=0, microsecond=0)
        if self is Period.DAY:
            return midnight
        return midnight.replace(day=1) if self is Period.MONTH else datetime(1970, 1, 1, tzinfo=UTC)

    def ends(self, now: datetime) -> datetime | None:
        """When it ends; never, for a budget in total."""
        if self is Period.TOTAL:
            return None
        began = self.began(now)
        return began + timedelta(days=1) if self is Period.DAY else (began + timedelta(days=32)).replace(day=1)


@dataclass(frozen=True, slots=True)
class Key:
    """A key as it is kept; its secret is not.

    Attributes:
        id: names it, and is part of the key.
        name: what people call it.
        tenant: whose debates it sees.
        scope: what it allows.
        created_at: UTC.
        revoked_at: UTC; empty while it is good.
        budget_usd: the most that may be spent in a period by the debates that it orders and the resumptions that it
            causes; None has no limit.
        budget_tokens: the same in tokens.
        period: of the budget.
        per_minute: the most requests in a minute.
    """

    id: str
    name: str
    tenant: str
    scope: Scope
    created_at: str
    revoked_at: str = ""
    budget_usd: Decimal | None = None
    budget_tokens: int | None = None
    period: Period = Period.MONTH
    per_minute: int = 300

    @property
    def has_budget(self) -> bool:
        """Whether what its debates spend is limited."""
        return self.budget_usd is not None or self.budget_tokens is not None


def key_of(row: Any) -> Key:
    """The key that a row of its table keeps."""
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


@dataclass(frozen=True, slots=True)
class Caller:
    """Who makes a request. ``session`` is the CSRF token of a browser's session, empty for a key in a header."""

    key: Key
    session: str = ""

    @property
    def tenant(self) -> str:
        """Whose debates it sees."""
        return self.key.tenant


_TOKEN = re.compile(r"dsp_([0-9a-f]{8})_([A-Za-z0-9_-]{43})")
_TENANT = re.compile(r"[a-z0-9][a-z0-9_-]{0,39}")


def new_token() -> tuple[str, str]:
    """A key's id and the whole key, which is shown once."""
    key_id = secrets.token_hex(4)
    return key_id, f"dsp_{key_id}_{secrets.token_urlsafe(32)}"


def id_in(token: str) -> str | None:
    """The id that ``token`` names; None where it is no key."""
    found = _TOKEN.fullmatch(token)
    return found[1] if found else None


def hashed(secret: str) -> str:
    """What is kept of a key or of a session."""
    return hashlib.sha256(secret.encode()).hexdigest()


def same(one: str, other: str) -> bool:
    """Whether two secrets are the same, in a time that does not depend on where they differ."""
    return hmac.compare_digest(one.encode(), other.encode())


def checked_name(name: str) -> str:
    """``name`` as a key may be called.

    Raises:
        InvalidInputError: it is empty or too long.
    """
    plain = one_line(name, 61).strip()
    if not plain or len(plain) > 60:
        raise InvalidInputError("A key needs a name of 1 to 60 characters.", "Say who or what uses it.")
    return plain


def checked_tenant(tenant: str) -> str:
    """``tenant`` as a tenant may be called.

    Raises:
        InvalidInputError: it has other characters or is too long.
    """
    if not _TENANT.fullmatch(tenant):
        raise InvalidInputError(
            f"A tenant cannot be called {one_line(repr(tenant), 60)}.",
            "Use up to 40 small letters, digits, hyphens and underscores.",
        )
    return tenant


KEYLESS = Key("none", "this machine", OWN_TENANT, Scope.ADMIN, "", per_minute=6_000)
"""The caller while there is no key. The server then listens to this machine only."""
