"""
What Lamina keeps: banks, and records in their tiers.
"""

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any


class Tier(StrEnum):
    """
    Where a record lives.
    """

    ENTRY = "entry"  #: short-term: one message, observation or event
    EPISODE = "episode"  #: a consolidated summary of entries
    MEMORY = "memory"  #: a durable fact, preference or behaviour
    DOCUMENT = "document"  #: one passage of a long-term markdown file


class Category(StrEnum):
    """
    What kind of thing a memory states; decides its decay and whether it may enter the core tier.
    """

    PREFERENCE = "preference"
    FACT = "fact"
    BEHAVIOR = "behavior"
    CONTEXT = "context"
    GENERAL = "general"


class Source(StrEnum):
    """
    How a memory came to be.
    """

    EXPLICIT = "explicit"  #: somebody asked for it to be kept
    INFERRED = "inferred"  #: extracted from what was said
    IMPORTED = "imported"  #: taken over from an archive or another system


@dataclass(frozen=True, slots=True)
class Bank:
    """
    The unit of isolation. `revision` grows with every committed change inside the bank.
    """

    bank_id: int
    name: str
    description: str
    settings: dict[str, Any]
    revision: int
    created_at: datetime
    updated_at: datetime
    trashed_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Record:
    """
    Any recallable text with what ranking and filtering need to know of it.

    `text` is whole; `created_at` is when it was said (with the speaker's offset), `updated_at` when it last changed or
    was reinforced, `occurred_at` when what it tells of happened. `confidence` lies in [0, 1]. `observations` counts how
    often it was stated (1 at first). A record is live while `invalid_at` is unset.
    """

    seq: int
    id: str
    tier: Tier
    text: str
    created_at: datetime
    updated_at: datetime
    speaker: str | None = None
    role: str | None = None
    session_id: str | None = None
    source: str | None = None
    source_id: str | None = None
    category: Category = Category.GENERAL
    tags: tuple[str, ...] = ()
    entities: tuple[str, ...] = ()
    metadata: dict[str, Any] = field(default_factory=dict)
    occurred_at: datetime | None = None
    expires_at: datetime | None = None
    confidence: float = 1.0
    pinned: bool = False
    observations: int = 1
    access_count: int = 0
    last_accessed_at: datetime | None = None
    revision: int = 1
    invalid_at: datetime | None = None
    invalid_reason: str | None = None
    superseded_by: str | None = None

    @property
    def is_active(self) -> bool:
        """
        Whether the record is neither deleted nor superseded.
        """
        return self.invalid_at is None


@dataclass(frozen=True, slots=True)
class Entry:
    """
    A short-term record with what only a message has.
    """

    record: Record
    message_id: str | None = None
    message_type: str | None = None
    action_id: str | None = None
    step: int | None = None
    skill: str | None = None
    consolidated_into: str | None = None


@dataclass(frozen=True, slots=True)
class Memory:
    """
    A durable record with what only a memory has. Its record's `source` says how it came to be (`Source`).

    `raw_input` is the text as it was given, `summary` at most 49 characters, `key` the caller's own name, unique in the
    bank, `provenance` the ids of the records it came from. `structured` is false while only the deterministic preview
    of `raw_input` stands in for a structure.
    """

    record: Record
    raw_input: str | None = None
    summary: str = ""
    key: str | None = None
    provenance: tuple[str, ...] = ()
    structured: bool = True


@dataclass(frozen=True, slots=True)
class MemoryRevision:
    """
    One past state of a memory: what changed, when and why.
    """

    revision: int
    changed_at: datetime
    change: str
    reason: str | None
    body: dict[str, Any]
