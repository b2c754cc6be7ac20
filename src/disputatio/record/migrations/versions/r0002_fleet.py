"""Many writers of one database: their claims, the orders they take, the limits and leases they share."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Create the tables; nothing that is there changes."""
    op.create_table(
        "writers",
        sa.Column("id", sa.String(32), primary_key=True),
        sa.Column("beats", sa.BigInteger, nullable=False),
    )
    op.create_table(
        "claims",
        sa.Column("debate", sa.String(32), primary_key=True),
        sa.Column("token", sa.BigInteger, nullable=False),
        sa.Column("writer", sa.String(32), nullable=False),
        sa.Column("released", sa.Boolean, nullable=False),
    )
    op.create_table(
        "orders",
        sa.Column("debate", sa.String(32), primary_key=True),
        sa.Column("body", sa.Text, nullable=False),
        sa.Column("queue", sa.String(64), nullable=False),
        sa.Column("priority", sa.Integer, nullable=False),
        sa.Column("state", sa.String(16), nullable=False),
        sa.Column("asked_at", sa.String(32), nullable=False),
        sa.Column("cancelled", sa.Boolean, nullable=False),
        sa.Column("tries", sa.Integer, nullable=False),
        sa.Column("reached", sa.Integer, nullable=False),
        sa.Column("reason", sa.Text, nullable=False),
        sa.Column("next_step", sa.Text, nullable=False),
    )
    op.create_index("ix_orders_state", "orders", ["state"])
    op.create_table(
        "order_texts",
        sa.Column("hash", sa.String(64), primary_key=True),
        sa.Column("text", sa.Text, nullable=False),
    )
    op.create_table(
        "provider_limits",
        sa.Column("name", sa.String(128), primary_key=True),
        sa.Column("at_once", sa.Integer),
        sa.Column("per_minute", sa.Integer),
        sa.Column("allowance", sa.Float, nullable=False),
        sa.Column("filled_at", sa.Float, nullable=False),
    )
    op.create_table(
        "leases",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer, "sqlite"), primary_key=True, autoincrement=True),
        sa.Column("name", sa.String(128), nullable=False),
        sa.Column("writer", sa.String(32), nullable=False),
        sa.Column("granted", sa.Boolean, nullable=False),
    )
    op.create_index("ix_leases_name", "leases", ["name", "id"])
