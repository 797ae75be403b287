"""
Which memories always apply, whatever is asked.
"""

from collections.abc import Iterable
from datetime import datetime

from app.domain.records import Category, Memory

CORE_CATEGORIES = frozenset({Category.PREFERENCE, Category.FACT})


def core_tier(memories: Iterable[Memory], min_confidence: float, limit: int, now: datetime) -> list[Memory]:
    """
    The live preferences and facts of at least `min_confidence` (in [0, 1]), `limit` at most.

    Surest first, then most used; ties by pin, then the later change, then id.
    """
    members = [
        memory
        for memory in memories
        if memory.record.category in CORE_CATEGORIES
        and memory.record.confidence >= min_confidence
        and memory.record.is_active
        and (memory.record.expires_at is None or memory.record.expires_at > now)
    ]
    members.sort(
        key=lambda memory: (
            -memory.record.confidence,
            -memory.record.access_count,
            not memory.record.pinned,
            -memory.record.updated_at.timestamp(),
            memory.record.id,
        )
    )
    return members[:limit]
