"""
From what a caller sends to the memory that will be stored: checked field by field, completed without a model.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from app.config import MemorySettings
from app.domain.entities import normalise_handle
from app.domain.identity import new_id
from app.domain.records import Category, Memory, Record, Source, Tier
from app.domain.text.legal import legal_text
from app.domain.text.shorten import summarise
from app.services.faults import Faults
from app.services.preparation import Preparation

# What free text counts for while nothing has structured it, and what a caller's own statement counts for.
PREVIEW_CONFIDENCE = 0.5
STATED_CONFIDENCE = 1.0


@dataclass(frozen=True, slots=True)
class NewMemory:
    """
    A memory as a caller sends it: free text in `raw_input`, or structured in `content` and what goes with it.
    """

    raw_input: str | None = None
    content: str | None = None
    summary: str | None = None
    category: str | None = None
    confidence: float | None = None
    source: str | None = None
    tags: Sequence[str] = ()
    entities: Sequence[str] = ()
    pinned: bool = False
    key: str | None = None
    occurred_at: datetime | None = None
    expires_at: datetime | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)
    session_id: str | None = None
    speaker: str | None = None
    created_at: datetime | None = None
    id: str | None = None
    provenance: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Saved:
    """
    A stored memory, whether it is new (else it was reinforced), and the job that structures its free text, if any.
    """

    memory: Memory
    created: bool
    job: str | None = None


@dataclass(frozen=True, slots=True)
class DeleteResult:
    """
    What a deletion really did, id by id.
    """

    deleted: tuple[str, ...]
    not_found: tuple[str, ...]


class Drafting:
    """
    Turns requests into memories, with the limits of the configuration.
    """

    def __init__(self, preparation: Preparation, settings: MemorySettings) -> None:
        self._preparation = preparation
        self._settings = settings

    def drafts(self, given: Sequence[NewMemory], now: datetime, place: Callable[[int], str]) -> list[Memory]:
        """
        The memories to store, not yet numbered.

        Raises:
            InvalidInput, TooLarge: naming every bad field of every memory.
        """
        faults = Faults()
        found = []
        for number, item in enumerate(given):
            own = Faults(place(number))
            found.append(self._draft(item, own, now))
            faults.merge(own)
        faults.raise_if_any()
        return found

    def amended(self, old: Memory, changes: Mapping[str, Any], now: datetime) -> Memory:
        """
        The memory with the named fields changed; metadata is merged key by key, null removing a key.

        Raises:
            InvalidInput: naming every bad field.
        """
        faults = Faults()
        record, item = old.record, old
        for name, value in changes.items():
            match name:
                case "content":
                    record = replace(record, text=self._content(value, faults))
                    if "summary" not in changes:
                        item = replace(item, summary=summarise(record.text, self._settings.summary_max))
                case "summary":
                    item = replace(item, summary=self._summary(value or "", faults))
                case "category":
                    record = replace(record, category=_category(value, faults))
                case "confidence":
                    record = replace(record, confidence=_given(faults.share(name, value), record.confidence))
                case "pinned":
                    record = replace(record, pinned=bool(value))
                case "tags":
                    record = replace(record, tags=faults.labels(name, value or ()))
                case "entities":
                    record = replace(record, entities=_handles(faults.labels(name, value or ())))
                case "key":
                    item = replace(item, key=faults.name(name, value))
                case "occurred_at":
                    record = replace(record, occurred_at=faults.moment(name, value))
                case "expires_at":
                    record = replace(record, expires_at=faults.moment(name, value))
                case "metadata":
                    merged = {**record.metadata, **faults.mapping(name, value or {})}
                    record = replace(record, metadata={key: kept for key, kept in merged.items() if kept is not None})
                case _:
                    faults.add(name, "cannot be changed")
        faults.raise_if_any()
        if record == old.record and item == old:
            return old
        return replace(item, record=replace(record, updated_at=now))

    def merged(self, known: Memory, again: Memory, now: datetime) -> Memory:
        """
        What is left of two statements of the same text: the known one, seen once more.

        Tags, entities and metadata are added, never taken away; a pin is only ever set.
        """
        old, new = known.record, again.record
        record = replace(
            old,
            observations=old.observations + 1,
            updated_at=now,
            confidence=max(old.confidence, new.confidence),
            pinned=old.pinned or new.pinned,
            tags=tuple(dict.fromkeys((*old.tags, *new.tags))),
            entities=tuple(dict.fromkeys((*old.entities, *new.entities))),
            metadata={**old.metadata, **new.metadata},
            occurred_at=new.occurred_at or old.occurred_at,
            expires_at=new.expires_at or old.expires_at,
            category=new.category if old.category is Category.GENERAL else old.category,
        )
        return replace(
            known,
            record=record,
            key=again.key or known.key,
            structured=known.structured or again.structured,
            provenance=tuple(dict.fromkeys((*known.provenance, *again.provenance))),
        )

    def _draft(self, item: NewMemory, faults: Faults, now: datetime) -> Memory:
        raw = None if item.raw_input is None else legal_text(item.raw_input)
        self._check_raw(raw, faults)
        structured = item.content is not None
        if item.content is not None:
            text = self._content(item.content, faults)
        elif raw is not None:
            text = raw.strip()
        else:
            faults.add("content", "either raw_input or content is needed")
            text = ""
        created_at = faults.moment("created_at", item.created_at) or now
        confidence = faults.share("confidence", item.confidence)
        record = Record(
            seq=0,
            id=faults.name("id", item.id, 64) or new_id("mem"),
            tier=Tier.MEMORY,
            text=text,
            created_at=created_at,
            updated_at=created_at,
            speaker=faults.name("speaker", item.speaker),
            session_id=faults.name("session_id", item.session_id),
            source=_source(item.source, faults),
            category=_category(item.category, faults),
            tags=faults.labels("tags", item.tags),
            entities=_handles(faults.labels("entities", self._preparation.entities(text, item.entities))),
            metadata=faults.mapping("metadata", item.metadata),
            occurred_at=faults.moment("occurred_at", item.occurred_at),
            expires_at=faults.moment("expires_at", item.expires_at),
            confidence=_given(confidence, STATED_CONFIDENCE if structured else PREVIEW_CONFIDENCE),
            pinned=item.pinned,
        )
        summary = summarise(text, self._settings.summary_max)
        return Memory(
            record=record,
            raw_input=raw,
            summary=summary if item.summary is None else self._summary(item.summary, faults),
            key=faults.name("key", item.key),
            provenance=tuple(item.provenance),
            structured=structured,
        )

    def _check_raw(self, raw: str | None, faults: Faults) -> None:
        if raw is None:
            return
        size = len(raw.encode())
        limit = self._settings.raw_input_max_bytes
        if size > limit:
            faults.add_size("raw_input", f"at most {limit} bytes of UTF-8, got {size}")
        if len(raw.strip()) < self._settings.content_min:
            faults.add("raw_input", f"at least {self._settings.content_min} characters")

    def _content(self, value: object, faults: Faults) -> str:
        if not isinstance(value, str):
            faults.add("content", "must be text")
            return ""
        text = legal_text(value).strip()
        low, high = self._settings.content_min, self._settings.content_max
        if not low <= len(text) <= high:
            faults.add("content", f"{low} to {high} characters, got {len(text)}")
        return text

    def _summary(self, value: str, faults: Faults) -> str:
        summary = legal_text(value).strip()
        if len(summary) > self._settings.summary_max:
            faults.add("summary", f"at most {self._settings.summary_max} characters, got {len(summary)}")
        return summary


def _given(value: float | None, default: float) -> float:
    return default if value is None else value


def _handles(labels: Sequence[str]) -> tuple[str, ...]:
    """Labels in the form in which a question's handles are looked up; one without a letter or digit is left out."""
    found = dict.fromkeys(normalise_handle(label) for label in labels)
    found.pop("", None)
    return tuple(found)


def _category(value: object, faults: Faults) -> Category:
    if value is None:
        return Category.GENERAL
    if isinstance(value, str) and value in set(Category):
        return Category(value)
    faults.add("category", f"must be one of {', '.join(Category)}, got {value!r}")
    return Category.GENERAL


def _source(value: str | None, faults: Faults) -> str:
    if value is None:
        return Source.EXPLICIT
    if value not in set(Source):
        faults.add("source", f"must be one of {', '.join(Source)}, got {value!r}")
    return value
