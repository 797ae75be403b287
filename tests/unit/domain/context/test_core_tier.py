"""
Which memories are core, and in which order.
"""

from datetime import UTC, datetime, timedelta
from typing import Any

from app.domain.context.core_tier import core_tier
from app.domain.records import Category, Memory, Record, Tier

NOW = datetime(2026, 11, 30, tzinfo=UTC)


def _memory(record_id: str, category: Category = Category.FACT, confidence: float = 0.9, **more: Any) -> Memory:
    fields = {"updated_at": NOW, **more}
    record = Record(0, record_id, Tier.MEMORY, record_id, NOW, category=category, confidence=confidence, **fields)
    return Memory(record)


def _ids(memories: list[Memory], min_confidence: float = 0.8, limit: int = 50) -> list[str]:
    return [memory.record.id for memory in core_tier(memories, min_confidence, limit, NOW)]


def test_o19_only_sure_preferences_and_facts_are_core() -> None:
    memories = [_memory(category.value, category) for category in Category]
    assert set(_ids(memories)) == {"preference", "fact"}
    assert _ids([_memory("below", confidence=0.79), _memory("at", confidence=0.8)]) == ["at"]


def test_o19_the_surest_come_first_then_the_most_used() -> None:
    memories = [
        _memory("used", confidence=0.9, access_count=5),
        _memory("unused", confidence=0.9),
        _memory("sure", confidence=1.0),
    ]
    assert _ids(memories) == ["sure", "used", "unused"]
    assert _ids(memories, limit=1) == ["sure"]
    assert _ids(memories, limit=0) == []


def test_o19_ties_are_settled_by_pin_then_change_then_id() -> None:
    memories = [
        _memory("b"),
        _memory("a"),
        _memory("newer", updated_at=NOW + timedelta(hours=1)),
        _memory("pinned", pinned=True),
    ]
    assert _ids(memories) == ["pinned", "newer", "a", "b"]


def test_d43_retired_and_expired_memories_are_not_core() -> None:
    memories = [
        _memory("retired", invalid_at=NOW),
        _memory("expired", expires_at=NOW),
        _memory("valid", expires_at=NOW + timedelta(seconds=1)),
    ]
    assert _ids(memories) == ["valid"]
