"""
The arms of a recall in SQL: which units of a bank share words, meaning or a topic with a question.

Filters hold inside each arm, before its limit. Statistics are those of the bank's live units, whatever the filter.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import ColumnElement, Connection, Select, Table, and_, case, func, literal, or_, select

from app.domain.filters import RecordFilter
from app.domain.signals.bm25 import K1, B, idf
from app.domain.signals.cosine import unit_cosine
from app.storage.banks import BankState
from app.storage.filters import conditions
from app.storage.tables import posting, record, record_cluster, record_entity, unit, vector


@dataclass(frozen=True, slots=True)
class Hit:
    """
    One unit that an arm found and how well it fits there.
    """

    seq: int
    part: int
    score: float


def document_frequencies(connection: Connection, bank_id: int, terms: Collection[str]) -> dict[str, int]:
    """
    In how many live units of the bank each term occurs; terms that occur in none are left out.
    """
    rows = connection.execute(
        select(posting.c.term, func.count())
        .where(posting.c.bank_id == bank_id, posting.c.retired.is_(False), posting.c.term.in_(sorted(terms)))
        .group_by(posting.c.term)
    )
    return {row[0]: row[1] for row in rows}


def term_weights(bank: BankState, terms: Mapping[str, int], frequencies: Mapping[str, int]) -> dict[str, float]:
    """
    Each term that the bank holds, with its idf times its count in the question.
    """
    return {
        term: float(idf(frequencies[term], bank.live_units)) * number
        for term, number in terms.items()
        if frequencies.get(term)
    }


def lexical(
    connection: Connection, bank: BankState, weights: Mapping[str, float], k: int, wanted: RecordFilter
) -> list[Hit]:
    """
    The `k` best units by BM25; `weights` gives each term's idf times its count in the question.
    """
    if not weights:
        return []
    statement = _scored(bank, weights, retired=_shelves(wanted)).where(
        record.c.seq == posting.c.seq, *conditions(bank.bank_id, wanted)
    )
    score = statement.selected_columns.score
    rows = connection.execute(statement.order_by(score.desc(), posting.c.seq, posting.c.part).limit(k))
    return [Hit(row.seq, row.part, row.score) for row in rows]


def lexical_of(
    connection: Connection, bank: BankState, weights: Mapping[str, float], seqs: Collection[int]
) -> dict[int, Hit]:
    """
    The best BM25 score of each of the records, whether superseded or not; records without any term are left out.
    """
    if not weights or not seqs:
        return {}
    statement = _scored(bank, weights, retired=(False, True)).where(posting.c.seq.in_(sorted(seqs)))
    return _best(Hit(row.seq, row.part, row.score) for row in connection.execute(statement))


def terms_hit(connection: Connection, bank_id: int, terms: Collection[str], seqs: Collection[int]) -> dict[int, int]:
    """
    How many of the distinct terms each of the records holds; records that hold none are left out.
    """
    if not terms or not seqs:
        return {}
    rows = connection.execute(
        select(posting.c.seq, func.count(posting.c.term.distinct()))
        .where(
            posting.c.bank_id == bank_id,
            posting.c.retired.in_([False, True]),
            posting.c.term.in_(sorted(terms)),
            posting.c.seq.in_(list(seqs)),
        )
        .group_by(posting.c.seq)
    )
    return {row[0]: row[1] for row in rows}


def semantic(
    connection: Connection,
    bank_id: int,
    space_id: int,
    query: NDArray[np.float32],
    k: int,
    wanted: RecordFilter,
    *,
    in_sql: bool,
) -> list[Hit]:
    """
    The `k` units nearest to the query by cosine, among vectors of this space that stand for their unit's present text.

    With `in_sql` sqlite-vec computes the distances; else they are computed here, with equal results.
    """
    usable = _usable_vectors(bank_id, space_id).where(*conditions(bank_id, wanted))
    if in_sql:
        distance = func.vec_distance_cosine(vector.c.embedding, query.tobytes()).label("distance")
        rows = connection.execute(
            usable.with_only_columns(vector.c.seq, vector.c.part, distance)
            .where(distance.is_not(None))
            .order_by(distance, vector.c.seq, vector.c.part)
            .limit(k)
        )
        return [Hit(row.seq, row.part, 1.0 - row.distance) for row in rows]
    found = list(connection.execute(usable.with_only_columns(vector.c.seq, vector.c.part, vector.c.embedding)))
    scored = [
        Hit(row.seq, row.part, cosine)
        for row, cosine in zip(found, _cosines([row.embedding for row in found], query), strict=True)
    ]
    return sorted(scored, key=lambda hit: (-hit.score, hit.seq, hit.part))[:k]


def semantic_of(
    connection: Connection, bank_id: int, space_id: int, query: NDArray[np.float32], seqs: Collection[int]
) -> dict[int, Hit]:
    """
    The best cosine of each of the records; records without a usable vector are left out.
    """
    if not seqs:
        return {}
    statement = _usable_vectors(bank_id, space_id).where(vector.c.seq.in_(sorted(seqs)))
    found = list(connection.execute(statement.with_only_columns(vector.c.seq, vector.c.part, vector.c.embedding)))
    cosines = _cosines([row.embedding for row in found], query)
    return _best(Hit(row.seq, row.part, cosine) for row, cosine in zip(found, cosines, strict=True))


def cluster(connection: Connection, bank_id: int, clusters: Collection[str], k: int, wanted: RecordFilter) -> list[Hit]:
    """
    The `k` newest records that share a topic cluster with the question, most shared first; the score is their number.
    """
    return _labelled(connection, bank_id, record_cluster, record_cluster.c.cluster, clusters, k, wanted)


def entity(connection: Connection, bank_id: int, handles: Mapping[str, str], k: int, wanted: RecordFilter) -> list[Hit]:
    """
    The `k` newest records that name somebody or something the question names, most shared first; the score is their
    number. `handles` gives for each handle the one that it stands for: two names of one person count once.
    """
    handle = record_entity.c.handle
    other = {name: main for name, main in handles.items() if name != main}
    meant = case(other, value=handle, else_=handle) if other else handle
    return _labelled(connection, bank_id, record_entity, handle, handles, k, wanted, meant)


def in_time(
    connection: Connection, bank_id: int, spans: Sequence[tuple[int, int]], k: int, wanted: RecordFilter
) -> list[Hit]:
    """
    The `k` newest records that tell of one of the times (first and last microsecond); the score is 1.
    """
    if not spans:
        return []
    happened = func.coalesce(record.c.occurred_at, record.c.created_at)
    rows = connection.execute(
        select(record.c.seq)
        .where(*conditions(bank_id, wanted), or_(*(happened.between(first, last) for first, last in spans)))
        .order_by(happened.desc(), record.c.seq)
        .limit(k)
    )
    return [Hit(seq, 0, 1.0) for seq in rows.scalars()]


def _labelled(
    connection: Connection,
    bank_id: int,
    table: Table,
    column: ColumnElement[str],
    labels: Collection[str],
    k: int,
    wanted: RecordFilter,
    meant: ColumnElement[str] | None = None,
) -> list[Hit]:
    if not labels:
        return []
    shared = func.count(column if meant is None else meant.distinct()).label("shared")
    rows = connection.execute(
        select(record.c.seq, shared)
        .join(record, and_(record.c.bank_id == table.c.bank_id, record.c.seq == table.c.seq))
        .where(table.c.bank_id == bank_id, column.in_(sorted(labels)), *conditions(bank_id, wanted))
        .group_by(record.c.seq)
        .order_by(shared.desc(), func.max(record.c.updated_at).desc(), record.c.seq)
        .limit(k)
    )
    return [Hit(row.seq, 0, float(row.shared)) for row in rows]


def _scored(
    bank: BankState, weights: Mapping[str, float], *, retired: Sequence[bool]
) -> Select[tuple[int, int, float]]:
    average = max(1.0, bank.live_terms / max(1, bank.live_units))
    weight: ColumnElement[float] = case(weights, value=posting.c.term, else_=literal(0.0))
    norm = posting.c.tf + K1 * (1 - B + B * unit.c.terms / average)
    score = func.sum(weight * posting.c.tf * (K1 + 1) / norm).label("score")
    return (
        select(posting.c.seq, posting.c.part, score)
        .join(
            unit,
            and_(unit.c.bank_id == posting.c.bank_id, unit.c.seq == posting.c.seq, unit.c.part == posting.c.part),
        )
        .where(
            posting.c.bank_id == bank.bank_id,
            posting.c.retired.in_(retired),
            posting.c.term.in_(sorted(weights)),
        )
        .group_by(posting.c.seq, posting.c.part)
    )


def _shelves(wanted: RecordFilter) -> tuple[bool, ...]:
    return (False, True) if wanted.sees_retired else (False,)


def _usable_vectors(bank_id: int, space_id: int) -> Select[tuple[int]]:
    return (
        select(vector.c.seq)
        .join(
            unit,
            and_(
                unit.c.bank_id == vector.c.bank_id,
                unit.c.seq == vector.c.seq,
                unit.c.part == vector.c.part,
                unit.c.text_hash == vector.c.text_hash,
            ),
        )
        .join(record, and_(record.c.bank_id == vector.c.bank_id, record.c.seq == vector.c.seq))
        .where(vector.c.bank_id == bank_id, vector.c.space_id == space_id, vector.c.embedding.is_not(None))
    )


def _cosines(blobs: Sequence[bytes], query: NDArray[np.float32]) -> list[float]:
    if not blobs:
        return []
    matrix = np.frombuffer(b"".join(blobs), dtype=np.float32).reshape(len(blobs), -1)
    return [float(value) for value in unit_cosine(matrix, query)]


def _best(hits: Iterable[Hit]) -> dict[int, Hit]:
    best: dict[int, Hit] = {}
    for hit in hits:
        known = best.get(hit.seq)
        if known is None or hit.score > known.score:
            best[hit.seq] = hit
    return best
