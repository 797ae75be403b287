"""
background work: jobs, and when each kind of scheduled work was last done well

Revision: 0004, after 0003.
"""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None

_WAITING = sa.text("state IN ('queued', 'running')")


def upgrade() -> None:
    op.create_table(
        "job",
        sa.Column("job_id", sa.Integer(), nullable=False),
        sa.Column("id", sa.String(length=64), nullable=False),
        sa.Column("kind", sa.String(length=64), nullable=False),
        sa.Column("bank_id", sa.Integer(), nullable=True),
        sa.Column("payload", sa.JSON(), nullable=False),
        sa.Column("dedupe_key", sa.Text(), nullable=True),
        sa.Column("priority", sa.Integer(), nullable=False),
        sa.Column("state", sa.String(length=16), nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("max_attempts", sa.Integer(), nullable=False),
        sa.Column("run_at", sa.BigInteger(), nullable=False),
        sa.Column("again_at", sa.BigInteger(), nullable=True),
        sa.Column("lease_until", sa.BigInteger(), nullable=True),
        sa.Column("worker", sa.String(length=64), nullable=True),
        sa.Column("cancel_wanted", sa.Integer(), nullable=False),
        sa.Column("error", sa.Text(), nullable=True),
        sa.Column("progress", sa.JSON(), nullable=True),
        sa.Column("report", sa.JSON(), nullable=True),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("started_at", sa.BigInteger(), nullable=True),
        sa.Column("finished_at", sa.BigInteger(), nullable=True),
        sa.ForeignKeyConstraint(["bank_id"], ["bank.bank_id"], name=op.f("fk_job_bank_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("job_id", name=op.f("pk_job")),
        sa.UniqueConstraint("id", name=op.f("uq_job_id")),
    )
    with op.batch_alter_table("job", schema=None) as batch_op:
        batch_op.create_index("ix_job_claim", ["state", "priority", "run_at", "job_id"], unique=False)
        batch_op.create_index("ix_job_bank", ["bank_id", "job_id"], unique=False)
        batch_op.create_index(
            "ix_job_dedupe", ["dedupe_key"], unique=True, sqlite_where=_WAITING, postgresql_where=_WAITING
        )
    op.create_table(
        "schedule",
        sa.Column("kind", sa.String(length=64), nullable=False),
        sa.Column("last_done_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("kind", name=op.f("pk_schedule")),
        sqlite_with_rowid=False,
    )


def downgrade() -> None:
    op.drop_table("schedule")
    with op.batch_alter_table("job", schema=None) as batch_op:
        batch_op.drop_index("ix_job_dedupe")
        batch_op.drop_index("ix_job_bank")
        batch_op.drop_index("ix_job_claim")
    op.drop_table("job")
