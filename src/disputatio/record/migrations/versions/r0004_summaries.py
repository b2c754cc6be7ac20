"""What readers computed from whole records: one row for a debate, of its last event."""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Create the table. It fills when debates end, and when figures of earlier ones are read."""
    op.create_table(
        "summaries",
        sa.Column("debate", sa.String(32), primary_key=True),
        sa.Column("head", sa.String(64), nullable=False),
        sa.Column("version", sa.Integer, nullable=False),
        sa.Column("body", sa.Text, nullable=False),
    )
