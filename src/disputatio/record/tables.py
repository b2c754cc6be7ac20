"""The tables of a store. Migrations lead to exactly these; a test compares the two."""

from __future__ import annotations

from sqlalchemy import Column, ForeignKey, Index, Integer, MetaData, String, Table, Text

REVISION = "0001"
"""The newest migration. A store at an unknown revision was written by another version."""

KNOWN_REVISIONS = ("0001",)

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
