"""
Records of every tier: writing, finding, listing and changing them.
"""

from collections.abc import Callable, Collection, Sequence
from operator import itemgetter
from typing import Any

from sqlalchemy import Connection, Row, bindparam, delete, func, insert, select, update

from app.domain.filters import RecordFilter
from app.domain.records import Category, Record, Tier
from app.storage import mentions
from app.storage.filters import conditions
from app.storage.moments import from_micros, offset_of, to_micros
from app.storage.tables import record, record_cluster, record_entity, record_tag

_LABELS = (
    (record_tag, "tag", "tags"),
    (record_cluster, "cluster", "clusters"),
    (record_entity, "handle", "entities"),
)


_BY_SEQS = select(record).where(
    record.c.bank_id == bindparam("b_bank"), record.c.seq.in_(bindparam("b_seqs", expanding=True))
)

_TIERS = {tier.value: tier for tier in Tier}
_CATEGORIES = {category.value: category for category in Category}
# By place and not by name: naming a column of a row costs more than all else that is done with it.
_FIELDS = itemgetter(
    *map(
        record.c.keys().index,
        (
            "seq",
            "id",
            "tier",
            "text",
            "created_at",
            "created_offset",
            "updated_at",
            "speaker",
            "role",
            "session_id",
            "source",
            "source_id",
            "category",
            "tags",
            "entities",
            "metadata",
            "occurred_at",
            "occurred_offset",
            "expires_at",
            "expires_offset",
            "confidence",
            "pinned",
            "observations",
            "access_count",
            "last_accessed_at",
            "revision",
            "invalid_at",
            "invalid_reason",
            "superseded_by",
        ),
    )
)


def values_of(item: Record, clusters: Collection[str], previous: int | None = None) -> dict[str, Any]:
    """
    The record as a row of its table, without its bank and the bank's revision.
    """
    return {
        "seq": item.seq,
        "id": item.id,
        "tier": item.tier,
        "text": item.text,
        "created_at": to_micros(item.created_at),
        "created_offset": offset_of(item.created_at),
        "updated_at": to_micros(item.updated_at),
        "occurred_at": None if item.occurred_at is None else to_micros(item.occurred_at),
        "occurred_offset": None if item.occurred_at is None else offset_of(item.occurred_at),
        "expires_at": None if item.expires_at is None else to_micros(item.expires_at),
        "expires_offset": None if item.expires_at is None else offset_of(item.expires_at),
        "speaker": item.speaker,
        "role": item.role,
        "session_id": item.session_id,
        "source": item.source,
        "source_id": item.source_id,
        "category": item.category,
        "tags": list(item.tags),
        "entities": list(item.entities),
        "clusters": sorted(clusters),
        "metadata": item.metadata,
        "confidence": item.confidence,
        "pinned": item.pinned,
        "observations": item.observations,
        "access_count": item.access_count,
        "last_accessed_at": None if item.last_accessed_at is None else to_micros(item.last_accessed_at),
        "revision": item.revision,
        "invalid_at": None if item.invalid_at is None else to_micros(item.invalid_at),
        "invalid_reason": item.invalid_reason,
        "superseded_by": item.superseded_by,
        "previous": previous,
    }


def add(connection: Connection, bank_id: int, changed: int, rows: Sequence[dict[str, Any]]) -> None:
    """
    Insert rows made by `values_of`, with their tags, clusters and entity handles.

    Raises:
        sqlalchemy.exc.IntegrityError: when an id is taken in this bank.
    """
    if not rows:
        return
    connection.execute(insert(record), [{"bank_id": bank_id, "changed": changed, **row} for row in rows])
    _label(connection, bank_id, rows)
    mentions.come(connection, bank_id, rows)


def replace(connection: Connection, bank_id: int, changed: int, row: dict[str, Any]) -> None:
    """
    Overwrite the record of the row's `seq`, with its labels; its place among its neighbours stays.
    """
    values = {name: value for name, value in row.items() if name not in {"seq", "previous"}}
    before = _said(connection, bank_id, [row["seq"]])
    connection.execute(
        update(record).where(record.c.bank_id == bank_id, record.c.seq == row["seq"]).values(changed=changed, **values)
    )
    _unlabel(connection, bank_id, [row["seq"]])
    _label(connection, bank_id, [row])
    for old in before:
        mentions.change(connection, bank_id, old, row)


