"""
contacts, and entities with their names, attributes and relations; filled from what is stored already

Revision: 0006, after 0005.
"""

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "contact",
        sa.Column("bank_id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("platform", sa.Text(), nullable=False),
        sa.Column("contact_id", sa.Text(), nullable=False),
        sa.Column("display_name", sa.Text(), nullable=True),
        sa.Column("link", sa.Text(), nullable=True),
        sa.Column("last_seen_at", sa.BigInteger(), nullable=True),
        sa.Column("last_seen_offset", sa.Integer(), nullable=False),
        sa.Column("last_message_type", sa.String(length=64), nullable=True),
        sa.Column("metadata", sa.JSON(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("updated_at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["bank_id"], ["bank.bank_id"], name=op.f("fk_contact_bank_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("bank_id", "platform", "contact_id", name=op.f("pk_contact")),
        sqlite_with_rowid=False,
    )
    with op.batch_alter_table("contact", schema=None) as batch_op:
        batch_op.create_index("ix_contact_link", ["bank_id", "link"], unique=False)
    op.create_table(
        "entity",
        sa.Column("bank_id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("id", sa.String(length=64), nullable=False),
        sa.Column("type", sa.String(length=16), nullable=False),
        sa.Column("kept", sa.Boolean(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("updated_at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["bank_id"], ["bank.bank_id"], name=op.f("fk_entity_bank_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("bank_id", "id", name=op.f("pk_entity")),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "entity_alias",
        sa.Column("bank_id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("handle", sa.Text(), nullable=False),
        sa.Column("entity_id", sa.String(length=64), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("is_main", sa.Boolean(), nullable=False),
        sa.Column("vouched", sa.Boolean(), nullable=False),
        sa.ForeignKeyConstraint(
            ["bank_id"], ["bank.bank_id"], name=op.f("fk_entity_alias_bank_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("bank_id", "handle", name=op.f("pk_entity_alias")),
        sqlite_with_rowid=False,
    )
    with op.batch_alter_table("entity_alias", schema=None) as batch_op:
        batch_op.create_index("ix_entity_alias_entity", ["bank_id", "entity_id"], unique=False)
        batch_op.create_index(
            "ix_entity_alias_second",
            ["bank_id", "entity_id", "handle"],
            unique=False,
            sqlite_where=sa.text("is_main IS 0"),
            postgresql_where=sa.text("is_main IS false"),
        )
    op.create_table(
        "entity_attribute",
        sa.Column("bank_id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("handle", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("source", sa.String(length=64), nullable=False),
        sa.Column("value", sa.Text(), nullable=False),
        sa.Column("valid_from", sa.BigInteger(), nullable=True),
        sa.Column("valid_to", sa.BigInteger(), nullable=True),
        sa.ForeignKeyConstraint(
            ["bank_id"], ["bank.bank_id"], name=op.f("fk_entity_attribute_bank_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("bank_id", "handle", "name", "source", name=op.f("pk_entity_attribute")),
        sqlite_with_rowid=False,
    )
    with op.batch_alter_table("entity_attribute", schema=None) as batch_op:
        batch_op.create_index("ix_entity_attribute_source", ["bank_id", "source"], unique=False)
    op.create_table(
        "relation",
        sa.Column("bank_id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("subject", sa.Text(), nullable=False),
        sa.Column("predicate", sa.String(length=64), nullable=False),
        sa.Column("object_handle", sa.Text(), nullable=False),
        sa.Column("source", sa.String(length=64), nullable=False),
        sa.Column("object", sa.Text(), nullable=False),
        sa.Column("valid_from", sa.BigInteger(), nullable=True),
        sa.Column("valid_to", sa.BigInteger(), nullable=True),
        sa.ForeignKeyConstraint(["bank_id"], ["bank.bank_id"], name=op.f("fk_relation_bank_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("bank_id", "subject", "predicate", "object_handle", "source", name=op.f("pk_relation")),
        sqlite_with_rowid=False,
    )
    with op.batch_alter_table("relation", schema=None) as batch_op:
        batch_op.create_index("ix_relation_source", ["bank_id", "source"], unique=False)
        batch_op.create_index("ix_relation_object", ["bank_id", "object_handle"], unique=False)
    _fill()


def downgrade() -> None:
    for table in ("relation", "entity_attribute", "entity_alias", "entity", "contact"):
        op.drop_table(table)


def _fill() -> None:
    """Name what the records of an older database name, and know who has written to it."""
    op.execute(
        """
        INSERT INTO contact (bank_id, platform, contact_id, last_seen_at, last_seen_offset, metadata, created_at,
                             updated_at)
        SELECT bank_id, source, source_id, max(created_at), 0, '{}', min(created_at), max(created_at)
        FROM record
        WHERE tier = 'entry' AND source IS NOT NULL AND source_id IS NOT NULL AND invalid_at IS NULL
        GROUP BY bank_id, source, source_id
        """
    )
    op.execute(
        """
        INSERT INTO entity_alias (bank_id, handle, entity_id, name, is_main, vouched)
        SELECT e.bank_id, e.handle, 'obj-' || lower(hex(randomblob(8))), e.handle, 1, max(r.tier != 'entry')
        FROM record_entity AS e JOIN record AS r ON r.bank_id = e.bank_id AND r.seq = e.seq
        WHERE r.tier != 'document' AND r.invalid_at IS NULL
        GROUP BY e.bank_id, e.handle
        """
    )
    op.execute(
        """
        INSERT INTO entity (bank_id, id, type, kept, created_at, updated_at)
        SELECT a.bank_id, a.entity_id, 'other', 0, min(r.created_at), min(r.created_at)
        FROM entity_alias AS a
        JOIN record_entity AS e ON e.bank_id = a.bank_id AND e.handle = a.handle
        JOIN record AS r ON r.bank_id = e.bank_id AND r.seq = e.seq
        WHERE r.tier != 'document' AND r.invalid_at IS NULL
        GROUP BY a.bank_id, a.entity_id
        """
    )
