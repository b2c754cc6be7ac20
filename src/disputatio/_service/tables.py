"""The tables of the service, beside those of the record in the same database. No event is in them."""

from __future__ import annotations

from sqlalchemy import Column, DateTime, Float, Index, Integer, MetaData, String, Table, Text, UniqueConstraint

metadata = MetaData()

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
    Column("budget_tokens", Integer),
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
    Column("ceiling_usd", String(32)),
    Column("ceiling_tokens", Integer),
    Column("spent_usd", String(32)),
    Column("spent_tokens", Integer),
    UniqueConstraint("tenant", "idempotency", name="uq_service_debates_idempotency"),
    Index("ix_service_debates_key", "key", "asked_at"),
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