def relabel_clusters(
    connection: Connection, bank_id: int, changed: int, clusters_of: Callable[[str], Collection[str]]
) -> None:
    """
    Work out the topic clusters of every record of a bank anew.
    """
    connection.execute(delete(record_cluster).where(record_cluster.c.bank_id == bank_id))
    rows = connection.execute(select(record.c.seq, record.c.text).where(record.c.bank_id == bank_id)).all()
    found = [(row.seq, sorted(clusters_of(row.text))) for row in rows]
    if not found:
        return
    connection.execute(
        update(record)
        .where(record.c.bank_id == bank_id, record.c.seq == bindparam("b_seq"))
        .values(clusters=bindparam("b_clusters"), changed=changed),
        [{"b_seq": seq, "b_clusters": clusters} for seq, clusters in found],
    )
    labels = [{"bank_id": bank_id, "seq": seq, "cluster": name} for seq, clusters in found for name in clusters]
    if labels:
        connection.execute(insert(record_cluster), labels)


def empty(connection: Connection, bank_id: int, changed: int, seqs: Sequence[int], now: int) -> None:
    """
    Delete records but keep their rows, without text and labels, so that caches that catch up learn of it.
    """
    before = _said(connection, bank_id, seqs)
    _unlabel(connection, bank_id, seqs)
    connection.execute(
        update(record)
        .where(record.c.bank_id == bank_id, record.c.seq.in_(seqs))
        .values(
            {
                record.c.text: "",
                record.c.tags: [],
                record.c.entities: [],
                record.c.clusters: [],
                record.c.metadata: {},
                record.c.invalid_at: now,
                record.c.invalid_reason: "deleted",
                record.c.changed: changed,
            }
        )
    )
    _leave(connection, bank_id, before, erased=False)


def erase(connection: Connection, bank_id: int, seqs: Sequence[int]) -> int:
    """
    Remove records and their labels for good; returns how many there were.
    """
    if not seqs:
        return 0
    before = _said(connection, bank_id, seqs)
    _unlabel(connection, bank_id, seqs)
    result = connection.execute(delete(record).where(record.c.bank_id == bank_id, record.c.seq.in_(seqs)))
    _leave(connection, bank_id, before, erased=True)
    return result.rowcount


def by_id(connection: Connection, bank_id: int, record_id: str) -> Record | None:
    """
    The record of that id, alive or not.
    """
    row = connection.execute(select(record).where(record.c.bank_id == bank_id, record.c.id == record_id)).first()
    return None if row is None else to_record(row)


def texts_of(connection: Connection, bank_id: int, ids: Collection[str]) -> dict[str, str]:
    """
    The texts of those of the ids that the bank has already.
    """
    rows = connection.execute(
        select(record.c.id, record.c.text).where(record.c.bank_id == bank_id, record.c.id.in_(list(ids)))
    )
    return {row.id: row.text for row in rows}


def by_seqs(connection: Connection, bank_id: int, seqs: Collection[int]) -> dict[int, Record]:
    """
    The records of those numbers, alive or not; missing ones are left out.
    """
    if not seqs:
        return {}
    rows = connection.execute(_BY_SEQS, {"b_bank": bank_id, "b_seqs": list(seqs)})
    return {row.seq: to_record(row) for row in rows}


def newest(connection: Connection, bank_id: int, wanted: RecordFilter, limit: int, offset: int = 0) -> list[Record]:
    """
    What the filter lets through, newest first, ties by arrival.
    """
    rows = connection.execute(
        select(record)
        .where(*conditions(bank_id, wanted))
        .order_by(record.c.created_at.desc(), record.c.seq.desc())
        .limit(limit)
        .offset(offset)
    )
    return [to_record(row) for row in rows]


def naming(
    connection: Connection, bank_id: int, handles: Collection[str], wanted: RecordFilter, limit: int
) -> tuple[list[Record], int]:
    """
    The records that bear one of the handles, newest first, as far as the filter lets them through, and how many.
    """
    bearing = select(record_entity.c.seq).where(
        record_entity.c.bank_id == bank_id, record_entity.c.handle.in_(sorted(handles))
    )
    where = [*conditions(bank_id, wanted), record.c.seq.in_(bearing)]
    total = connection.execute(select(func.count()).select_from(record).where(*where)).scalar_one()
    rows = connection.execute(
        select(record).where(*where).order_by(record.c.created_at.desc(), record.c.seq.desc()).limit(limit)
    )
    return [to_record(row) for row in rows], total


