"""The first store: debates, events, texts."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Create the three tables."""
    op.create_table(
        "debates",
        sa.Column("id", sa.String(32), primary_key=True),
        sa.Column("opened_at", sa.String(32), nullable=False),
        sa.Column("format", sa.String(64), nullable=False),
        sa.Column("motion", sa.Text, nullable=False),
        sa.Column("status", sa.String(32), nullable=False),
        sa.Column("events", sa.Integer, nullable=False),
        sa.Column("head", sa.String(64), nullable=False),
    )
    op.create_index("ix_debates_opened_at", "debates", ["opened_at"])
    op.create_table(
        "events",
        sa.Column("debate", sa.String(32), sa.ForeignKey("debates.id"), primary_key=True),
        sa.Column("seq", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("at", sa.String(32), nullable=False),
        sa.Column("kind", sa.String(64), nullable=False),
        sa.Column("body", sa.Text, nullable=False),
        sa.Column("previous", sa.String(64), nullable=False),
        sa.Column("hash", sa.String(64), nullable=False),
    )
    op.create_table(
        "texts",
        sa.Column("debate", sa.String(32), sa.ForeignKey("debates.id"), primary_key=True),
        sa.Column("hash", sa.String(64), primary_key=True),
        sa.Column("text", sa.Text, nullable=False),
    )
