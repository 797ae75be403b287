"""
Stored vectors and the queue of units that wait for one.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection, and_, bindparam, delete, exists, func, insert, literal, select, update

from app.domain.signals.cosine import unit as unit_length
from app.storage.tables import bank, record, unit, vector, vector_job


@dataclass(frozen=True, slots=True)
class PendingUnit:
    """
    A unit that waits for a vector: where it is, the text of its passage, whose it is, and since when (microseconds).
    """

    bank_id: int
    seq: int
    part: int
    passage: str
    speaker: str | None
    text_hash: bytes
    queued_at: int


@dataclass(frozen=True, slots=True)
class NewVector:
    """
    A vector for the unit whose text had the digest `text_hash`; None where the model has nothing to say of it.
    """

    bank_id: int
    seq: int
    part: int
    text_hash: bytes
    embedding: NDArray[np.float32] | None


def pending(connection: Connection, limit: int) -> list[PendingUnit]:
    """
    The longest waiting units of all banks.
    """
    rows = connection.execute(
        select(
            vector_job.c.bank_id,
            vector_job.c.seq,
            vector_job.c.part,
            func.substr(record.c.text, unit.c.start + 1, unit.c.stop - unit.c.start),
            record.c.speaker,
            unit.c.text_hash,
            vector_job.c.queued_at,
        )
        .join(
            unit,
            and_(
                unit.c.bank_id == vector_job.c.bank_id,
                unit.c.seq == vector_job.c.seq,
                unit.c.part == vector_job.c.part,
            ),
        )
        .join(record, and_(record.c.bank_id == vector_job.c.bank_id, record.c.seq == vector_job.c.seq))
        .order_by(vector_job.c.queued_at, vector_job.c.bank_id, vector_job.c.seq)
        .limit(limit)
    )
    return [PendingUnit(*row) for row in rows]


def of(
    connection: Connection, bank_id: int, space_id: int, places: Sequence[tuple[int, int]]
) -> dict[int, NDArray[np.float32]]:
    """
    The stored vectors of the given (seq, part) units, by seq; units without one are left out.
    """
    wanted = set(places)
    rows = connection.execute(
        select(vector.c.seq, vector.c.part, vector.c.embedding).where(
            vector.c.bank_id == bank_id,
            vector.c.space_id == space_id,
            vector.c.seq.in_(sorted({seq for seq, _ in wanted})),
            vector.c.embedding.is_not(None),
        )
    )
    return {row.seq: np.frombuffer(row.embedding, np.float32) for row in rows if (row.seq, row.part) in wanted}


def put(connection: Connection, space_id: int, vectors: Sequence[NewVector]) -> set[int]:
    """
    Store vectors whose unit still has the text they were made from, and take those units off the queue.

    A vector whose text has changed meanwhile is dropped; its unit stays queued with its new text.

    Returns:
        The banks that were changed. The caller marks their records with `touch`.
    """
    banks: set[int] = set()
    for bank_id in sorted({item.bank_id for item in vectors}):
        mine = [item for item in vectors if item.bank_id == bank_id]
        current = {
            (row.seq, row.part): row.text_hash
            for row in connection.execute(
                select(unit.c.seq, unit.c.part, unit.c.text_hash).where(
                    unit.c.bank_id == bank_id, unit.c.seq.in_([item.seq for item in mine])
                )
            )
        }
        fitting = [item for item in mine if current.get((item.seq, item.part)) == item.text_hash]
        if not fitting:
            continue
        banks.add(bank_id)
        places = [{"b_seq": item.seq, "b_part": item.part} for item in fitting]
        _delete_each(connection, bank_id, space_id, places)
        connection.execute(
            insert(vector),
            [
                {
                    "bank_id": bank_id,
                    "space_id": space_id,
                    "seq": item.seq,
                    "part": item.part,
                    "text_hash": item.text_hash,
                    "embedding": None
                    if item.embedding is None
                    else unit_length(item.embedding).astype(np.float32).tobytes(),
                }
                for item in fitting
            ],
        )
    return banks


def touch(connection: Connection, bank_id: int, version: int, seqs: Iterable[int]) -> None:
    """
    Mark records as changed at the bank's version, for caches that catch up.
    """
    connection.execute(
        update(record).where(record.c.bank_id == bank_id, record.c.seq.in_(sorted(set(seqs)))).values(changed=version)
    )


def queue_missing(connection: Connection, space_id: int, now: int) -> int:
    """
    Queue every unit that has no vector of its present text in the space.

    Returns:
        How many units were newly queued.
    """
    has_vector = exists(
        select(literal(1)).where(
            vector.c.bank_id == unit.c.bank_id,
            vector.c.space_id == space_id,
            vector.c.seq == unit.c.seq,
            vector.c.part == unit.c.part,
            vector.c.text_hash == unit.c.text_hash,
        )
    )
    is_queued = exists(
        select(literal(1)).where(
            vector_job.c.bank_id == unit.c.bank_id, vector_job.c.seq == unit.c.seq, vector_job.c.part == unit.c.part
        )
    )
    missing = (
        select(unit.c.bank_id, unit.c.seq, unit.c.part, literal(now))
        .join(bank, bank.c.bank_id == unit.c.bank_id)
        .where(~has_vector, ~is_queued)
    )
    result = connection.execute(insert(vector_job).from_select(["bank_id", "seq", "part", "queued_at"], missing))
    return result.rowcount


def waiting(connection: Connection) -> int:
    """
    How many units wait for a vector.
    """
    return connection.execute(select(func.count()).select_from(vector_job)).scalar_one()


def _delete_each(connection: Connection, bank_id: int, space_id: int, places: list[dict[str, int]]) -> None:

    for table, own in ((vector, vector.c.space_id == space_id), (vector_job, literal(True))):
        connection.execute(
            delete(table).where(
                table.c.bank_id == bank_id,
                own,
                table.c.seq == bindparam("b_seq"),
                table.c.part == bindparam("b_part"),
            ),
            places,
        )
