"""
What a recall asks of an index, and what every index answers: the same for the one in SQL and the one in memory.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt
from sqlalchemy import Connection

from app.domain.filters import RecordFilter
from app.storage.banks import BankState

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Space:
    """
    The embedding space in use: its number, and the length of its vectors.
    """

    space_id: int
    dimensions: int


@dataclass(frozen=True, slots=True, eq=False)
class Question:
    """
    A query as the indexes read it.

    `terms` counts each search term, `vector` is of unit length in `space` (None where no semantic arm runs), `clusters`
    are the topic clusters it touches, `text` the query itself, for the handles it names, `spans` the times it speaks of
    (first and last microsecond of each). `arm_limit` is how many candidates each arm brings. `with_neighbours`,
    `with_terms_hit` and `with_vectors` ask for what not every scorer needs.
    """

    text: str
    terms: Mapping[str, int]
    clusters: frozenset[str]
    arm_limit: int
    space: Space | None = None
    vector: npt.NDArray[np.float32] | None = None
    spans: tuple[tuple[int, int], ...] = ()
    with_neighbours: bool = True
    with_terms_hit: bool = False
    with_vectors: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Gathered:
    """
    The candidates of a question: every record that an arm found, or that follows on one in its session.

    Every column has the same length, in the order of `seq`. Times are microseconds since 1970; `accessed` is NaN for a
    record that was never used, `cosine` and `previous_cosine` where there is no vector. `part` is the passage that fits
    best, `terms_hit` how many distinct search terms the record holds (0 unless asked for), `cluster` the share of the
    question's clusters, `entity` how many handles it shares with the question. `category` and `tier` index
    `tuple(Category)` and `tuple(Tier)`. `frequencies` gives in how many live units of the bank each term occurs.
    """

    seq: Ints
    part: Ints
    ids: tuple[str, ...]
    speakers: tuple[str | None, ...]
    bm25: Floats
    cosine: Floats
    previous_bm25: Floats
    previous_cosine: Floats
    terms_hit: Ints
    cluster: Floats
    entity: Ints
    created: Ints
    updated: Ints
    happened: Ints
    accessed: Floats
    access_count: Ints
    confidence: Floats
    pinned: Bools
    observations: Ints
    category: Ints
    tier: Ints
    frequencies: Mapping[str, int]
    vectors: npt.NDArray[np.float32] | None = None


class RecallIndex(Protocol):
    """
    Finds the candidates of a question in one bank.
    """

    def gather(self, connection: Connection, bank: BankState, question: Question, wanted: RecordFilter) -> Gathered:
        """
        The candidates that the filter lets through; filters hold before any limit.
        """
        ...
