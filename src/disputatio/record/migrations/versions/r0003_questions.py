"""What people are asked for in debates that workers run, and what they answered."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Create the table; nothing that is there changes."""
    op.create_table(
        "questions",
        sa.Column("debate", sa.String(32), primary_key=True),
        sa.Column("path", sa.String(200), primary_key=True),
        sa.Column("body", sa.Text, nullable=False),
        sa.Column("answer", sa.Text),
        sa.Column("tried", sa.Text, nullable=False),
        sa.Column("breaches", sa.Text),
    )
