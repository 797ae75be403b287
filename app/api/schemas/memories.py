"""
Memories, as they are saved, changed and shown.
"""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from msgspec import UNSET, Struct, UnsetType

from app.api.schemas.values import Identifier, Moment, Share, as_text
from app.domain.records import Category, Memory, MemoryRevision
from app.domain.signals.staleness import staleness
from app.services.drafting import DeleteResult, NewMemory, Saved

_CATEGORIES = tuple(Category)
_DAY = timedelta(days=1)


class MemoryIn(Struct, forbid_unknown_fields=True):
    """
    A memory to save: free text in `raw_input`, or structured in `content` and what goes with it.
    """

    raw_input: str | None = None
    content: str | None = None
    summary: str | None = None
    category: str | None = None
    confidence: Share | None = None
    source: str | None = None
    tags: list[str] | None = None
    entities: list[str] | None = None
    pinned: bool | None = None
    key: Identifier | None = None
    occurred_at: Moment | None = None
    expires_at: Moment | None = None
    metadata: dict[str, Any] | None = None
    session_id: Identifier | None = None
    speaker: str | None = None
    created_at: Moment | None = None


class NewMemories(MemoryIn, forbid_unknown_fields=True):
    """
    One memory, or several in `memories`.
    """

    memories: list[MemoryIn] | UnsetType = UNSET


class MemoryChanges(Struct, forbid_unknown_fields=True):
    """
    What is to change of a memory. Metadata is merged key by key; null removes a key, and clears a field.
    """

    content: str | UnsetType = UNSET
    summary: str | UnsetType | None = UNSET
    category: str | UnsetType | None = UNSET
    confidence: Share | UnsetType = UNSET
    tags: list[str] | UnsetType | None = UNSET
    entities: list[str] | UnsetType | None = UNSET
    pinned: bool | UnsetType = UNSET
    key: Identifier | UnsetType | None = UNSET
    occurred_at: Moment | UnsetType | None = UNSET
    expires_at: Moment | UnsetType | None = UNSET
    metadata: dict[str, Any] | UnsetType | None = UNSET


class Supersession(Struct, forbid_unknown_fields=True):
    """
    The memory that takes another's place. With `reinforce` it also takes over its observations.
    """

    by: str
    reinforce: bool = False
    reason: str | None = None


class MemoryIds(Struct, forbid_unknown_fields=True):
    """
    Memories to delete; with `purge`, every trace of them goes.
    """

    ids: list[str]
    purge: bool | None = None


class MemoryOut(Struct, frozen=True):
    """
    A memory. `staleness` in [0, 1] says how likely it is out of date; `reinforced` is said in the answer to a save.
    """

    id: str
    bank: str
    content: str
    raw_input: str | None
    summary: str
    category: str
    source: str | None
    confidence: float
    tags: tuple[str, ...]
    entities: tuple[str, ...]
    pinned: bool
    key: str | None
    created_at: datetime
    updated_at: datetime
    occurred_at: datetime | None
    expires_at: datetime | None
    last_accessed_at: datetime | None
    access_count: int
    observations: int
    staleness: float
    revision: int
    superseded_by: str | None
    is_active: bool
    provenance: tuple[str, ...]
    metadata: dict[str, Any]
    session_id: str | None
    speaker: str | None
    structured: bool
    reinforced: bool | UnsetType = UNSET


class MemorySaved(Struct, frozen=True):
    """
    What became of one memory of several: `created` or `reinforced`.
    """

    id: str
    status: str
    memory: MemoryOut


class MemoriesSaved(Struct, frozen=True):
    """
    What became of each memory, in the order of the request.
    """

    results: list[MemorySaved]


class MemoriesDeleted(Struct, frozen=True):
    """
    How many memories a deletion really removed, and which of the ids named none.
    """

    deleted: int
    not_found: list[str]
    failed: list[str]


class RevisionOut(Struct, frozen=True):
    """
    One past state of a memory.
    """

    revision: int
    changed_at: datetime
    change: str
    reason: str | None
    body: dict[str, Any]


