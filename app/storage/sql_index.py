"""
The recall index that works in SQL alone: exact, and as fast as the disk.
"""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from sqlalchemy import Connection, Row, select

from app.domain.filters import RecordFilter
from app.domain.records import Category, Tier
from app.domain.signals.cluster import overlap
from app.domain.signals.entity import hits
from app.storage import arms
from app.storage.arms import Hit
from app.storage.banks import BankState
from app.storage.filters import conditions, live_conditions
from app.storage.handles import asked_in
from app.storage.protocols import Gathered, Question
from app.storage.tables import record
from app.storage.vectors import rows as vector_rows

CATEGORIES = {category: place for place, category in enumerate(Category)}
TIERS = {tier: place for place, tier in enumerate(Tier)}

_COLUMNS = (
    record.c.seq,
    record.c.id,
    record.c.tier,
    record.c.speaker,
    record.c.category,
    record.c.entities,
    record.c.clusters,
    record.c.created_at,
    record.c.updated_at,
    record.c.occurred_at,
    record.c.last_accessed_at,
    record.c.access_count,
    record.c.confidence,
    record.c.pinned,
    record.c.observations,
    record.c.previous,
)


class SqlIndex:
    """
    Answers from the tables. `in_sql` says whether SQL can compare vectors.
    """

    def __init__(self, *, in_sql: bool) -> None:
        self._in_sql = in_sql

    def gather(self, connection: Connection, bank: BankState, question: Question, wanted: RecordFilter) -> Gathered:
        """
        The candidates that the filter lets through; filters hold before any limit.
        """
        bank_id, k = bank.bank_id, question.arm_limit
        frequencies = arms.document_frequencies(connection, bank_id, question.terms)
        weights = arms.term_weights(bank, question.terms, frequencies)
        handles = asked_in(connection, bank_id, question.text)
        found = [
            arms.lexical(connection, bank, weights, k, wanted),
            arms.cluster(connection, bank_id, question.clusters, k, wanted),
            arms.entity(connection, bank_id, handles, k, wanted),
            arms.in_time(connection, bank_id, question.spans, k, wanted),
        ]
        if question.vector is not None and question.space is not None:
            found.append(
                arms.semantic(
                    connection, bank_id, question.space.space_id, question.vector, k, wanted, in_sql=self._in_sql
                )
            )
        seqs = {hit.seq for hits in found for hit in hits}
        rows = self._rows(connection, bank_id, seqs, question, wanted)
        before = {row.previous for row in rows if row.previous is not None} if question.with_neighbours else set()
        wider = {row.seq for row in rows} | before
        keyword = arms.lexical_of(connection, bank, weights, wider)
        meaning: dict[int, Hit] = {}
        if question.vector is not None and question.space is not None:
            meaning = arms.semantic_of(connection, bank_id, question.space.space_id, question.vector, wider)
        gone = before - _alive(connection, bank_id, before, wanted)
        return _gathered(
            rows,
            keyword,
            meaning,
            gone,
            self._terms_hit(connection, bank_id, question, rows),
            question,
            handles,
            frequencies,
            self._vectors(connection, bank_id, question, meaning, rows),
        )

    def _rows(
        self, connection: Connection, bank_id: int, seqs: set[int], question: Question, wanted: RecordFilter
    ) -> list[Row[*tuple[Any, ...]]]:
        if not seqs:
            return []
        numbers = sorted(seqs)
        statement = select(*_COLUMNS).where(record.c.bank_id == bank_id)
        rows = {row.seq: row for row in connection.execute(statement.where(record.c.seq.in_(numbers)))}
        if question.with_neighbours:
            following = select(*_COLUMNS).where(record.c.previous.in_(numbers), *conditions(bank_id, wanted))
            rows |= {row.seq: row for row in connection.execute(following)}
        return [rows[seq] for seq in sorted(rows)]

    def _terms_hit(
        self, connection: Connection, bank_id: int, question: Question, rows: list[Row[*tuple[Any, ...]]]
    ) -> dict[int, int]:
        if not question.with_terms_hit:
            return {}
        return arms.terms_hit(connection, bank_id, question.terms, [row.seq for row in rows])

    def _vectors(
        self,
        connection: Connection,
        bank_id: int,
        question: Question,
        meaning: Mapping[int, Hit],
        rows: list[Row[*tuple[Any, ...]]],
    ) -> np.ndarray[Any, np.dtype[np.float32]] | None:
        if not question.with_vectors or question.vector is None or question.space is None:
            return None
        places = [(hit.seq, hit.part) for hit in meaning.values()]
        known = vector_rows.of(connection, bank_id, question.space.space_id, places)
        nothing = np.zeros(len(question.vector), np.float32)
        return np.array([known.get(row.seq, nothing) for row in rows], np.float32).reshape(len(rows), len(nothing))


