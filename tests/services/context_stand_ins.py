"""
A bank's records for the prompt assembler, with what was asked of them.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

from app.clock import FrozenClock
from app.config import CoreSettings, load_settings
from app.domain.records import Category, Memory, Record, Tier
from app.domain.scopes import Scope, ScopeMode, conversation, scope_id
from app.services.context import ContextService
from app.services.context_profiles import context_profiles
from app.services.core_tier import CoreTier
from app.services.recall_model import Mode, RecallAnswer, RecallRequest, RecallResult

LIMA = timezone(timedelta(hours=-5))
NOW = datetime(2026, 11, 30, 2, 0, tzinfo=UTC)


def record(record_id: str, tier: Tier, text: str, minutes_ago: int = 0, **more: Any) -> Record:
    said_at = NOW.astimezone(LIMA) - timedelta(minutes=minutes_ago)
    return Record(0, record_id, tier, text, **{"created_at": said_at, "updated_at": said_at, **more})


def memory(record_id: str, text: str, confidence: float = 0.9, **more: Any) -> Memory:
    fields = {"category": Category.PREFERENCE, **more}
    return Memory(record(record_id, Tier.MEMORY, text, confidence=confidence, **fields))


def result(record: Record, score: float = 0.5, passage: tuple[int, int] | None = None) -> RecallResult:
    text = record.text if passage is None else record.text[slice(*passage)]
    return RecallResult(record, text, score, passage=passage)


@dataclass
class StandInRecords:
    """
    Records of one bank, with what was asked of them; `failing` names the methods that raise, and what.
    """

    revision: int = 1
    writes: int = 0
    core_memories: list[Memory] = field(default_factory=list)
    results: list[RecallResult] = field(default_factory=list)
    entries: list[Record] = field(default_factory=list)
    retrieval: dict[Tier, Mode] = field(default_factory=dict)
    degraded: tuple[str, ...] = ()
    failing: dict[str, Exception] = field(default_factory=dict)
    calls: list[str] = field(default_factory=list)
    asked: list[RecallRequest] = field(default_factory=list)
    recent_asked: list[tuple[Scope, int]] = field(default_factory=list)
    accessed: list[tuple[str, ...]] = field(default_factory=list)

    def _called(self, name: str) -> None:
        self.calls.append(name)
        if name in self.failing:
            raise self.failing[name]

    async def version(self, bank: str) -> tuple[str, int]:
        self._called("version")
        return bank, self.revision

    async def core(self, bank: str, min_confidence: float, limit: int) -> Sequence[Memory]:
        self._called("core")
        return [replace(item, record=replace(item.record, entities=(bank,))) for item in self.core_memories[:limit]]

    async def recall(self, bank: str, request: RecallRequest) -> RecallAnswer:
        self._called("recall")
        self.asked.append(request)
        found = [
            each
            for each in self.results
            if each.record.tier in request.tiers and each.record.id not in request.exclude_ids
        ]
        mode = self.retrieval.get(request.tiers[0], Mode.HYBRID)
        return RecallAnswer("rec-1", mode, self.degraded, 0.1, tuple(found[: request.limit]))

    async def scope(self, bank: str, session_id: str | None, source: str | None, source_id: str | None) -> Scope:
        address = conversation(ScopeMode.PER_CHANNEL_PEER, session_id, source, source_id)
        contacts = None if address is None else frozenset({address})
        return Scope(scope_id(ScopeMode.PER_CHANNEL_PEER, address), contacts, session_id)

    async def recent(self, bank: str, scope: Scope, limit: int) -> Sequence[Record]:
        self._called("recent")
        self.recent_asked.append((scope, limit))
        return self.entries[:limit]

    async def record_access(self, bank: str, ids: Sequence[str]) -> None:
        self._called("record_access")
        self.accessed.append(tuple(ids))


@dataclass(frozen=True)
class Words:
    """
    Counts words, under the name that it is given.
    """

    name: str

    def count(self, text: str) -> int:
        return len(text.split())


class StandInTokenizers:
    """
    Names a counter after its model; without one, it only estimates.
    """

    def for_model(self, model: str | None) -> Words:
        return Words("estimate" if model is None else f"{model}-words")


def service(
    records: StandInRecords, clock: FrozenClock | None = None, core: CoreSettings | None = None
) -> ContextService:
    clock = clock or FrozenClock(NOW)
    settings = load_settings()
    tier = CoreTier(records, core or settings.core, clock)
    return ContextService(
        records, tier, StandInTokenizers(), context_profiles(settings), settings.context.default_profile, clock
    )


def full_records() -> StandInRecords:
    return StandInRecords(
        core_memories=[memory("mem-1", "User prefers tea"), memory("mem-2", "User lives in Lima")],
        results=[
            result(record("mem-3", Tier.MEMORY, "Ana plans a trip to Lisbon"), 0.8),
            result(record("mem-1", Tier.MEMORY, "User prefers tea"), 0.7),
            result(record("ent-0", Tier.ENTRY, "the ferry leaves at nine", 9000, speaker="Ana"), 0.6),
            result(record("epi-1", Tier.EPISODE, "They planned the summer"), 0.4),
        ],
        entries=[
            record("ent-2", Tier.ENTRY, "and the hotel?", 1, role="user"),
            record("ent-1", Tier.ENTRY, "the flight is booked", 2, role="assistant"),
        ],
    )
