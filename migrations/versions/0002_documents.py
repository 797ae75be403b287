"""
long-term documents: their text, their history, and the passages in which they are recalled

Revision: 0002, after 0001.
"""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "document",
        sa.Column("bank_id", sa.Integer(), nullable=False),
        sa.Column("path", sa.String(length=200), nullable=False),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("updated_at", sa.BigInteger(), nullable=False),
        sa.Column("deleted_at", sa.BigInteger(), nullable=True),
        sa.Column("content", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["bank_id"], ["bank.bank_id"], name=op.f("fk_document_bank_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("bank_id", "path", name=op.f("pk_document")),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "document_revision",
        sa.Column("bank_id", sa.Integer(), nullable=False),
        sa.Column("path", sa.String(length=200), nullable=False),
        sa.Column("revision", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("changed_at", sa.BigInteger(), nullable=False),
        sa.Column("change", sa.String(length=16), nullable=False),
        sa.Column("reason", sa.Text(), nullable=True),
        sa.Column("request_key", sa.String(length=64), nullable=True),
        sa.Column("content", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["bank_id"], ["bank.bank_id"], name=op.f("fk_document_revision_bank_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("bank_id", "path", "revision", name=op.f("pk_document_revision")),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "passage",
        sa.Column("bank_id", sa.Integer(), nullable=False),
        sa.Column("seq", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("path", sa.String(length=200), nullable=False),
        sa.Column("heading", sa.JSON(), nullable=False),
        sa.Column("first_line", sa.Integer(), nullable=False),
        sa.Column("last_line", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["bank_id"], ["bank.bank_id"], name=op.f("fk_passage_bank_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("bank_id", "seq", name=op.f("pk_passage")),
        sqlite_with_rowid=False,
    )
    op.create_index("ix_passage_path", "passage", ["bank_id", "path"], unique=False)


def downgrade() -> None:
    op.drop_index("ix_passage_path", table_name="passage")
    op.drop_table("passage")
    op.drop_table("document_revision")
    op.drop_table("document")
