"""
The shapes of the Orca memory bank: camelCase, with a relevance breakdown on search.
"""

from collections.abc import Sequence
from datetime import datetime

from msgspec import UNSET, Struct, UnsetType

from app.api.schemas.memories import staleness_of
from app.api.schemas.values import Share
from app.domain.records import Memory
from app.services.drafting import NewMemory
from app.services.recall_model import RecallResult

SCHEMA_VERSION = 1

_NAMES = {"raw_input": "rawInput", "content": "processedContent"}


class MemoryCreateRequest(Struct, forbid_unknown_fields=True, rename="camel"):
    """
    A memory to save. With `processedContent` it is structured already.
    """

    raw_input: str
    processed_content: str | None = None
    summary: str | None = None
    category: str | None = None
    source: str | None = None
    confidence: Share | None = None


class OrcaMemory(Struct, frozen=True, rename="camel"):
    """
    A memory of a profile. `version` is that of this shape.
    """

    id: str
    profile_name: str
    raw_input: str
    processed_content: str
    summary: str
    category: str
    source: str | None
    confidence: float
    created_at: datetime
    last_accessed_at: datetime | None
    access_count: int
    staleness_score: float
    is_active: bool
    version: int = SCHEMA_VERSION


class OrcaMemories(Struct, frozen=True, rename="camel", omit_defaults=True):
    """
    A page of memories, of one profile or of all.
    """

    total: int
    memories: list[OrcaMemory]
    profile: str | UnsetType = UNSET
    limit: int | UnsetType = UNSET
    offset: int | UnsetType = UNSET


class OrcaRelevance(Struct, frozen=True):
    """
    What a search result's score is made of.
    """

    score: float
    recency: float
    usage: float
    topic: float


class OrcaHit(Struct, frozen=True):
    """
    One search result.
    """

    memory: OrcaMemory
    relevance: OrcaRelevance


class OrcaSearch(Struct, frozen=True):
    """
    The memories of a profile that matter to a query, best first.
    """

    profile: str
    query: str
    count: int
    results: list[OrcaHit]


class OrcaBank(Struct, frozen=True, rename="camel"):
    """
    All memories, by profile.
    """

    total: int
    profiles_with_memory: int
    memories: dict[str, list[OrcaMemory]]


class OrcaStats(Struct, frozen=True, rename="camel"):
    """
    How many memories there are, in all and in each profile.
    """

    total_memories: int
    profiles_with_memory: int
    per_profile: dict[str, int]


def field_name(field: str) -> str:
    """
    A service's field name as this shape calls it.
    """
    return _NAMES.get(field, field)


def new_memory(given: MemoryCreateRequest, memory_id: str | None) -> NewMemory:
    """
    The memory to save.
    """
    return NewMemory(
        raw_input=given.raw_input,
        content=given.processed_content,
        summary=given.summary,
        category=given.category,
        source=given.source,
        confidence=given.confidence,
        id=memory_id,
    )


def orca_memories(profile: str, memories: Sequence[Memory], now: datetime) -> list[OrcaMemory]:
    """
    Memories of one profile as they are shown, with their staleness at `now`.
    """
    ages = staleness_of(memories, now)
    return [_orca_memory(profile, memory, age) for memory, age in zip(memories, ages, strict=True)]


def hit(memory: OrcaMemory, result: RecallResult) -> OrcaHit:
    """
    A search result as it is shown.
    """
    explain = result.explain or {}
    return OrcaHit(
        memory,
        OrcaRelevance(
            score=result.score,
            recency=explain.get("recency") or 0.0,
            usage=explain.get("usage") or 0.0,
            topic=explain.get("topic") or 0.0,
        ),
    )


def _orca_memory(profile: str, memory: Memory, age: float) -> OrcaMemory:
    record = memory.record
    return OrcaMemory(
        id=record.id,
        profile_name=profile,
        raw_input=record.text if memory.raw_input is None else memory.raw_input,
        processed_content=record.text,
        summary=memory.summary,
        category=record.category,
        source=record.source,
        confidence=record.confidence,
        created_at=record.created_at,
        last_accessed_at=record.last_accessed_at,
        access_count=record.access_count,
        staleness_score=age,
        is_active=record.is_active,
    )
