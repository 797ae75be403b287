"""
The tables, as SQLAlchemy sees them: names, columns and indexes, nothing else.

Every table that holds what belongs to a bank is clustered with the bank as its leading key, so that the cost of a read
follows the bank and never the store. Times are whole microseconds since 1970 in UTC; where the speaker's zone matters,
its offset in minutes stands beside it. `seq` numbers a bank's records in the order of their arrival; long text is
indexed in passages, so that an indexed unit is `(seq, part)`.
"""

from sqlalchemy import (
    JSON,
    BigInteger,
    Boolean,
    Column,
    Float,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
    Text,
    text,
)

metadata = MetaData(
    naming_convention={
        "ix": "ix_%(column_0_N_label)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "fk": "fk_%(table_name)s_%(column_0_N_name)s",
        "pk": "pk_%(table_name)s",
    }
)

_BANK = "bank.bank_id"


def _bank_key() -> Column[int]:
    return Column("bank_id", Integer, ForeignKey(_BANK, ondelete="CASCADE"), primary_key=True)


bank = Table(
    "bank",
    metadata,
    Column("bank_id", Integer, primary_key=True),
    Column("name", String(200), nullable=False, unique=True),
    Column("description", Text, nullable=False, default=""),
    Column("settings", JSON, nullable=False, default=dict),
    Column("revision", BigInteger, nullable=False, default=0),  # grows with every change of what is remembered
    Column("version", BigInteger, nullable=False, default=0),  # grows with every change at all: vectors and counts too
    Column("epoch", BigInteger, nullable=False, default=0),  # grows when rows were erased: caches start anew
    Column("next_seq", BigInteger, nullable=False, default=1),
    Column("live_units", BigInteger, nullable=False, default=0),  # indexed passages of live records
    Column("live_terms", BigInteger, nullable=False, default=0),  # their terms, repeats counted
    Column("total_accesses", BigInteger, nullable=False, default=0),
    Column("created_at", BigInteger, nullable=False),
    Column("updated_at", BigInteger, nullable=False),
    Column("trashed_at", BigInteger),
)

record = Table(
    "record",
    metadata,
    _bank_key(),
    Column("seq", BigInteger, primary_key=True, autoincrement=False),
    Column("id", String(64), nullable=False),
    Column("tier", String(16), nullable=False),
    Column("text", Text, nullable=False),
    Column("created_at", BigInteger, nullable=False),
    Column("created_offset", Integer, nullable=False, default=0),
    Column("updated_at", BigInteger, nullable=False),
    Column("occurred_at", BigInteger),
    Column("occurred_offset", Integer),
    Column("expires_at", BigInteger),
    Column("expires_offset", Integer),
    Column("speaker", Text),
    Column("role", String(64)),
    Column("session_id", Text),
    Column("source", Text),
    Column("source_id", Text),
    Column("category", String(16), nullable=False),
    Column("tags", JSON, nullable=False),
    Column("entities", JSON, nullable=False),
    Column("clusters", JSON, nullable=False),
    Column("metadata", JSON, nullable=False),
    Column("confidence", Float, nullable=False),
    Column("pinned", Boolean, nullable=False, default=False),
    Column("observations", Integer, nullable=False, default=1),
    Column("access_count", Integer, nullable=False, default=0),
    Column("last_accessed_at", BigInteger),
    Column("revision", Integer, nullable=False, default=1),
    Column("invalid_at", BigInteger),
    Column("invalid_reason", String(16)),
    Column("superseded_by", String(64)),
    Column("previous", BigInteger),  # of an entry: the seq of the entry before it in its session
    Column("changed", BigInteger, nullable=False),  # the bank's version at the last change, for caches that catch up
    Index("ix_record_id", "bank_id", "id", unique=True),
    Index("ix_record_changed", "bank_id", "changed"),
    Index("ix_record_created", "bank_id", "tier", "created_at", "seq"),
    Index("ix_record_previous", "bank_id", "previous"),
    sqlite_with_rowid=False,
)

