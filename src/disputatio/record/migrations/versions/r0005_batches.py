"""Batches of providers, and the calls that were handed to them."""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Create the tables; nothing that is there changes."""
    op.create_table(
        "batches",
        sa.Column("name", sa.String(64), primary_key=True),
        sa.Column("place", sa.Text, nullable=False),
        sa.Column("intended_at", sa.Float, nullable=False),
        sa.Column("size", sa.Integer, nullable=False),
        sa.Column("provider_id", sa.Text),
    )
    op.create_table(
        "batch_calls",
        sa.Column("debate", sa.String(32), primary_key=True),
        sa.Column("call", sa.String(240), primary_key=True),
        sa.Column("batch", sa.String(64), nullable=False),
        sa.Column("position", sa.Integer, nullable=False),
    )
    op.create_index("ix_batch_calls_batch", "batch_calls", ["batch"])
