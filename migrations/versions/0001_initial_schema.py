"""
initial schema

Revision: 0001, the first.
"""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "api_key",
        sa.Column("key_id", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(length=100), nullable=False),
        sa.Column("digest", sa.String(length=64), nullable=False),
        sa.Column("role", sa.String(length=16), nullable=False),
        sa.Column("banks", sa.JSON(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("revoked_at", sa.BigInteger(), nullable=True),
        sa.PrimaryKeyConstraint("key_id", name=op.f("pk_api_key")),
        sa.UniqueConstraint("digest", name=op.f("uq_api_key_digest")),
        sa.UniqueConstraint("name", name=op.f("uq_api_key_name")),
    )
    op.create_table(
        "bank",
        sa.Column("bank_id", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(length=200), nullable=False),
        sa.Column("description", sa.Text(), nullable=False),
        sa.Column("settings", sa.JSON(), nullable=False),
        sa.Column("revision", sa.BigInteger(), nullable=False),
        sa.Column("version", sa.BigInteger(), nullable=False),
        sa.Column("epoch", sa.BigInteger(), nullable=False),
        sa.Column("next_seq", sa.BigInteger(), nullable=False),
        sa.Column("live_units", sa.BigInteger(), nullable=False),
        sa.Column("live_terms", sa.BigInteger(), nullable=False),
        sa.Column("total_accesses", sa.BigInteger(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("updated_at", sa.BigInteger(), nullable=False),
        sa.Column("trashed_at", sa.BigInteger(), nullable=True),
        sa.PrimaryKeyConstraint("bank_id", name=op.f("pk_bank")),
        sa.UniqueConstraint("name", name=op.f("uq_bank_name")),
    )
    op.create_table(
        "embedding_space",
        sa.Column("space_id", sa.Integer(), nullable=False),
        sa.Column("identity", sa.Text(), nullable=False),
        sa.Column("dimensions", sa.Integer(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("space_id", name=op.f("pk_embedding_space")),
        sa.UniqueConstraint("identity", name=op.f("uq_embedding_space_identity")),
    )
    op.create_table(
        "idempotency",
        sa.Column("owner", sa.Text(), nullable=False),
        sa.Column("bank", sa.String(length=200), nullable=True),
        sa.Column("key", sa.String(length=255), nullable=False),
        sa.Column("digest", sa.String(length=64), nullable=False),
        sa.Column("status", sa.Integer(), nullable=True),
        sa.Column("body", sa.LargeBinary(), nullable=True),
        sa.Column("content_type", sa.Text(), nullable=True),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("owner", "key", name=op.f("pk_idempotency")),
        sqlite_with_rowid=False,
    )
    with op.batch_alter_table("idempotency", schema=None) as batch_op:
        batch_op.create_index("ix_idempotency_created", ["created_at"], unique=False)

    op.create_table(
        "meta",
        sa.Column("name", sa.String(length=64), nullable=False),
        sa.Column("value", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_meta")),
    )
    op.create_table(
        "outbox",
        sa.Column("event_id", sa.Integer(), nullable=False),
        sa.Column("bank", sa.String(length=200), nullable=False),
        sa.Column("kind", sa.String(length=32), nullable=False),
        sa.Column("event_type", sa.String(length=32), nullable=False),
        sa.Column("record_id", sa.String(length=64), nullable=True),
        sa.Column("reason", sa.Text(), nullable=True),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("event_id", name=op.f("pk_outbox")),
    )
    with op.batch_alter_table("outbox", schema=None) as batch_op:
        batch_op.create_index("ix_outbox_bank", ["bank", "event_id"], unique=False)

    op.create_table(
        "entry",
        sa.Column("bank_id", sa.Integer(), nullable=False),
        sa.Column("seq", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("contact", sa.Text(), nullable=False),
        sa.Column("thread", sa.Text(), nullable=False),
        sa.Column("message_id", sa.Text(), nullable=True),
        sa.Column("content_hash", sa.LargeBinary(length=16), nullable=False),
        sa.Column("message_type", sa.Text(), nullable=True),
        sa.Column("action_id", sa.Text(), nullable=True),
        sa.Column("step", sa.Integer(), nullable=True),
        sa.Column("skill", sa.Text(), nullable=True),
        sa.Column("consolidated_into", sa.String(length=64), nullable=True),
        sa.ForeignKeyConstraint(["bank_id"], ["bank.bank_id"], name=op.f("fk_entry_bank_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("bank_id", "seq", name=op.f("pk_entry")),
        sqlite_with_rowid=False,
    )
    with op.batch_alter_table("entry", schema=None) as batch_op:
        batch_op.create_index("ix_entry_action", ["bank_id", "action_id"], unique=False)
        batch_op.create_index("ix_entry_content", ["bank_id", "content_hash"], unique=False)
        batch_op.create_index(
            "ix_entry_message",
            ["bank_id", "contact", "message_id"],
            unique=True,
            sqlite_where=sa.text("message_id IS NOT NULL"),
            postgresql_where=sa.text("message_id IS NOT NULL"),
        )
        batch_op.create_index("ix_entry_thread", ["bank_id", "thread", "seq"], unique=False)

    op.create_table(
        "memory",
        sa.Column("bank_id", sa.Integer(), nullable=False),
        sa.Column("seq", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("fingerprint", sa.String(length=32), nullable=False),
        sa.Column("raw_input", sa.Text(), nullable=True),
        sa.Column("summary", sa.Text(), nullable=False),
        sa.Column("key", sa.Text(), nullable=True),
        sa.Column("provenance", sa.JSON(), nullable=False),
        sa.Column("structured", sa.Boolean(), nullable=False),
        sa.ForeignKeyConstraint(["bank_id"], ["bank.bank_id"], name=op.f("fk_memory_bank_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("bank_id", "seq", name=op.f("pk_memory")),
        sqlite_with_rowid=False,
    )
    with op.batch_alter_table("memory", schema=None) as batch_op:
        batch_op.create_index("ix_memory_fingerprint", ["bank_id", "fingerprint"], unique=False)
        batch_op.create_index("ix_memory_key", ["bank_id", "key"], unique=False)

    op.create_table(
        "memory_revision",
        sa.Column("bank_id", sa.Integer(), nullable=False),
        sa.Column("seq", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("revision", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("changed_at", sa.BigInteger(), nullable=False),
        sa.Column("change", sa.String(length=32), nullable=False),
        sa.Column("reason", sa.Text(), nullable=True),
        sa.Column("body", sa.JSON(), nullable=False),
        sa.ForeignKeyConstraint(
            ["bank_id"], ["bank.bank_id"], name=op.f("fk_memory_revision_bank_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("bank_id", "seq", "revision", name=op.f("pk_memory_revision")),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "posting",
        sa.Column("bank_id", sa.Integer(), nullable=False),
        sa.Column("retired", sa.Boolean(), nullable=False),
        sa.Column("term", sa.Text(), nullable=False),
        sa.Column("seq", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("part", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("tf", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["bank_id"], ["bank.bank_id"], name=op.f("fk_posting_bank_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("bank_id", "retired", "term", "seq", "part", name=op.f("pk_posting")),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "record",
        sa.Column("bank_id", sa.Integer(), nullable=False),
        sa.Column("seq", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("id", sa.String(length=64), nullable=False),
        sa.Column("tier", sa.String(length=16), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("created_offset", sa.Integer(), nullable=False),
        sa.Column("updated_at", sa.BigInteger(), nullable=False),
        sa.Column("occurred_at", sa.BigInteger(), nullable=True),
        sa.Column("occurred_offset", sa.Integer(), nullable=True),
        sa.Column("expires_at", sa.BigInteger(), nullable=True),
        sa.Column("expires_offset", sa.Integer(), nullable=True),
        sa.Column("speaker", sa.Text(), nullable=True),
        sa.Column("role", sa.String(length=64), nullable=True),
        sa.Column("session_id", sa.Text(), nullable=True),
        sa.Column("source", sa.Text(), nullable=True),
        sa.Column("source_id", sa.Text(), nullable=True),
        sa.Column("category", sa.String(length=16), nullable=False),
        sa.Column("tags", sa.JSON(), nullable=False),
        sa.Column("entities", sa.JSON(), nullable=False),
        sa.Column("clusters", sa.JSON(), nullable=False),
        sa.Column("metadata", sa.JSON(), nullable=False),
        sa.Column("confidence", sa.Float(), nullable=False),
        sa.Column("pinned", sa.Boolean(), nullable=False),
        sa.Column("observations", sa.Integer(), nullable=False),
        sa.Column("access_count", sa.Integer(), nullable=False),
        sa.Column("last_accessed_at", sa.BigInteger(), nullable=True),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.Column("invalid_at", sa.BigInteger(), nullable=True),
        sa.Column("invalid_reason", sa.String(length=16), nullable=True),
        sa.Column("superseded_by", sa.String(length=64), nullable=True),
        sa.Column("previous", sa.BigInteger(), nullable=True),
        sa.Column("changed", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["bank_id"], ["bank.bank_id"], name=op.f("fk_record_bank_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("bank_id", "seq", name=op.f("pk_record")),
        sqlite_with_rowid=False,
    )
    with op.batch_alter_table("record", schema=None) as batch_op:
        batch_op.create_index("ix_record_changed", ["bank_id", "changed"], unique=False)
        batch_op.create_index("ix_record_created", ["bank_id", "tier", "created_at", "seq"], unique=False)
        batch_op.create_index("ix_record_id", ["bank_id", "id"], unique=True)
        batch_op.create_index("ix_record_previous", ["bank_id", "previous"], unique=False)

    op.create_table(
        "record_cluster",
        sa.Column("bank_id", sa.Integer(), nullable=False),
        sa.Column("cluster", sa.Text(), nullable=False),
        sa.Column("seq", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.ForeignKeyConstraint(
            ["bank_id"], ["bank.bank_id"], name=op.f("fk_record_cluster_bank_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("bank_id", "cluster", "seq", name=op.f("pk_record_cluster")),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "record_entity",
        sa.Column("bank_id", sa.Integer(), nullable=False),
        sa.Column("handle", sa.Text(), nullable=False),
        sa.Column("seq", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.ForeignKeyConstraint(
            ["bank_id"], ["bank.bank_id"], name=op.f("fk_record_entity_bank_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("bank_id", "handle", "seq", name=op.f("pk_record_entity")),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "record_tag",
        sa.Column("bank_id", sa.Integer(), nullable=False),
        sa.Column("tag", sa.Text(), nullable=False),
        sa.Column("seq", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.ForeignKeyConstraint(["bank_id"], ["bank.bank_id"], name=op.f("fk_record_tag_bank_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("bank_id", "tag", "seq", name=op.f("pk_record_tag")),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "unit",
        sa.Column("bank_id", sa.Integer(), nullable=False),
        sa.Column("seq", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("part", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("start", sa.Integer(), nullable=False),
        sa.Column("stop", sa.Integer(), nullable=False),
        sa.Column("terms", sa.Integer(), nullable=False),
        sa.Column("text_hash", sa.LargeBinary(length=16), nullable=False),
        sa.ForeignKeyConstraint(["bank_id"], ["bank.bank_id"], name=op.f("fk_unit_bank_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("bank_id", "seq", "part", name=op.f("pk_unit")),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "vector",
        sa.Column("bank_id", sa.Integer(), nullable=False),
        sa.Column("space_id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("seq", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("part", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("text_hash", sa.LargeBinary(length=16), nullable=False),
        sa.Column("embedding", sa.LargeBinary(), nullable=True),
        sa.ForeignKeyConstraint(["bank_id"], ["bank.bank_id"], name=op.f("fk_vector_bank_id"), ondelete="CASCADE"),
        sa.ForeignKeyConstraint(["space_id"], ["embedding_space.space_id"], name=op.f("fk_vector_space_id")),
        sa.PrimaryKeyConstraint("bank_id", "space_id", "seq", "part", name=op.f("pk_vector")),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "vector_job",
        sa.Column("bank_id", sa.Integer(), nullable=False),
        sa.Column("seq", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("part", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("queued_at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["bank_id"], ["bank.bank_id"], name=op.f("fk_vector_job_bank_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("bank_id", "seq", "part", name=op.f("pk_vector_job")),
        sqlite_with_rowid=False,
    )
    with op.batch_alter_table("vector_job", schema=None) as batch_op:
        batch_op.create_index("ix_vector_job_queue", ["queued_at", "bank_id", "seq"], unique=False)


def downgrade() -> None:
    with op.batch_alter_table("vector_job", schema=None) as batch_op:
        batch_op.drop_index("ix_vector_job_queue")

    op.drop_table("vector_job")
    op.drop_table("vector")
    op.drop_table("unit")
    op.drop_table("record_tag")
    op.drop_table("record_entity")
    op.drop_table("record_cluster")
    with op.batch_alter_table("record", schema=None) as batch_op:
        batch_op.drop_index("ix_record_previous")
        batch_op.drop_index("ix_record_id")
        batch_op.drop_index("ix_record_created")
        batch_op.drop_index("ix_record_changed")

    op.drop_table("record")
    op.drop_table("posting")
    op.drop_table("memory_revision")
    with op.batch_alter_table("memory", schema=None) as batch_op:
        batch_op.drop_index("ix_memory_key")
        batch_op.drop_index("ix_memory_fingerprint")

    op.drop_table("memory")
    with op.batch_alter_table("entry", schema=None) as batch_op:
        batch_op.drop_index("ix_entry_thread")
        batch_op.drop_index(
            "ix_entry_message",
            sqlite_where=sa.text("message_id IS NOT NULL"),
            postgresql_where=sa.text("message_id IS NOT NULL"),
        )
        batch_op.drop_index("ix_entry_content")
        batch_op.drop_index("ix_entry_action")

    op.drop_table("entry")
    with op.batch_alter_table("outbox", schema=None) as batch_op:
        batch_op.drop_index("ix_outbox_bank")

    op.drop_table("outbox")
    op.drop_table("meta")
    with op.batch_alter_table("idempotency", schema=None) as batch_op:
        batch_op.drop_index("ix_idempotency_created")

    op.drop_table("idempotency")
    op.drop_table("embedding_space")
    op.drop_table("bank")
    op.drop_table("api_key")
