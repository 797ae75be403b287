"""
The indexed units of records: their spans, their postings, and what becomes of them when a record changes.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, delete, insert, select, update

from app.domain.units import Unit
from app.storage.tables import posting, unit, vector, vector_job


@dataclass(frozen=True, slots=True)
class StoredUnit:
    """
    A unit's span in its record's text, its number of terms and the digest of its text.
    """

    seq: int
    part: int
    start: int
    stop: int
    terms: int
    text_hash: bytes


def add(
    connection: Connection, bank_id: int, units: Mapping[int, Sequence[Unit]], now: int, *, retired: bool = False
) -> tuple[int, int]:
    """
    Index the units of each record (seq to units) and queue them for a vector.

    Returns:
        How many units and how many terms were added.
    """
    rows = [(seq, item) for seq, items in units.items() for item in items]
    if not rows:
        return 0, 0
    connection.execute(
        insert(unit),
        [
            {
                "bank_id": bank_id,
                "seq": seq,
                "part": item.part,
                "start": item.start,
                "stop": item.stop,
                "terms": item.length,
                "text_hash": item.hash,
            }
            for seq, item in rows
        ],
    )
    postings = [
        {"bank_id": bank_id, "retired": retired, "term": term, "seq": seq, "part": item.part, "tf": tf}
        for seq, item in rows
        for term, tf in item.terms.items()
    ]
    if postings:
        # In the order of the key, so that neighbouring rows land on the same page.
        postings.sort(key=lambda row: str(row["term"]))
        connection.execute(insert(posting), postings)
    connection.execute(
        insert(vector_job),
        [{"bank_id": bank_id, "seq": seq, "part": item.part, "queued_at": now} for seq, item in rows],
    )
    return len(rows), sum(item.length for _, item in rows)


def remove(connection: Connection, bank_id: int, units: Mapping[int, Sequence[Unit]]) -> tuple[int, int]:
    """
    Take the units of each record out of every index, with their vectors and what waits for one.

    Returns:
        How many units and how many terms were removed.
    """
    seqs = list(units)
    _remove_postings(connection, bank_id, units)
    for table in (vector, vector_job, unit):
        connection.execute(delete(table).where(table.c.bank_id == bank_id, table.c.seq.in_(seqs)))
    return _totals(units)


def set_retired(
    connection: Connection, bank_id: int, units: Mapping[int, Sequence[Unit]], *, retired: bool
) -> tuple[int, int]:
    """
    Move the postings of superseded records out of the live statistics, or back.

    Returns:
        How many units and how many terms were moved.
    """
    for terms, seqs in _by_record(units):
        connection.execute(
            update(posting)
            .where(
                posting.c.bank_id == bank_id,
                posting.c.retired == (not retired),
                posting.c.term.in_(terms),
                posting.c.seq.in_(seqs),
            )
            .values(retired=retired)
        )
    return _totals(units)


def of(connection: Connection, bank_id: int, seqs: Iterable[int]) -> dict[int, list[StoredUnit]]:
    """
    The stored units of each record, in order.
    """
    found: dict[int, list[StoredUnit]] = {}
    rows = connection.execute(
        select(unit.c.seq, unit.c.part, unit.c.start, unit.c.stop, unit.c.terms, unit.c.text_hash)
        .where(unit.c.bank_id == bank_id, unit.c.seq.in_(list(seqs)))
        .order_by(unit.c.seq, unit.c.part)
    )
    for row in rows:
        found.setdefault(row.seq, []).append(StoredUnit(*row))
    return found


def _remove_postings(connection: Connection, bank_id: int, units: Mapping[int, Sequence[Unit]]) -> None:
    for terms, seqs in _by_record(units):
        connection.execute(
            delete(posting).where(
                posting.c.bank_id == bank_id,
                posting.c.retired.in_([False, True]),
                posting.c.term.in_(terms),
                posting.c.seq.in_(seqs),
            )
        )


def _by_record(units: Mapping[int, Sequence[Unit]], at_once: int = 500) -> Iterable[tuple[list[str], list[int]]]:
    # A statement takes some 32,000 parameters; a passage has a few hundred terms.
    for seq, items in units.items():
        terms = sorted({term for item in items for term in item.terms})
        for start in range(0, len(terms), at_once):
            yield terms[start : start + at_once], [seq]


def _totals(units: Mapping[int, Sequence[Unit]]) -> tuple[int, int]:
    flat = [item for items in units.values() for item in items]
    return len(flat), sum(item.length for item in flat)
