"""
How far each kind of consolidation has read, thread by thread; moved in the transaction of what was read there.
"""

from sqlalchemy import Connection, func, insert, select, update

from app.storage.consolidation_tables import cursor
from app.storage.tables import entry


def position(connection: Connection, bank_id: int, kind: str, thread: str = "") -> int:
    """
    The number of the last record that was read; 0 before the first.
    """
    found = connection.execute(
        select(cursor.c.seq).where(cursor.c.bank_id == bank_id, cursor.c.kind == kind, cursor.c.thread == thread)
    ).scalar_one_or_none()
    return found or 0


def positions(connection: Connection, bank_id: int, kind: str) -> dict[str, int]:
    """
    The positions of all threads that were read at all.
    """
    rows = connection.execute(
        select(cursor.c.thread, cursor.c.seq).where(cursor.c.bank_id == bank_id, cursor.c.kind == kind)
    )
    return {row.thread: row.seq for row in rows}


def move(connection: Connection, bank_id: int, kind: str, seq: int, thread: str = "") -> None:
    """
    Set the position of a thread.
    """
    own = (cursor.c.bank_id == bank_id) & (cursor.c.kind == kind) & (cursor.c.thread == thread)
    if connection.execute(update(cursor).where(own).values(seq=seq)).rowcount == 0:
        connection.execute(insert(cursor).values(bank_id=bank_id, kind=kind, thread=thread, seq=seq))


def pending(connection: Connection, bank_id: int, kind: str, thread: str, most: int) -> int:
    """
    How many entries of a thread lie beyond its position; counted up to `most`.
    """
    since = position(connection, bank_id, kind, thread)
    beyond = (
        select(entry.c.seq)
        .where(entry.c.bank_id == bank_id, entry.c.thread == thread, entry.c.seq > since)
        .limit(most)
        .subquery()
    )
    return connection.execute(select(func.count()).select_from(beyond)).scalar_one()


def behind(connection: Connection, bank_id: int, kind: str) -> list[str]:
    """
    The threads that have entries beyond their position, in the order of their names.
    """
    last = (
        select(entry.c.thread, func.max(entry.c.seq).label("seq"))
        .where(entry.c.bank_id == bank_id)
        .group_by(entry.c.thread)
        .subquery()
    )
    rows = connection.execute(
        select(last.c.thread)
        .join(
            cursor,
            (cursor.c.bank_id == bank_id) & (cursor.c.kind == kind) & (cursor.c.thread == last.c.thread),
            isouter=True,
        )
        .where(last.c.seq > func.coalesce(cursor.c.seq, 0))
        .order_by(last.c.thread)
    )
    return list(rows.scalars())
