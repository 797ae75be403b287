"""
What only memories have: fingerprints, keys, raw input, and the history of their revisions.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Connection, Row, and_, delete, distinct, func, insert, select, update

from app.domain.filters import RecordFilter
from app.domain.records import Category, Memory, MemoryRevision, Tier
from app.storage.filters import conditions
from app.storage.moments import from_micros, to_micros
from app.storage.records import to_record
from app.storage.tables import memory, memory_revision, posting, record

_JOIN = and_(memory.c.bank_id == record.c.bank_id, memory.c.seq == record.c.seq)
_OWN = (
    memory.c.raw_input,
    memory.c.summary,
    memory.c.key,
    memory.c.provenance,
    memory.c.structured,
)


@dataclass(frozen=True, slots=True)
class MemoryQuery:
    """
    What a list of memories is narrowed to, beside the record filter: a key, or a piece of text.
    """

    key: str | None = None
    contains: str | None = None


def put(connection: Connection, bank_id: int, item: Memory, fingerprint: str) -> None:
    """
    Write the memory's own columns, new or over the old ones.
    """
    values = {
        "fingerprint": fingerprint,
        "raw_input": item.raw_input,
        "summary": item.summary,
        "key": item.key,
        "provenance": list(item.provenance),
        "structured": item.structured,
    }
    same = (memory.c.bank_id == bank_id) & (memory.c.seq == item.record.seq)
    if connection.execute(update(memory).where(same).values(**values)).rowcount == 0:
        connection.execute(insert(memory).values(bank_id=bank_id, seq=item.record.seq, **values))


def by_id(connection: Connection, bank_id: int, memory_id: str) -> Memory | None:
    """
    The memory of that id, alive or not.
    """
    return _first(connection, bank_id, record.c.id == memory_id)


def by_key(connection: Connection, bank_id: int, key: str) -> Memory | None:
    """
    The live memory that bears the key.
    """
    return _first(connection, bank_id, and_(memory.c.key == key, record.c.invalid_at.is_(None)))


def by_fingerprint(connection: Connection, bank_id: int, fingerprint: str) -> list[Memory]:
    """
    All memories of that fingerprint, live ones first.
    """
    rows = connection.execute(
        _select()
        .where(memory.c.bank_id == bank_id, memory.c.fingerprint == fingerprint)
        .order_by(record.c.invalid_at.is_not(None), record.c.seq)
    )
    return [_memory(row) for row in rows]


def by_seqs(connection: Connection, bank_id: int, seqs: Collection[int]) -> dict[int, Memory]:
    """
    The memories of those numbers.
    """
    rows = connection.execute(_select().where(record.c.bank_id == bank_id, record.c.seq.in_(list(seqs))))
    return {row.seq: _memory(row) for row in rows}


def page(
    connection: Connection, bank_id: int, wanted: RecordFilter, query: MemoryQuery, limit: int, offset: int
) -> tuple[list[Memory], int]:
    """
    Memories newest first, ties by arrival, and how many there are in all.
    """
    where = [*conditions(bank_id, wanted), memory.c.bank_id == bank_id]
    if query.key is not None:
        where.append(memory.c.key == query.key)
    if query.contains is not None:
        where.append(record.c.text.contains(query.contains, autoescape=True))
    total = connection.execute(select(func.count()).select_from(record).join(memory, _JOIN).where(*where)).scalar_one()
    rows = connection.execute(
        _select().where(*where).order_by(record.c.created_at.desc(), record.c.seq.desc()).limit(limit).offset(offset)
    )
    return [_memory(row) for row in rows], total


def sharing_terms(connection: Connection, bank_id: int, terms: Collection[str], least: int, limit: int) -> list[str]:
    """
    The texts of live memories that hold at least so many of the indexed terms, those with most first.
    """
    shared = func.count(distinct(posting.c.term)).label("shared")
    found = (
        select(posting.c.seq, shared)
        .where(posting.c.bank_id == bank_id, posting.c.retired.is_(False), posting.c.term.in_(sorted(terms)))
        .group_by(posting.c.seq)
        .having(shared >= least)
        .subquery()
    )
    same = and_(record.c.bank_id == bank_id, record.c.seq == found.c.seq, record.c.tier == Tier.MEMORY)
    rows = connection.execute(
        select(record.c.text).join(found, same).order_by(found.c.shared.desc(), found.c.seq).limit(limit)
    )
    return list(rows.scalars())


def deleted_texts(connection: Connection, bank_id: int) -> list[str]:
    """
    What the deleted memories of a bank stated.
    """
    rows = connection.execute(
        select(record.c.text).where(
            record.c.bank_id == bank_id, record.c.tier == Tier.MEMORY, record.c.invalid_reason == "deleted"
        )
    )
    return list(rows.scalars())


def live(connection: Connection, bank_id: int, clock: int) -> list[Memory]:
    """
    All live memories of a bank that have not expired by then, in the order of their arrival.
    """
    rows = connection.execute(
        _select()
        .where(
            record.c.bank_id == bank_id,
            record.c.tier == Tier.MEMORY,
            record.c.invalid_at.is_(None),
            (record.c.expires_at.is_(None)) | (record.c.expires_at > clock),
        )
        .order_by(record.c.seq)
    )
    return [_memory(row) for row in rows]


def any_live(connection: Connection, bank_id: int) -> bool:
    """
    Whether the bank has a live memory at all.
    """
    wanted = (record.c.bank_id == bank_id, record.c.tier == Tier.MEMORY, record.c.invalid_at.is_(None))
    return connection.execute(select(record.c.seq).where(*wanted).limit(1)).first() is not None


def core(connection: Connection, bank_id: int, min_confidence: float, limit: int, clock: int) -> list[Memory]:
    """
    The core tier: live preferences and facts of enough confidence, surest first, then most used.
    """
    rows = connection.execute(
        _select()
        .where(
            record.c.bank_id == bank_id,
            record.c.tier == Tier.MEMORY,
            record.c.invalid_at.is_(None),
            (record.c.expires_at.is_(None)) | (record.c.expires_at > clock),
            record.c.category.in_([Category.PREFERENCE, Category.FACT]),
            record.c.confidence >= min_confidence,
        )
        .order_by(
            record.c.confidence.desc(),
            record.c.access_count.desc(),
            record.c.pinned.desc(),
            record.c.updated_at.desc(),
            record.c.id,
        )
        .limit(limit)
    )
    return [_memory(row) for row in rows]


def add_revision(connection: Connection, bank_id: int, seq: int, item: MemoryRevision) -> None:
    """
    Append one state to a memory's history.
    """
    connection.execute(
        insert(memory_revision).values(
            bank_id=bank_id,
            seq=seq,
            revision=item.revision,
            changed_at=to_micros(item.changed_at),
            change=item.change,
            reason=item.reason,
            body=item.body,
        )
    )


def revisions(connection: Connection, bank_id: int, seq: int) -> list[MemoryRevision]:
    """
    A memory's history, oldest first.
    """
    rows = connection.execute(
        select(memory_revision)
        .where(memory_revision.c.bank_id == bank_id, memory_revision.c.seq == seq)
        .order_by(memory_revision.c.revision)
    )
    return [MemoryRevision(row.revision, from_micros(row.changed_at), row.change, row.reason, row.body) for row in rows]


def erase(connection: Connection, bank_id: int, seqs: Sequence[int]) -> None:
    """
    Remove the memories' own columns and their whole history.
    """
    for table in (memory, memory_revision):
        connection.execute(delete(table).where(table.c.bank_id == bank_id, table.c.seq.in_(seqs)))


def _select() -> Any:
    return select(record, *_OWN).join(memory, _JOIN)


def _first(connection: Connection, bank_id: int, condition: ColumnElement[bool]) -> Memory | None:
    row = connection.execute(_select().where(record.c.bank_id == bank_id, condition)).first()
    return None if row is None else _memory(row)


def _memory(row: Row[*tuple[Any, ...]]) -> Memory:
    return Memory(
        record=to_record(row),
        raw_input=row.raw_input,
        summary=row.summary,
        key=row.key,
        provenance=tuple(row.provenance),
        structured=row.structured,
    )
