"""
The tables of consolidation: how far each kind of it has read, and rules that wait for a person.
"""

from sqlalchemy import JSON, BigInteger, Column, ForeignKey, Index, Integer, String, Table, Text

from app.storage.tables import metadata


def _bank_key() -> Column[int]:
    return Column("bank_id", Integer, ForeignKey("bank.bank_id", ondelete="CASCADE"), primary_key=True)


cursor = Table(
    "cursor",
    metadata,
    _bank_key(),
    Column("kind", String(64), primary_key=True),
    Column("thread", Text, primary_key=True),
    Column("seq", BigInteger, nullable=False),
    sqlite_with_rowid=False,
)

proposal = Table(
    "proposal",
    metadata,
    _bank_key(),
    Column("fingerprint", String(32), primary_key=True),
    Column("id", String(64), nullable=False),
    Column("text", Text, nullable=False),
    Column("state", String(16), nullable=False),
    Column("reason", Text, nullable=False),  # why it is no rule yet, or how it became one
    Column("speaker", Text),
    Column("address", Text),  # the speaker's channel and id there
    Column("provenance", JSON, nullable=False),
    Column("observations", Integer, nullable=False),
    Column("created_at", BigInteger, nullable=False),
    Column("updated_at", BigInteger, nullable=False),
    Index("ix_proposal_id", "bank_id", "id", unique=True),
    Index("ix_proposal_state", "bank_id", "state", "created_at"),
    sqlite_with_rowid=False,
)
