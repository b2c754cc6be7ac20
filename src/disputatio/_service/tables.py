"""The tables of the service, in the same database as those of the record. They hold no events."""

from __future__ import annotations

from decimal import ROUND_CEILING, Decimal
from typing import Any

from sqlalchemy import (
    BigInteger,
    Column,
    DateTime,
    Float,
    ForeignKey,
    Index,
    Integer,
    MetaData,
    String,
    Table,
    Text,
    TypeDecorator,
    UniqueConstraint,
)

metadata = MetaData()


class Dollars(TypeDecorator[Decimal]):
    """US dollars as a whole number of picodollars, rounded up: exact for every price, and added up by the database.

    A column holds at most 9,223,372 USD.
    """

    impl = BigInteger
    cache_ok = True
    _PLACES = 12

    def process_bind_param(self, value: Decimal | None, dialect: Any) -> int | None:  # noqa: ARG002
        """As a number that every database adds exactly."""
        return None if value is None else int(value.scaleb(self._PLACES).to_integral_value(ROUND_CEILING))

    def process_result_value(self, value: Any, dialect: Any) -> Decimal | None:  # noqa: ARG002
        """As an amount; also for sums, which PostgreSQL returns as a numeric."""
        return None if value is None else Decimal(int(value)).scaleb(-self._PLACES)


keys = Table(
    "service_keys",
    metadata,
    Column("id", String(16), primary_key=True),
    Column("hash", String(64), nullable=False),
    Column("name", String(80), nullable=False),
    Column("tenant", String(40), nullable=False),
    Column("scope", String(16), nullable=False),
    Column("created_at", String(32), nullable=False),
    Column("revoked_at", String(32), nullable=False),
    Column("budget_usd", String(32)),
    Column("budget_tokens", BigInteger),
    Column("period", String(8), nullable=False),
    Column("per_minute", Integer, nullable=False),
)

sessions = Table(
    "service_sessions",
    metadata,
    Column("hash", String(64), primary_key=True),
    Column("key", String(16), nullable=False),
    Column("csrf", String(64), nullable=False),
    Column("expires_at", String(32), nullable=False),
)

owned = Table(
    "service_debates",
    metadata,
    Column("debate", String(32), primary_key=True),
    Column("tenant", String(40), nullable=False),
    Column("key", String(16), nullable=False),
    Column("idempotency", String(200)),
    Column("body", String(64), nullable=False),
    Column("asked_at", String(32), nullable=False),
    Column("format", String(64), nullable=False),
    Column("motion", Text, nullable=False),
    # Versions before service_runs kept here what a debate may spend and has spent. It is read once, and not written.
    Column("ceiling_usd", String(32)),
    Column("ceiling_tokens", Integer),
    Column("spent_usd", String(32)),
    Column("spent_tokens", Integer),
    UniqueConstraint("tenant", "idempotency", name="uq_service_debates_idempotency"),
    Index("ix_service_debates_key", "key", "asked_at"),
)

runs = Table(
    "service_runs",
    metadata,
    Column("id", Integer, primary_key=True, autoincrement=True),
    Column("debate", String(32), nullable=False),
    Column("key", String(16), nullable=False),
    Column("owner", String(16), nullable=False),
    Column("began_at", String(32), nullable=False),
    Column("after", Integer, nullable=False),
    Column("held_usd", Dollars),
    Column("held_tokens", BigInteger),
    Column("ended_at", String(32)),
    Index("ix_service_runs_debate", "debate"),
    Index("ix_service_runs_key", "key", "ended_at"),
    Index("ix_service_runs_owner", "owner", "ended_at"),
    Index("ix_service_runs_ended_at", "ended_at"),
)

spending = Table(
    "service_spending",
    metadata,
    Column("run", Integer, ForeignKey("service_runs.id"), primary_key=True),
    Column("day", String(10), primary_key=True),
    Column("usd", Dollars, nullable=False),
    Column("tokens", BigInteger, nullable=False),
)

seats = Table(
    "service_seats",
    metadata,
    Column("debate", String(32), primary_key=True),
    Column("seat", String(80), primary_key=True),
    Column("key", String(16), nullable=False),
    Column("taken_at", String(32), nullable=False),
)

uploads = Table(
    "service_uploads",
    metadata,
    Column("id", String(32), primary_key=True),
    Column("tenant", String(40), nullable=False),
    Column("title", String(160), nullable=False),
    Column("source_id", String(80), nullable=False),
    Column("kind", String(16), nullable=False),
    Column("text", Text, nullable=False),
    Column("uploaded_at", String(32), nullable=False),
    Index("ix_service_uploads_tenant", "tenant", "uploaded_at"),
)

rates = Table(
    "service_rates",
    metadata,
    Column("name", String(120), primary_key=True),
    Column("left_over", Float, nullable=False),
    Column("at", DateTime(timezone=True), nullable=False),
    # What a crash of the database loses is at most a minute of counting.
    prefixes=["UNLOGGED"],
    info={"postgresql": True},
)


def day_of(stamped: str) -> str:
    """The day of a moment that ``database.stamp`` or a record wrote: such texts sort like days."""
    return stamped[:10]
