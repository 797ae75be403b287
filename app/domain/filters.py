"""
Which records a read may see: decided before ranking, so that a filter never starves a result.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from app.domain.contacts import Address
from app.domain.records import Category, Tier

SCOPED_TIERS = frozenset({Tier.ENTRY, Tier.EPISODE})
"""Tiers whose records belong to a conversation; what was learned from them is the whole bank's."""


@dataclass(frozen=True, slots=True)
class RecordFilter:
    """
    Conditions that all hold at once; an unset one holds for every record.

    `tags` must all be present; `metadata` compares top-level values as equal. `contacts` holds for entries and episodes
    alone: only theirs are seen. Times are inclusive at `created_after` and exclusive at `created_before`. `clock` is
    the moment by which expiry and supersession are judged, and `clock_is_past` says that the caller chose it. With
    `include_superseded`, retired records are seen too (deleted ones never).
    """

    clock: datetime
    tiers: frozenset[Tier] = frozenset(Tier)
    tags: frozenset[str] = frozenset()
    category: Category | None = None
    session_id: str | None = None
    source: str | None = None
    source_id: str | None = None
    contacts: frozenset[Address] | None = None
    created_after: datetime | None = None
    created_before: datetime | None = None
    metadata: Mapping[str, str | int | float | bool | None] = field(default_factory=dict)
    exclude_ids: frozenset[str] = frozenset()
    include_superseded: bool = False
    clock_is_past: bool = False

    @property
    def sees_retired(self) -> bool:
        """
        Whether superseded records can be let through: asked for, or alive by a clock in the past.
        """
        return self.include_superseded or self.clock_is_past

    @property
    def needs_look_up(self) -> bool:
        """
        Whether more is asked for than tiers, contacts, times and liveness, so that only the store can tell.
        """
        return bool(
            self.tags
            or self.category
            or self.session_id
            or self.source
            or self.source_id
            or self.metadata
            or self.exclude_ids
        )

    @property
    def is_narrow(self) -> bool:
        """
        Whether anything beyond liveness is asked for, so that an empty result may be the filter's doing.
        """
        return bool(
            self.needs_look_up
            or self.contacts is not None
            or self.tiers != frozenset(Tier)
            or self.created_after
            or self.created_before
        )
