"""
What only short-term entries have: message ids, actions, and the look-ups that find a duplicate.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Row, Select, and_, delete, distinct, func, insert, select

from app.domain.filters import RecordFilter
from app.domain.records import Entry
from app.storage.filters import conditions
from app.storage.records import to_record
from app.storage.tables import entry, record

SENDER = "sender_id"
"""Metadata key that tells people of one chat apart, where the channel gives them ids."""

_JOIN = and_(entry.c.bank_id == record.c.bank_id, entry.c.seq == record.c.seq)


@dataclass(frozen=True, slots=True)
class EntryRow:
    """
    The columns of an entry beside those of its record.

    `contact` names whose messages it stands among, `thread` which conversation it follows on.
    """

    seq: int
    contact: str
    thread: str
    content_hash: bytes
    message_id: str | None
    message_type: str | None
    action_id: str | None
    step: int | None
    skill: str | None


@dataclass(frozen=True, slots=True)
class Twin:
    """
    An entry of the same contact with the same content: its id, when it was said (microseconds), and by whom.
    """

    id: str
    created_at: int
    role: str | None
    speaker: str | None

    def repeats(self, said_at: int, window: int, role: str | None, speaker: str | None) -> bool:
        """
        Whether an entry of the same content, said then by that speaker, is this one once more; times in microseconds.
        """
        return abs(said_at - self.created_at) <= window and (role, speaker) == (self.role, self.speaker)


def add(connection: Connection, bank_id: int, rows: Sequence[EntryRow]) -> None:
    """
    Insert the entries of records that were inserted before.

    Raises:
        sqlalchemy.exc.IntegrityError: when a contact's message id is taken.
    """
    if rows:
        names = EntryRow.__slots__
        connection.execute(
            insert(entry), [{"bank_id": bank_id, **{name: getattr(row, name) for name in names}} for row in rows]
        )


def by_message_ids(
    connection: Connection, bank_id: int, wanted: Collection[tuple[str, str]]
) -> dict[tuple[str, str], str]:
    """
    The record ids of the given (contact, message id) pairs that are known.
    """
    ids = sorted({message_id for _, message_id in wanted})
    if not ids:
        return {}
    rows = connection.execute(
        select(entry.c.contact, entry.c.message_id, record.c.id)
        .join(record, _JOIN)
        .where(entry.c.bank_id == bank_id, entry.c.message_id.in_(ids))
    )
    return {(row.contact, row.message_id): row.id for row in rows}


def twins(
    connection: Connection, bank_id: int, hashes: Collection[bytes], earliest: int, latest: int
) -> dict[tuple[str, bytes], list[Twin]]:
    """
    Entries without a message id that have one of the content hashes and were said in the span, by contact and hash.
    """
    if not hashes:
        return {}
    rows = connection.execute(
        select(
            entry.c.contact,
            entry.c.content_hash,
            record.c.id,
            record.c.created_at,
            record.c.role,
            record.c.speaker,
        )
        .join(record, _JOIN)
        .where(
            entry.c.bank_id == bank_id,
            entry.c.content_hash.in_(list(hashes)),
            entry.c.message_id.is_(None),
            record.c.created_at >= earliest,
            record.c.created_at <= latest,
        )
    )
    found: dict[tuple[str, bytes], list[Twin]] = {}
    for row in rows:
        twin = Twin(row.id, row.created_at, row.role, row.speaker)
        found.setdefault((row.contact, row.content_hash), []).append(twin)
    return found


def last_of_threads(connection: Connection, bank_id: int, threads: Collection[str]) -> dict[str, tuple[int, int]]:
    """
    The number of the last entry of each thread, and when it was said (microseconds).
    """
    last = (
        select(entry.c.thread, func.max(entry.c.seq).label("seq"))
        .where(entry.c.bank_id == bank_id, entry.c.thread.in_(sorted(threads)))
        .group_by(entry.c.thread)
        .subquery()
    )
    rows = connection.execute(
        select(last.c.thread, last.c.seq, record.c.created_at).join(
            record, and_(record.c.bank_id == bank_id, record.c.seq == last.c.seq)
        )
    )
    return {row.thread: (row.seq, row.created_at) for row in rows}


def page(
    connection: Connection,
    bank_id: int,
    wanted: RecordFilter,
    limit: int,
    offset: int,
    *,
    action_id: str | None = None,
    role: str | None = None,
) -> tuple[list[Entry], int]:
    """
    Entries newest first, ties by arrival, and how many there are in all.
    """
    where = [*conditions(bank_id, wanted), entry.c.bank_id == bank_id]
    if action_id is not None:
        where.append(entry.c.action_id == action_id)
    if role is not None:
        where.append(record.c.role == role)
    joined = select(record, *_own_columns()).join(entry, _JOIN).where(*where)
    total = connection.execute(select(func.count()).select_from(record).join(entry, _JOIN).where(*where)).scalar_one()
    rows = connection.execute(
        joined.order_by(record.c.created_at.desc(), record.c.seq.desc()).limit(limit).offset(offset)
    )
    return [_entry(row) for row in rows], total


def following(connection: Connection, bank_id: int, thread: str, seq: int, limit: int) -> list[Entry]:
    """
    The first entries of a thread beyond a number, oldest first.
    """
    rows = connection.execute(_of_thread(bank_id, thread).where(entry.c.seq > seq).order_by(entry.c.seq).limit(limit))
    return [_entry(row) for row in rows]


def leading_to(connection: Connection, bank_id: int, thread: str, seq: int, limit: int) -> list[Entry]:
    """
    The last entries of a thread up to a number and with it, oldest first.
    """
    wanted = _of_thread(bank_id, thread).where(entry.c.seq <= seq)
    rows = connection.execute(wanted.order_by(entry.c.seq.desc()).limit(limit))
    return [_entry(row) for row in rows][::-1]


def copies(connection: Connection, bank_id: int, hashes: Collection[bytes]) -> dict[bytes, int]:
    """
    How many entries of the bank hold each of the texts, by their hashes.
    """
    rows = connection.execute(
        select(entry.c.content_hash, func.count())
        .where(entry.c.bank_id == bank_id, entry.c.content_hash.in_(list(hashes)))
        .group_by(entry.c.content_hash)
    )
    return {row[0]: row[1] for row in rows}


def people(connection: Connection, bank_id: int, thread: str, bots: Collection[str]) -> int:
    """
    How many different people speak in a thread, as far as names and senders' ids tell them apart. Roles in `bots`, in
    lower case, are nobody.
    """
    mark = func.coalesce(record.c.metadata[SENDER].as_string(), record.c.speaker, "")
    number: int = connection.execute(
        select(func.count(distinct(mark)))
        .select_from(record)
        .join(entry, _JOIN)
        .where(entry.c.bank_id == bank_id, entry.c.thread == thread, func.lower(record.c.role).not_in(sorted(bots)))
    ).scalar_one()
    return number


def of_action(connection: Connection, bank_id: int, action_id: str) -> list[int]:
    """
    The numbers of all entries of an action.
    """
    return list(
        connection.execute(
            select(entry.c.seq).where(entry.c.bank_id == bank_id, entry.c.action_id == action_id)
        ).scalars()
    )


def erase(connection: Connection, bank_id: int, seqs: Sequence[int]) -> None:
    """
    Remove the entries' own columns.
    """
    connection.execute(delete(entry).where(entry.c.bank_id == bank_id, entry.c.seq.in_(seqs)))


def _of_thread(bank_id: int, thread: str) -> Select[*tuple[Any, ...]]:
    joined = select(record, *_own_columns()).join(entry, _JOIN)
    return joined.where(entry.c.bank_id == bank_id, entry.c.thread == thread)


def _own_columns() -> list[Any]:
    return [
        entry.c.message_id,
        entry.c.message_type,
        entry.c.action_id,
        entry.c.step,
        entry.c.skill,
        entry.c.consolidated_into,
    ]


def _entry(row: Row[*tuple[Any, ...]]) -> Entry:
    return Entry(
        record=to_record(row),
        message_id=row.message_id,
        message_type=row.message_type,
        action_id=row.action_id,
        step=row.step,
        skill=row.skill,
        consolidated_into=row.consolidated_into,
    )