def _alive(connection: Connection, bank_id: int, seqs: set[int], wanted: RecordFilter) -> set[int]:
    if not seqs:
        return set()
    rows = connection.execute(
        select(record.c.seq).where(
            record.c.bank_id == bank_id, record.c.seq.in_(sorted(seqs)), *live_conditions(wanted)
        )
    )
    return set(rows.scalars())


def _gathered(
    rows: list[Row[*tuple[Any, ...]]],
    keyword: Mapping[int, Hit],
    meaning: Mapping[int, Hit],
    gone: set[int],
    terms_hit: Mapping[int, int],
    question: Question,
    handles: Mapping[str, str],
    frequencies: Mapping[str, int],
    vectors: np.ndarray[Any, np.dtype[np.float32]] | None,
) -> Gathered:
    before = [row.previous if question.with_neighbours and row.previous not in gone else None for row in rows]
    return Gathered(
        seq=_ints(row.seq for row in rows),
        part=_ints(_best_part(row.seq, keyword, meaning) for row in rows),
        ids=tuple(row.id for row in rows),
        speakers=tuple(row.speaker for row in rows),
        bm25=_scores((row.seq for row in rows), keyword, 0.0),
        cosine=_scores((row.seq for row in rows), meaning, np.nan),
        previous_bm25=_scores(before, keyword, 0.0),
        previous_cosine=_scores(before, meaning, np.nan),
        terms_hit=_ints(terms_hit.get(row.seq, 0) for row in rows),
        cluster=np.array([overlap(question.clusters, row.clusters) for row in rows], np.float64),
        entity=_ints(hits(handles, row.entities) for row in rows),
        created=_ints(row.created_at for row in rows),
        updated=_ints(row.updated_at for row in rows),
        happened=_ints(row.created_at if row.occurred_at is None else row.occurred_at for row in rows),
        accessed=np.array(
            [np.nan if row.last_accessed_at is None else row.last_accessed_at for row in rows], np.float64
        ),
        access_count=_ints(row.access_count for row in rows),
        confidence=np.array([row.confidence for row in rows], np.float64),
        pinned=np.array([row.pinned for row in rows], np.bool_),
        observations=_ints(row.observations for row in rows),
        category=_ints(CATEGORIES[Category(row.category)] for row in rows),
        tier=_ints(TIERS[Tier(row.tier)] for row in rows),
        frequencies=frequencies,
        vectors=vectors,
    )


def _ints(values: Iterable[int]) -> np.ndarray[Any, np.dtype[np.int64]]:
    return np.fromiter(values, np.int64)


def _scores(
    seqs: Iterable[int | None], hits: Mapping[int, Hit], nothing: float
) -> np.ndarray[Any, np.dtype[np.float64]]:
    return np.fromiter((hits[seq].score if seq is not None and seq in hits else nothing for seq in seqs), np.float64)


def _best_part(seq: int, keyword: Mapping[int, Hit], meaning: Mapping[int, Hit]) -> int:
    """The passage that shares words with the question; without any, the one that is nearest in meaning."""
    for found in (keyword, meaning):
        if seq in found:
            return found[seq].part
    return 0
