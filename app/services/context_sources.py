"""
Reads what a context's sections are made of, side by side; a source that fails costs nothing but itself.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, tzinfo
from typing import Protocol

import structlog

from app.domain.context.items import ContextItem, Reason
from app.domain.context.profile import Profile, SectionSource, SectionSpec
from app.domain.identity import normalise
from app.domain.records import Record, Tier
from app.domain.scopes import Scope
from app.domain.text.shorten import MARKER
from app.errors import LaminaError
from app.services.context_model import ContextRequest
from app.services.core_tier import CoreTier
from app.services.recall import LIMIT_MAX
from app.services.recall_model import Mode, RecallAnswer, RecallRequest, RecallResult

log = structlog.get_logger(__name__)

NO_RETRIEVAL = "none"

_SHOWN_TIERS = {SectionSource.CORE: Tier.MEMORY, SectionSource.RECENT: Tier.ENTRY}
"""Tiers of the sections that do not ask recall."""


class ContextRecords(Protocol):
    """
    Where recalled and recent records come from, and where their use is counted.
    """

    async def recall(self, bank: str, request: RecallRequest) -> RecallAnswer:
        """
        The records that answer the request's query, best first.

        Raises:
            NotFound: when there is no such bank.
        """
        ...

    async def scope(self, bank: str, session_id: str | None, source: str | None, source_id: str | None) -> Scope:
        """
        What the conversation sees that a request names.

        Raises:
            InvalidInput: naming what is missing of it.
            NotFound: when there is no such bank.
        """
        ...

    async def recent(self, bank: str, scope: Scope, limit: int) -> Sequence[Record]:
        """
        The newest entries of a scope by the time at which they were said, newest first.

        Raises:
            NotFound: when there is no such bank.
        """
        ...

    async def record_access(self, bank: str, ids: Sequence[str]) -> None:
        """
        Count one use of each record.
        """
        ...


@dataclass(slots=True)
class SourceRead:
    """
    What one section read: records, best first, each with the recall result that found it, if any did.
    """

    found: list[tuple[Record, RecallResult | None]] = field(default_factory=list)
    retrieval: Mode | None = None
    degraded: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Gathered:
    """
    What all sections read: items by section name, ids that stay out, the zone of the newest message, what recall ran.
    """

    items: Mapping[str, list[ContextItem]]
    withheld: Mapping[str, Reason]
    zone: tzinfo
    retrieval: str
    degraded: tuple[str, ...]


class ContextSources:
    """
    The sources of all sections. A new kind of section is one more reader here.
    """

    def __init__(self, records: ContextRecords, core: CoreTier) -> None:
        self._records = records
        self._core = core
        self._readers: Mapping[
            SectionSource, Callable[[str, ContextRequest, Profile, SectionSpec], Awaitable[SourceRead]]
        ] = {
            SectionSource.CORE: self._read_core,
            SectionSource.MEMORIES: self._read_recall,
            SectionSource.EPISODES: self._read_recall,
            SectionSource.RECENT: self._read_recent,
        }

    async def read(self, bank: str, request: ContextRequest, profile: Profile) -> Gathered:
        """
        Read all sections of the profile.

        Raises:
            LaminaError: a source refused the request itself (an unknown bank, a bad field). Any other failure is only
                named in `degraded`.
        """
        sections = [section for section in profile.sections if section.limit]
        reads, degraded = await self._settled(
            {section.name: self._readers[section.source](bank, request, profile, section) for section in sections}
        )
        fixed = {record.id for read in reads.values() for record, result in read.found if result is None}
        passages = {
            result.record.id: result for read in reads.values() for _, result in read.found if result is not None
        }
        for section in sections:
            read = reads.get(section.name)
            if read is not None and read.retrieval is not None:
                read.found = _within_limit(read.found, section.limit, fixed)
        recent = [
            record
            for section in sections
            if section.source is SectionSource.RECENT and section.name in reads
            for record, _ in reads[section.name].found
        ]
        modes = {read.retrieval for read in reads.values() if read.retrieval is not None}
        return Gathered(
            items={
                section.name: [
                    _item(record, result, passages.get(record.id), section, is_ranked=bool(request.query.strip()))
                    for record, result in reads[section.name].found
                ]
                for section in sections
                if section.name in reads
            },
            withheld=_withheld(request, recent, [result.record for result in passages.values()]),
            zone=(recent[0].created_at.tzinfo if recent else None) or UTC,
            # A recall that had to do without its vector speaks for all of them.
            retrieval=NO_RETRIEVAL if not modes else modes.pop() if len(modes) == 1 else Mode.LEXICAL,
            degraded=tuple(
                dict.fromkeys([*(reason for read in reads.values() for reason in read.degraded), *degraded])
            ),
        )

    async def _settled(self, readings: Mapping[str, Awaitable[SourceRead]]) -> tuple[dict[str, SourceRead], list[str]]:
        outcomes = await asyncio.gather(*readings.values(), return_exceptions=True)
        reads: dict[str, SourceRead] = {}
        degraded = []
        for name, outcome in zip(readings, outcomes, strict=True):
            if isinstance(outcome, SourceRead):
                reads[name] = outcome
                continue
            if not isinstance(outcome, Exception) or (isinstance(outcome, LaminaError) and outcome.status < 500):
                raise outcome
            log.warning("context_source_failed", section=name, exc_info=outcome)
            degraded.append(failure("section_unavailable", name, outcome))
        return reads, degraded

    async def _read_core(
        self, bank: str, request: ContextRequest, profile: Profile, section: SectionSpec
    ) -> SourceRead:
        memories = await self._core.of(bank, section.limit)
        return SourceRead([(memory.record, None) for memory in memories])

    async def _read_recent(
        self, bank: str, request: ContextRequest, profile: Profile, section: SectionSpec
    ) -> SourceRead:
        records = await self._records.recent(bank, request.scope, section.limit)
        return SourceRead([(record, None) for record in records])

    async def _read_recall(
        self, bank: str, request: ContextRequest, profile: Profile, section: SectionSpec
    ) -> SourceRead:
        # What other sections show anyway is not shown twice; so much more is read that the section can be full all the
        # same. The least score is left to the assembler, which says what it left out.
        others = sum(other.limit for other in profile.sections if _SHOWN_TIERS.get(other.source) in section.tiers)
        answer = await self._records.recall(
            bank,
            RecallRequest(
                query=request.query,
                limit=min(section.limit + others, LIMIT_MAX),
                tiers=tuple(tier for tier in Tier if tier in section.tiers),
                exclude_ids=request.exclude_ids,
                contacts=request.scope.contacts,
                record_access=False,
                scorer=profile.scorer,
            ),
        )
        return SourceRead(
            [(result.record, result) for result in answer.results], answer.retrieval, tuple(answer.degraded)
        )


def failure(slug: str, what: str, error: Exception) -> str:
    """
    A line for `degraded`; of an error that was not foreseen only the kind is told.
    """
    return f"{slug}: {what}: {error.detail if isinstance(error, LaminaError) else type(error).__name__}"


def _within_limit(
    found: Iterable[tuple[Record, RecallResult | None]], limit: int, fixed: set[str]
) -> list[tuple[Record, RecallResult | None]]:
    kept: list[tuple[Record, RecallResult | None]] = []
    for record, result in found:
        if record.id not in fixed:
            if limit == 0:
                break
            limit -= 1
        kept.append((record, result))
    return kept


def _withheld(request: ContextRequest, recent: Sequence[Record], recalled: Sequence[Record]) -> dict[str, Reason]:
    """
    The ids that stay out: those that the caller names, and the stored copy of the message that is being answered.
    """
    asked = normalise(request.query)
    shown = {record.id for record in recent}
    copies = [*recent[:1], *(record for record in recalled if record.id not in shown)]
    withheld = {
        record.id: Reason.QUERY
        for record in copies
        if record.tier is Tier.ENTRY and record.role == "user" and normalise(record.text) == asked
    }
    return {**withheld, **dict.fromkeys(request.exclude_ids, Reason.EXCLUDED)}


def _item(
    record: Record, result: RecallResult | None, passage: RecallResult | None, section: SectionSpec, *, is_ranked: bool
) -> ContextItem:
    """
    The record as its section shows it: whole where it is short enough, else the passage that answers the query.
    """
    text, cut = record.text, False
    if passage is not None and passage.passage is not None and len(record.text) > section.item_max:
        start, stop = passage.passage
        text = (MARKER if start else "") + passage.text.strip() + (MARKER if stop < len(record.text) else "")
        cut = True
    changed = record.updated_at.astimezone(record.created_at.tzinfo) if record.tier is Tier.MEMORY else None
    return ContextItem(
        id=record.id,
        tier=record.tier,
        text=text,
        created_at=record.created_at,
        category=record.category,
        updated_at=changed,
        occurred_at=record.occurred_at,
        speaker=record.speaker or record.role,
        score=result.score if result is not None and is_ranked else None,
        pinned=record.pinned,
        truncated=cut,
    )
