"""
The tables of entities: names with what bears them, attributes, and relations, each with the record that states it.

Attributes and relations hang on handles and not on entities, so that a merge, and its undoing, moves names alone.
"""

from sqlalchemy import BigInteger, Boolean, Column, ForeignKey, Index, Integer, String, Table, Text, text

from app.storage.tables import metadata


def _bank_key() -> Column[int]:
    return Column("bank_id", Integer, ForeignKey("bank.bank_id", ondelete="CASCADE"), primary_key=True)


entity = Table(
    "entity",
    metadata,
    _bank_key(),
    Column("id", String(64), primary_key=True),
    Column("type", String(16), nullable=False),
    Column("kept", Boolean, nullable=False, default=False),  # a person has worked on it
    Column("created_at", BigInteger, nullable=False),
    Column("updated_at", BigInteger, nullable=False),
    sqlite_with_rowid=False,
)

entity_alias = Table(
    "entity_alias",
    metadata,
    _bank_key(),
    Column("handle", Text, primary_key=True),
    Column("entity_id", String(64), nullable=False),
    Column("name", Text, nullable=False),
    Column("is_main", Boolean, nullable=False),
    Column("vouched", Boolean, nullable=False),  # a memory or a person uses it
    Index("ix_entity_alias_entity", "bank_id", "entity_id"),
    Index(
        "ix_entity_alias_second",
        "bank_id",
        "entity_id",
        "handle",
        sqlite_where=text("is_main IS 0"),
        postgresql_where=text("is_main IS false"),
    ),
    sqlite_with_rowid=False,
)

entity_attribute = Table(
    "entity_attribute",
    metadata,
    _bank_key(),
    Column("handle", Text, primary_key=True),
    Column("name", Text, primary_key=True),
    Column("source", String(64), primary_key=True),  # the record that states it; empty: a person does
    Column("value", Text, nullable=False),
    Column("valid_from", BigInteger),
    Column("valid_to", BigInteger),
    Index("ix_entity_attribute_source", "bank_id", "source"),
    sqlite_with_rowid=False,
)

relation = Table(
    "relation",
    metadata,
    _bank_key(),
    Column("subject", Text, primary_key=True),
    Column("predicate", String(64), primary_key=True),
    Column("object_handle", Text, primary_key=True),
    Column("source", String(64), primary_key=True),  # the record that states it; empty: a person does
    Column("object", Text, nullable=False),
    Column("valid_from", BigInteger),
    Column("valid_to", BigInteger),
    Index("ix_relation_source", "bank_id", "source"),
    Index("ix_relation_object", "bank_id", "object_handle"),
    sqlite_with_rowid=False,
)
