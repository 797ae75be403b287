"""
Keeps each bank's core tier at hand, so that the usual context costs no read of it.
"""

from collections import OrderedDict
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol

from app.clock import Clock
from app.config import CoreSettings
from app.domain.context.core_tier import core_tier
from app.domain.records import Memory


class CoreRecords(Protocol):
    """
    Where the core tier is read from.
    """

    @property
    def writes(self) -> int:
        """
        How many writes this process has made, to whichever bank.
        """
        ...

    async def version(self, bank: str) -> Hashable:
        """
        A value that is another one after every change of what the bank remembers, and for every other bank that ever
        bears the name.

        Raises:
            NotFound: when there is no such bank.
        """
        ...

    async def core(self, bank: str, min_confidence: float, limit: int) -> Sequence[Memory]:
        """
        The live preferences and facts of at least that confidence, surest first, then most used.

        Raises:
            NotFound: when there is no such bank.
        """
        ...


@dataclass(slots=True)
class _Kept:
    """One bank's core tier as it was read, by limit, with the moment of each reading."""

    version: Hashable
    checked_at: datetime
    writes: int
    by_limit: dict[int, tuple[datetime, tuple[Memory, ...]]] = field(default_factory=dict)


class CoreTier:
    """
    The core tier of any bank, read anew when the bank's version is another one or the reading is `cache_s` old.

    The version is looked up after each write of this process, and else at most every `refresh_s`. Expiry is judged at
    every call.
    """

    def __init__(self, records: CoreRecords, settings: CoreSettings, clock: Clock) -> None:
        self._records = records
        self._settings = settings
        self._clock = clock
        self._banks: OrderedDict[str, _Kept] = OrderedDict()

    async def of(self, bank: str, limit: int) -> list[Memory]:
        """
        The bank's core memories, `limit` and `core.limit` at most.

        Raises:
            NotFound: when there is no such bank.
        """
        limit = min(limit, self._settings.limit)
        now = self._clock.now()
        kept = await self._current(bank, now)
        known = kept.by_limit.get(limit)
        if known is None or not _is_fresh(known[0], now, self._settings.cache_s):
            memories = await self._records.core(bank, self._settings.min_confidence, limit)
            known = kept.by_limit[limit] = (now, tuple(memories))
        return core_tier(known[1], self._settings.min_confidence, limit, now)

    async def _current(self, bank: str, now: datetime) -> _Kept:
        kept = self._banks.get(bank)
        writes = self._records.writes
        if kept is None or kept.writes != writes or not _is_fresh(kept.checked_at, now, self._settings.refresh_s):
            # A bank that is gone must not be answered from here, so nothing is kept until its version is known; and a
            # write that comes while the version is read would make what was kept look current.
            self._banks.pop(bank, None)
            version = await self._records.version(bank)
            if kept is None or kept.version != version or self._records.writes != writes:
                kept = _Kept(version, now, writes)
            kept.checked_at, kept.writes = now, writes
            self._banks[bank] = kept
        self._banks.move_to_end(bank)
        while len(self._banks) > self._settings.cache_banks:
            self._banks.popitem(last=False)
        return kept


def _is_fresh(read_at: datetime, now: datetime, seconds: float) -> bool:
    # A clock that was set back makes a reading look as if it came from the future: that one is not fresh either.
    return 0.0 <= (now - read_at).total_seconds() < seconds