entry = Table(
    "entry",
    metadata,
    _bank_key(),
    Column("seq", BigInteger, primary_key=True, autoincrement=False),
    Column("contact", Text, nullable=False),  # whose messages these are, for the look-ups of duplicates
    Column("thread", Text, nullable=False),  # which conversation it follows on
    Column("message_id", Text),
    Column("content_hash", LargeBinary(16), nullable=False),
    Column("message_type", Text),
    Column("action_id", Text),
    Column("step", Integer),
    Column("skill", Text),
    Column("consolidated_into", String(64)),
    Index(
        "ix_entry_message",
        "bank_id",
        "contact",
        "message_id",
        unique=True,
        sqlite_where=text("message_id IS NOT NULL"),
        postgresql_where=text("message_id IS NOT NULL"),
    ),
    Index("ix_entry_content", "bank_id", "content_hash"),
    Index("ix_entry_action", "bank_id", "action_id"),
    Index("ix_entry_thread", "bank_id", "thread", "seq"),
    sqlite_with_rowid=False,
)

memory = Table(
    "memory",
    metadata,
    _bank_key(),
    Column("seq", BigInteger, primary_key=True, autoincrement=False),
    Column("fingerprint", String(32), nullable=False),
    Column("raw_input", Text),
    Column("summary", Text, nullable=False),
    Column("key", Text),
    Column("provenance", JSON, nullable=False),
    Column("structured", Boolean, nullable=False, default=True),
    Index("ix_memory_fingerprint", "bank_id", "fingerprint"),
    Index("ix_memory_key", "bank_id", "key"),
    sqlite_with_rowid=False,
)

memory_revision = Table(
    "memory_revision",
    metadata,
    _bank_key(),
    Column("seq", BigInteger, primary_key=True, autoincrement=False),
    Column("revision", Integer, primary_key=True, autoincrement=False),
    Column("changed_at", BigInteger, nullable=False),
    Column("change", String(32), nullable=False),
    Column("reason", Text),
    Column("body", JSON, nullable=False),
    sqlite_with_rowid=False,
)

document = Table(
    "document",
    metadata,
    _bank_key(),
    Column("path", String(200), primary_key=True),
    Column("revision", Integer, nullable=False),
    Column("created_at", BigInteger, nullable=False),
    Column("updated_at", BigInteger, nullable=False),
    Column("deleted_at", BigInteger),  # set on what is left of a deleted document: its path and its revision
    Column("content", Text, nullable=False),  # the last column, so that a list never reads through long texts
    sqlite_with_rowid=False,
)

document_revision = Table(
    "document_revision",
    metadata,
    _bank_key(),
    Column("path", String(200), primary_key=True),
    Column("revision", Integer, primary_key=True, autoincrement=False),
    Column("changed_at", BigInteger, nullable=False),
    Column("change", String(16), nullable=False),
    Column("reason", Text),
    Column("request_key", String(64)),  # of a request that, sent again, must not be done again
    Column("content", Text, nullable=False),  # of an append: only what it put after the revision before
    sqlite_with_rowid=False,
)

passage = Table(
    "passage",
    metadata,
    _bank_key(),
    Column("seq", BigInteger, primary_key=True, autoincrement=False),
    Column("path", String(200), nullable=False),
    Column("heading", JSON, nullable=False),  # the titles above it, outermost first
    Column("first_line", Integer, nullable=False),  # lines of the document, from 1, both included
    Column("last_line", Integer, nullable=False),
    Index("ix_passage_path", "bank_id", "path"),
    sqlite_with_rowid=False,
)

record_tag = Table(
    "record_tag",
    metadata,
    _bank_key(),
    Column("tag", Text, primary_key=True),
    Column("seq", BigInteger, primary_key=True, autoincrement=False),
    sqlite_with_rowid=False,
)

record_cluster = Table(
    "record_cluster",
    metadata,
    _bank_key(),
    Column("cluster", Text, primary_key=True),
    Column("seq", BigInteger, primary_key=True, autoincrement=False),
    sqlite_with_rowid=False,
)

record_entity = Table(
    "record_entity",
    metadata,
    _bank_key(),
    Column("handle", Text, primary_key=True),
    Column("seq", BigInteger, primary_key=True, autoincrement=False),
    sqlite_with_rowid=False,
)

