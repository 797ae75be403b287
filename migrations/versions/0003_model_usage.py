"""
the daily account of what a language model costs each bank

Revision: 0003, after 0002.
"""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "model_usage",
        sa.Column("bank_id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("day", sa.String(length=10), nullable=False),
        sa.Column("calls", sa.BigInteger(), nullable=False),
        sa.Column("input_tokens", sa.BigInteger(), nullable=False),
        sa.Column("output_tokens", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["bank_id"], ["bank.bank_id"], name=op.f("fk_model_usage_bank_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("bank_id", "day", name=op.f("pk_model_usage")),
        sqlite_with_rowid=False,
    )


def downgrade() -> None:
    op.drop_table("model_usage")