def new_memory(given: MemoryIn, memory_id: str | None = None) -> NewMemory:
    """
    The memory to save. `memory_id` fixes the id of a new one.
    """
    return NewMemory(
        raw_input=given.raw_input,
        content=given.content,
        summary=given.summary,
        category=given.category,
        confidence=given.confidence,
        source=given.source,
        tags=given.tags or (),
        entities=given.entities or (),
        pinned=bool(given.pinned),
        key=as_text(given.key),
        occurred_at=given.occurred_at,
        expires_at=given.expires_at,
        metadata=given.metadata or {},
        session_id=as_text(given.session_id),
        speaker=given.speaker,
        created_at=given.created_at,
        id=memory_id,
    )


def as_first(saved: Sequence[Saved], asked: Sequence[NewMemory]) -> list[Saved]:
    """
    What the first attempt at a request would have answered: a memory that is known by the very id it was to get was
    stored by an earlier attempt.
    """
    return [
        replace(item, created=item.created or item.memory.record.id == new.id)
        for item, new in zip(saved, asked, strict=True)
    ]


def memories_out(bank: str, memories: Sequence[Memory], now: datetime) -> list[MemoryOut]:
    """
    Memories as they are shown, with their staleness at `now`.
    """
    ages = staleness_of(memories, now)
    return [_memory_out(bank, item, age) for item, age in zip(memories, ages, strict=True)]


def memory_out(bank: str, memory: Memory, now: datetime, reinforced: bool | UnsetType = UNSET) -> MemoryOut:
    """
    One memory as it is shown.
    """
    return _memory_out(bank, memory, staleness_of([memory], now)[0], reinforced)


def saved_out(bank: str, saved: Sequence[Saved], now: datetime) -> MemoriesSaved:
    """
    What became of several memories, as it is answered.
    """
    shown = memories_out(bank, [item.memory for item in saved], now)
    statuses = ["created" if item.created else "reinforced" for item in saved]
    return MemoriesSaved([MemorySaved(item.id, word, item) for item, word in zip(shown, statuses, strict=True)])


def deleted_out(result: DeleteResult) -> MemoriesDeleted:
    """
    What a deletion did, as it is answered. It is one transaction, in which no single memory can fail.
    """
    return MemoriesDeleted(len(result.deleted), list(result.not_found), [])


def revision_out(item: MemoryRevision) -> RevisionOut:
    """
    A past state as it is shown.
    """
    return RevisionOut(item.revision, item.changed_at, item.change, item.reason, item.body)


def staleness_of(memories: Sequence[Memory], now: datetime) -> list[float]:
    """
    How stale each memory is at `now`; one that was never used counts from its making.
    """
    if not memories:
        return []
    records = [memory.record for memory in memories]
    days = [(now - (record.last_accessed_at or record.created_at)) / _DAY for record in records]
    categories = [_CATEGORIES.index(record.category) for record in records]
    accesses = [record.access_count for record in records]
    found: list[float] = staleness(categories, days, accesses, [record.confidence for record in records]).tolist()
    return found


def _memory_out(bank: str, memory: Memory, age: float, reinforced: bool | UnsetType = UNSET) -> MemoryOut:
    record = memory.record
    return MemoryOut(
        id=record.id,
        bank=bank,
        content=record.text,
        raw_input=memory.raw_input,
        summary=memory.summary,
        category=record.category,
        source=record.source,
        confidence=record.confidence,
        tags=record.tags,
        entities=record.entities,
        pinned=record.pinned,
        key=memory.key,
        created_at=record.created_at,
        updated_at=record.updated_at,
        occurred_at=record.occurred_at,
        expires_at=record.expires_at,
        last_accessed_at=record.last_accessed_at,
        access_count=record.access_count,
        observations=record.observations,
        staleness=age,
        revision=record.revision,
        superseded_by=record.superseded_by,
        is_active=record.is_active,
        provenance=memory.provenance,
        metadata=record.metadata,
        session_id=record.session_id,
        speaker=record.speaker,
        structured=memory.structured,
        reinforced=reinforced,
    )