unit = Table(
    "unit",
    metadata,
    _bank_key(),
    Column("seq", BigInteger, primary_key=True, autoincrement=False),
    Column("part", Integer, primary_key=True, autoincrement=False),
    Column("start", Integer, nullable=False),  # characters of the record's text
    Column("stop", Integer, nullable=False),
    Column("terms", Integer, nullable=False),
    Column("text_hash", LargeBinary(16), nullable=False),
    sqlite_with_rowid=False,
)

posting = Table(
    "posting",
    metadata,
    _bank_key(),
    Column("retired", Boolean, primary_key=True),  # of a superseded record: searched only when asked for
    Column("term", Text, primary_key=True),
    Column("seq", BigInteger, primary_key=True, autoincrement=False),
    Column("part", Integer, primary_key=True, autoincrement=False),
    Column("tf", Integer, nullable=False),
    sqlite_with_rowid=False,
)

embedding_space = Table(
    "embedding_space",
    metadata,
    Column("space_id", Integer, primary_key=True),
    Column("identity", Text, nullable=False, unique=True),
    Column("dimensions", Integer, nullable=False),
    Column("created_at", BigInteger, nullable=False),
)

vector = Table(
    "vector",
    metadata,
    _bank_key(),
    Column("space_id", Integer, ForeignKey("embedding_space.space_id"), primary_key=True, autoincrement=False),
    Column("seq", BigInteger, primary_key=True, autoincrement=False),
    Column("part", Integer, primary_key=True, autoincrement=False),
    Column("text_hash", LargeBinary(16), nullable=False),
    Column("embedding", LargeBinary),  # null: the model has nothing to say of such a text
    sqlite_with_rowid=False,
)

vector_job = Table(
    "vector_job",
    metadata,
    _bank_key(),
    Column("seq", BigInteger, primary_key=True, autoincrement=False),
    Column("part", Integer, primary_key=True, autoincrement=False),
    Column("queued_at", BigInteger, nullable=False),
    Index("ix_vector_job_queue", "queued_at", "bank_id", "seq"),
    sqlite_with_rowid=False,
)

outbox = Table(
    "outbox",
    metadata,
    Column("event_id", Integer, primary_key=True),
    Column("bank", String(200), nullable=False),
    Column("kind", String(32), nullable=False),
    Column("event_type", String(32), nullable=False),
    Column("record_id", String(64)),
    Column("reason", Text),
    Column("created_at", BigInteger, nullable=False),
    Index("ix_outbox_bank", "bank", "event_id"),
)

idempotency = Table(
    "idempotency",
    metadata,
    Column("owner", Text, primary_key=True),  # the key that asked, and the path
    Column("bank", String(200)),  # whose texts the answer may hold
    Column("key", String(255), primary_key=True),
    Column("digest", String(64), nullable=False),
    Column("status", Integer),  # null while the first request is still at work
    Column("body", LargeBinary),
    Column("content_type", Text),
    Column("created_at", BigInteger, nullable=False),
    Index("ix_idempotency_created", "created_at"),
    sqlite_with_rowid=False,
)

model_usage = Table(
    "model_usage",
    metadata,
    _bank_key(),
    Column("day", String(10), primary_key=True),  # of UTC, such as 2026-11-30
    Column("calls", BigInteger, nullable=False),
    Column("input_tokens", BigInteger, nullable=False),
    Column("output_tokens", BigInteger, nullable=False),
    sqlite_with_rowid=False,
)

api_key = Table(
    "api_key",
    metadata,
    Column("key_id", Integer, primary_key=True),
    Column("name", String(100), nullable=False, unique=True),
    Column("digest", String(64), nullable=False, unique=True),
    Column("role", String(16), nullable=False),
    Column("banks", JSON, nullable=False),
    Column("created_at", BigInteger, nullable=False),
    Column("revoked_at", BigInteger),
)

meta = Table(
    "meta",
    metadata,
    Column("name", String(64), primary_key=True),
    Column("value", Text, nullable=False),
)
