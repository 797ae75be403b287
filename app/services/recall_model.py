"""
What is asked of a recall and what it answers.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from app.domain.contacts import Address
from app.domain.records import Record, Tier


class Mode(StrEnum):
    """
    Which arms a recall uses.
    """

    HYBRID = "hybrid"
    LEXICAL = "lexical"  #: BM25 alone
    SEMANTIC = "semantic"  #: cosine alone


class EmptyReason(StrEnum):
    """
    Why a recall found nothing.
    """

    BANK_EMPTY = "bank_empty"
    NOTHING_RELEVANT = "nothing_relevant"
    FILTERED_OUT = "filtered_out"


@dataclass(frozen=True, slots=True)
class RecallRequest:
    """
    One question to a bank. `limit` None takes `recall.limit`; `tiers` empty means all.

    `threshold` is a floor on cosine similarity in [-1, 1], `min_score` one on the score in [0, 1]. `as_of` is the clock
    by which ages, expiry and supersession are judged. An empty query lists the newest records. `contacts`
    leaves entries and episodes of anybody else out.
    """

    query: str
    limit: int | None = None
    mode: Mode = Mode.HYBRID
    tiers: tuple[Tier, ...] = ()
    threshold: float | None = None
    min_score: float | None = None
    tags: tuple[str, ...] = ()
    category: str | None = None
    session_id: str | None = None
    source: str | None = None
    source_id: str | None = None
    contacts: frozenset[Address] | None = None
    created_after: datetime | None = None
    created_before: datetime | None = None
    metadata: Mapping[str, str | int | float | bool | None] = field(default_factory=dict)
    exclude_ids: tuple[str, ...] = ()
    include_superseded: bool = False
    as_of: datetime | None = None
    explain: bool = False
    record_access: bool = True
    scorer: str | None = None


@dataclass(frozen=True, slots=True)
class RecallResult:
    """
    One record that was recalled. `text` is the record's text, or of a long record the passage that fits best, whose
    span in the whole text `passage` gives.
    """

    record: Record
    text: str
    score: float
    explain: Mapping[str, float | None] | None = None
    passage: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True)
class RecallAnswer:
    """
    What a recall found, which retrieval really ran, and what it had to do without.
    """

    recall_id: str
    retrieval: Mode
    degraded: tuple[str, ...]
    took_ms: float
    results: tuple[RecallResult, ...]
    empty_reason: EmptyReason | None = None
