"""
What ranking is given: the candidate records as columns, and what is known of the query and its bank.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import numpy as np
import numpy.typing as npt

from app.domain.records import Category, Tier

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]


class Arm(StrEnum):
    """
    A way in which candidates are found.
    """

    KEYWORD = "keyword"
    CLUSTER = "cluster"
    SEMANTIC = "semantic"


@dataclass(frozen=True, slots=True, eq=False)
class Candidates:
    """
    The records that may be the answer, one row each; every column has the same length.

    Ages are in days before the clock. `cosine` and `previous_cosine` are NaN where there is no vector,
    `accessed_age_days` where the record was never recalled. `cluster` is the share of the query's clusters and `topic`
    the share of its words that the record holds; `entity` counts shared handles; `speaker` is 1 where the question
    names the record's author and `time` says how near the record lies to the time asked for, both in [0, 1].
    `previous_bm25` and `previous_cosine` are the scores of the turn before it in the same session (0 and NaN at its
    start). `category` and `tier` index `tuple(Category)` and `tuple(Tier)`. `vectors` holds a row of unit length, or of
    zeros, for each record where a scorer that spreads its choice may compare them.
    """

    seq: Ints
    ids: tuple[str, ...]
    bm25: Floats
    cosine: Floats
    cluster: Floats
    entity: Ints
    topic: Floats
    speaker: Floats
    time: Floats
    previous_bm25: Floats
    previous_cosine: Floats
    created_age_days: Floats
    updated_age_days: Floats
    accessed_age_days: Floats
    access_count: Ints
    confidence: Floats
    pinned: Bools
    observations: Ints
    category: Ints
    tier: Ints
    vectors: npt.NDArray[np.float32] | None = None

    def __len__(self) -> int:
        return len(self.ids)

    @classmethod
    def of(
        cls, ids: Sequence[str], vectors: npt.NDArray[np.float32] | None = None, **columns: npt.ArrayLike
    ) -> "Candidates":
        """
        Candidates from the columns that are known; each other column says nothing for or against any record.

        A scalar fills its column.

        Raises:
            ValueError: a column is unknown or has another length than `ids`.
        """
        unknown = sorted(columns.keys() - _NEUTRAL.keys())
        if unknown:
            raise ValueError(f"no such columns: {', '.join(unknown)} (known: {', '.join(_NEUTRAL)})")
        rows = len(ids)
        filled: dict[str, Any] = {}
        for name, (dtype, neutral) in _NEUTRAL.items():
            values = np.asarray(columns.get(name, neutral), dtype)
            if values.ndim and values.shape != (rows,):
                raise ValueError(f"{name}: {values.shape[0]} rows cannot be taken for {rows} records")
            filled[name] = values if values.ndim else np.full(rows, values, dtype)
        if vectors is not None and len(vectors) != rows:
            raise ValueError(f"vectors: {len(vectors)} rows cannot be taken for {rows} records")
        return cls(ids=tuple(ids), vectors=vectors, **filled)


_NEUTRAL: dict[str, tuple[type[np.generic], float]] = {
    "seq": (np.int64, 0),
    "bm25": (np.float64, 0.0),
    "cosine": (np.float64, np.nan),
    "cluster": (np.float64, 0.0),
    "entity": (np.int64, 0),
    "topic": (np.float64, 0.0),
    "speaker": (np.float64, 0.0),
    "time": (np.float64, 0.0),
    "previous_bm25": (np.float64, 0.0),
    "previous_cosine": (np.float64, np.nan),
    "created_age_days": (np.float64, 0.0),
    "updated_age_days": (np.float64, 0.0),
    "accessed_age_days": (np.float64, np.nan),
    "access_count": (np.int64, 0),
    "confidence": (np.float64, 1.0),
    "pinned": (np.bool_, False),
    "observations": (np.int64, 1),
    "category": (np.int64, tuple(Category).index(Category.GENERAL)),
    "tier": (np.int64, tuple(Tier).index(Tier.MEMORY)),
}


@dataclass(frozen=True, slots=True)
class QueryFacts:
    """
    What a scorer needs to know of the query and the bank beside the candidates.

    `arms` are those that ran: a signal of any other is not looked at. `cosine_floor` is the embedding model's (or the
    request's) cosine below which texts are unrelated, `keyword_ceiling` the BM25 score that no record can exceed
    (`signals.bm25.ceiling`). `bank_accesses` counts the recalls of all the bank's records. `limit` is how many results
    are wanted, for the scorers that choose one result in view of the others.
    """

    arms: frozenset[Arm] = frozenset(Arm)
    cosine_floor: float = 0.25
    keyword_ceiling: float = 0.0
    bank_accesses: int = 0
    half_life_days: float = 60.0
    maturity_accesses: int = 50
    limit: int = 10
