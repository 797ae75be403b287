"""
Short-term entries, as they are posted and shown.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from msgspec import UNSET, Struct, UnsetType

from app.api.schemas.values import Identifier, Moment, WholeNumber, as_text
from app.domain.records import Entry
from app.services.remember import NewEntry, Remembered


class EntryIn(Struct, forbid_unknown_fields=True):
    """
    One message, observation or event. Only `content` is required; ids may be numbers.
    """

    content: str
    role: str | None = None
    name: str | None = None
    timestamp: Moment | None = None
    source: str | None = None
    source_id: Identifier | None = None
    session_id: Identifier | None = None
    message_id: Identifier | None = None
    message_type: str | None = None
    action_id: Identifier | None = None
    step: WholeNumber | None = None
    skill: str | None = None
    tags: list[str] | None = None
    metadata: dict[str, Any] | None = None


class NewEntries(Struct, forbid_unknown_fields=True):
    """
    Entries to store, in order. `messages` is another name for `entries`.
    """

    entries: list[EntryIn] | UnsetType = UNSET
    messages: list[EntryIn] | UnsetType = UNSET


class EntryStored(Struct, frozen=True):
    """
    What became of one entry: `created`, or `duplicate` of the known one.
    """

    id: str
    status: str
    duplicate_of: str | None


class EntriesStored(Struct, frozen=True):
    """
    What became of each entry, in the order of the request, and the jobs that follow.
    """

    results: list[EntryStored]
    jobs: list[str]


class EntryOut(Struct, frozen=True):
    """
    An entry as it is kept, its content whole.
    """

    id: str
    bank: str
    content: str
    role: str | None
    name: str | None
    timestamp: datetime
    source: str | None
    source_id: str | None
    session_id: str | None
    message_id: str | None
    message_type: str | None
    action_id: str | None
    step: int | None
    skill: str | None
    tags: tuple[str, ...]
    metadata: dict[str, Any]
    consolidated_into: str | None


def new_entry(given: EntryIn, entry_id: str | None = None) -> NewEntry:
    """
    The entry to store. `entry_id` fixes its id.
    """
    return NewEntry(
        content=given.content,
        role="user" if given.role is None else given.role,
        name=given.name,
        timestamp=given.timestamp,
        source=given.source,
        source_id=as_text(given.source_id),
        session_id=as_text(given.session_id),
        message_id=as_text(given.message_id),
        message_type=given.message_type,
        action_id=as_text(given.action_id),
        step=given.step,
        skill=given.skill,
        metadata=given.metadata or {},
        tags=given.tags or (),
        id=entry_id,
    )


def stored_out(stored: Remembered, asked: Sequence[NewEntry]) -> EntriesStored:
    """
    What became of the entries, as the first attempt at the request would have answered: one that is known by the very
    id it was to get was stored by an earlier attempt.
    """
    return EntriesStored(
        [
            EntryStored(item.id, "created", None)
            if item.id == new.id
            else EntryStored(item.id, item.status, item.duplicate_of)
            for item, new in zip(stored.results, asked, strict=True)
        ],
        jobs=list(stored.jobs),
    )


def entry_out(bank: str, entry: Entry) -> EntryOut:
    """
    An entry as it is shown.
    """
    record = entry.record
    return EntryOut(
        id=record.id,
        bank=bank,
        content=record.text,
        role=record.role,
        name=record.speaker,
        timestamp=record.created_at,
        source=record.source,
        source_id=record.source_id,
        session_id=record.session_id,
        message_id=entry.message_id,
        message_type=entry.message_type,
        action_id=entry.action_id,
        step=entry.step,
        skill=entry.skill,
        tags=record.tags,
        metadata=record.metadata,
        consolidated_into=entry.consolidated_into,
    )
