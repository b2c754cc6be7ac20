"""The tables of a store. Migrations lead to exactly these; a test compares the two."""

from __future__ import annotations

from sqlalchemy import BigInteger, Boolean, Column, Float, ForeignKey, Index, Integer, MetaData, String, Table, Text

metadata = MetaData()

debates = Table(
    "debates",
    metadata,
    Column("id", String(32), primary_key=True),
    Column("opened_at", String(32), nullable=False),
    Column("format", String(64), nullable=False),
    Column("motion", Text, nullable=False),
    Column("status", String(32), nullable=False),
    Column("events", Integer, nullable=False),
    Column("head", String(64), nullable=False),
    Index("ix_debates_opened_at", "opened_at"),
)

events = Table(
    "events",
    metadata,
    Column("debate", String(32), ForeignKey("debates.id"), primary_key=True),
    Column("seq", Integer, primary_key=True, autoincrement=False),
    Column("at", String(32), nullable=False),
    Column("kind", String(64), nullable=False),
    Column("body", Text, nullable=False),
    Column("previous", String(64), nullable=False),
    Column("hash", String(64), nullable=False),
)

texts = Table(
    "texts",
    metadata,
    Column("debate", String(32), ForeignKey("debates.id"), primary_key=True),
    Column("hash", String(64), primary_key=True),
    Column("text", Text, nullable=False),
)

writers = Table(
    "writers",
    metadata,
    Column("id", String(32), primary_key=True),
    Column("beats", BigInteger, nullable=False),
)

claims = Table(
    "claims",
    metadata,
    Column("debate", String(32), primary_key=True),
    Column("token", BigInteger, nullable=False),
    Column("writer", String(32), nullable=False),
    Column("released", Boolean, nullable=False),
)

orders = Table(
    "orders",
    metadata,
    Column("debate", String(32), primary_key=True),
    Column("body", Text, nullable=False),
    Column("queue", String(64), nullable=False),
    Column("priority", Integer, nullable=False),
    Column("state", String(16), nullable=False),
    Column("asked_at", String(32), nullable=False),
    Column("cancelled", Boolean, nullable=False),
    Column("tries", Integer, nullable=False),
    Column("reached", Integer, nullable=False),
    Column("reason", Text, nullable=False),
    Column("next_step", Text, nullable=False),
    Index("ix_orders_state", "state"),
)

order_texts = Table(
    "order_texts",
    metadata,
    Column("hash", String(64), primary_key=True),
    Column("text", Text, nullable=False),
)

provider_limits = Table(
    "provider_limits",
    metadata,
    Column("name", String(128), primary_key=True),
    Column("at_once", Integer),
    Column("per_minute", Integer),
    Column("allowance", Float, nullable=False),
    Column("filled_at", Float, nullable=False),
)

leases = Table(
    "leases",
    metadata,
    Column("id", BigInteger().with_variant(Integer, "sqlite"), primary_key=True, autoincrement=True),
    Column("name", String(128), nullable=False),
    Column("writer", String(32), nullable=False),
    Column("granted", Boolean, nullable=False),
    Index("ix_leases_name", "name", "id"),
)

questions = Table(
    "questions",
    metadata,
    Column("debate", String(32), primary_key=True),
    Column("path", String(200), primary_key=True),
    Column("body", Text, nullable=False),
    Column("answer", Text),
    Column("tried", Text, nullable=False),
    Column("breaches", Text),
)

summaries = Table(
    "summaries",
    metadata,
    Column("debate", String(32), primary_key=True),
    Column("head", String(64), nullable=False),
    Column("version", Integer, nullable=False),
    Column("body", Text, nullable=False),
)

batches = Table(
    "batches",
    metadata,
    Column("name", String(64), primary_key=True),
    Column("place", Text, nullable=False),
    Column("intended_at", Float, nullable=False),
    Column("size", Integer, nullable=False),
    Column("provider_id", Text),
)

batch_calls = Table(
    "batch_calls",
    metadata,
    Column("debate", String(32), primary_key=True),
    Column("call", String(240), primary_key=True),
    Column("batch", String(64), nullable=False),
    Column("position", Integer, nullable=False),
    Index("ix_batch_calls_batch", "batch"),
)
