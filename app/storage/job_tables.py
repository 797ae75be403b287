"""
The tables of background work: jobs, and when each kind of scheduled work was last done well.
"""

from sqlalchemy import JSON, BigInteger, Column, ForeignKey, Index, Integer, String, Table, Text, text

from app.storage.tables import metadata

_WAITING = text("state IN ('queued', 'running')")

job = Table(
    "job",
    metadata,
    Column("job_id", Integer, primary_key=True),  # order of arrival
    Column("id", String(64), nullable=False, unique=True),
    Column("kind", String(64), nullable=False),
    Column("bank_id", Integer, ForeignKey("bank.bank_id", ondelete="CASCADE")),
    Column("payload", JSON, nullable=False),
    Column("dedupe_key", Text),
    Column("priority", Integer, nullable=False, default=0),  # smaller goes first
    Column("state", String(16), nullable=False),
    Column("attempts", Integer, nullable=False, default=0),
    Column("max_attempts", Integer, nullable=False),
    Column("run_at", BigInteger, nullable=False),
    Column("again_at", BigInteger),  # asked for once more while it ran: when to run it anew
    Column("lease_until", BigInteger),
    Column("worker", String(64)),
    Column("cancel_wanted", Integer, nullable=False, default=0),
    Column("error", Text),
    Column("progress", JSON),
    Column("report", JSON),
    Column("created_at", BigInteger, nullable=False),
    Column("started_at", BigInteger),
    Column("finished_at", BigInteger),
    Index("ix_job_claim", "state", "priority", "run_at", "job_id"),
    Index("ix_job_bank", "bank_id", "job_id"),
    # One waiting or running job for each piece of work, however often it is asked for.
    Index("ix_job_dedupe", "dedupe_key", unique=True, sqlite_where=_WAITING, postgresql_where=_WAITING),
)

schedule = Table(
    "schedule",
    metadata,
    Column("kind", String(64), primary_key=True),
    Column("last_done_at", BigInteger, nullable=False),  # of a run without a fault
    sqlite_with_rowid=False,
)