def count(connection: Connection, bank_id: int, wanted: RecordFilter) -> int:
    """
    How many records the filter lets through.
    """
    return connection.execute(select(func.count()).select_from(record).where(*conditions(bank_id, wanted))).scalar_one()


def exists(connection: Connection, bank_id: int, wanted: RecordFilter) -> bool:
    """
    Whether the filter lets any record through.
    """
    return connection.execute(select(record.c.seq).where(*conditions(bank_id, wanted)).limit(1)).first() is not None


def allowed(connection: Connection, bank_id: int, wanted: RecordFilter) -> list[int]:
    """
    The numbers of all records that the filter lets through.
    """
    return list(connection.execute(select(record.c.seq).where(*conditions(bank_id, wanted))).scalars())


def known_handles(connection: Connection, bank_id: int, handles: Collection[str]) -> set[str]:
    """
    Which of the handles some record of the bank bears.
    """
    rows = connection.execute(
        select(record_entity.c.handle)
        .where(record_entity.c.bank_id == bank_id, record_entity.c.handle.in_(sorted(handles)))
        .distinct()
    )
    return set(rows.scalars())


def to_record(row: Row[*tuple[Any, ...]]) -> Record:
    """
    The record that a whole row of the table holds.
    """
    (
        seq,
        record_id,
        tier,
        said,
        created_at,
        created_offset,
        updated_at,
        speaker,
        role,
        session_id,
        source,
        source_id,
        category,
        tags,
        entities,
        metadata,
        occurred_at,
        occurred_offset,
        expires_at,
        expires_offset,
        confidence,
        pinned,
        observations,
        access_count,
        last_accessed_at,
        revision,
        invalid_at,
        invalid_reason,
        superseded_by,
    ) = _FIELDS(row)
    return Record(
        seq=seq,
        id=record_id,
        tier=_TIERS[tier],
        text=said,
        created_at=from_micros(created_at, created_offset),
        updated_at=from_micros(updated_at),
        speaker=speaker,
        role=role,
        session_id=session_id,
        source=source,
        source_id=source_id,
        category=_CATEGORIES[category],
        tags=tuple(tags),
        entities=tuple(entities),
        metadata=metadata,
        occurred_at=None if occurred_at is None else from_micros(occurred_at, occurred_offset),
        expires_at=None if expires_at is None else from_micros(expires_at, expires_offset),
        confidence=confidence,
        pinned=pinned,
        observations=observations,
        access_count=access_count,
        last_accessed_at=None if last_accessed_at is None else from_micros(last_accessed_at),
        revision=revision,
        invalid_at=None if invalid_at is None else from_micros(invalid_at),
        invalid_reason=invalid_reason,
        superseded_by=superseded_by,
    )


def _said(connection: Connection, bank_id: int, seqs: Sequence[int]) -> Sequence[Row[*tuple[Any, ...]]]:
    columns = (record.c.id, record.c.text, record.c.entities, record.c.invalid_at)
    return connection.execute(select(*columns).where(record.c.bank_id == bank_id, record.c.seq.in_(seqs))).all()


def _leave(connection: Connection, bank_id: int, gone: Sequence[Row[*tuple[Any, ...]]], *, erased: bool) -> None:
    handles = {handle for row in gone for handle in row.entities}
    mentions.leave(connection, bank_id, [row.id for row in gone], handles, erased=erased)


def _label(connection: Connection, bank_id: int, rows: Sequence[dict[str, Any]]) -> None:
    for table, column, source in _LABELS:
        labels = [
            {"bank_id": bank_id, "seq": row["seq"], column: value}
            for row in rows
            for value in dict.fromkeys(row[source])
        ]
        if labels:
            connection.execute(insert(table), labels)


def _unlabel(connection: Connection, bank_id: int, seqs: Sequence[int]) -> None:
    for table, _, _ in _LABELS:
        connection.execute(delete(table).where(table.c.bank_id == bank_id, table.c.seq.in_(seqs)))
