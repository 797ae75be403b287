"""
The table of contacts: the people and chats of a bank's channels, and who of them are one person.
"""

from sqlalchemy import JSON, BigInteger, Column, ForeignKey, Index, Integer, String, Table, Text

from app.storage.tables import metadata

contact = Table(
    "contact",
    metadata,
    Column("bank_id", Integer, ForeignKey("bank.bank_id", ondelete="CASCADE"), primary_key=True),
    Column("platform", Text, primary_key=True),
    Column("contact_id", Text, primary_key=True),
    Column("display_name", Text),
    Column("link", Text),  # the name under which all addresses of one person go
    Column("last_seen_at", BigInteger),
    Column("last_seen_offset", Integer, nullable=False, default=0),
    Column("last_message_type", String(64)),
    Column("metadata", JSON, nullable=False),
    Column("created_at", BigInteger, nullable=False),
    Column("updated_at", BigInteger, nullable=False),
    Index("ix_contact_link", "bank_id", "link"),
    sqlite_with_rowid=False,
)
