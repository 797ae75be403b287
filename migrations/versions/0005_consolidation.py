"""
how far consolidation has read, and rules that wait for a person

Revision: 0005, after 0004.
"""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "cursor",
        sa.Column("bank_id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("kind", sa.String(length=64), nullable=False),
        sa.Column("thread", sa.Text(), nullable=False),
        sa.Column("seq", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["bank_id"], ["bank.bank_id"], name=op.f("fk_cursor_bank_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("bank_id", "kind", "thread", name=op.f("pk_cursor")),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "proposal",
        sa.Column("bank_id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("fingerprint", sa.String(length=32), nullable=False),
        sa.Column("id", sa.String(length=64), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("state", sa.String(length=16), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("speaker", sa.Text(), nullable=True),
        sa.Column("address", sa.Text(), nullable=True),
        sa.Column("provenance", sa.JSON(), nullable=False),
        sa.Column("observations", sa.Integer(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("updated_at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["bank_id"], ["bank.bank_id"], name=op.f("fk_proposal_bank_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("bank_id", "fingerprint", name=op.f("pk_proposal")),
        sqlite_with_rowid=False,
    )
    with op.batch_alter_table("proposal", schema=None) as batch_op:
        batch_op.create_index("ix_proposal_id", ["bank_id", "id"], unique=True)
        batch_op.create_index("ix_proposal_state", ["bank_id", "state", "created_at"], unique=False)


def downgrade() -> None:
    with op.batch_alter_table("proposal", schema=None) as batch_op:
        batch_op.drop_index("ix_proposal_state")
        batch_op.drop_index("ix_proposal_id")
    op.drop_table("proposal")
    op.drop_table("cursor")
