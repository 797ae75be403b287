"""
Memories across banks: how many each bank holds, and pages of them all, for whoever may see several banks.
"""

from collections.abc import Callable, Sequence
from datetime import datetime

from sqlalchemy import Connection

from app.clock import Clock
from app.domain.filters import RecordFilter
from app.domain.records import Category, Memory, Tier
from app.errors import InvalidInput
from app.storage import banks as bank_rows
from app.storage import memories as memory_rows
from app.storage.engine import Storage
from app.storage.memories import MemoryQuery

# Every memory of a bank, where no page is asked for.
ALL = 2**31


class Overview:
    """
    Reads over several banks at once, each only if `visible` lets its name through.
    """

    def __init__(self, storage: Storage, clock: Clock) -> None:
        self._storage = storage
        self._clock = clock

    async def counts(self, visible: Callable[[str], bool]) -> dict[str, int]:
        """
        How many live memories each visible bank holds; banks without any are left out.
        """

        def work(connection: Connection) -> dict[str, int]:
            names = [bank.name for bank in bank_rows.every(connection) if visible(bank.name)]
            return bank_rows.memories_per_bank(connection, names)

        return await self._storage.read(work)

    async def grouped(self, visible: Callable[[str], bool]) -> dict[str, list[Memory]]:
        """
        The live memories of each visible bank, newest first; banks without any are left out.
        """

        def work(connection: Connection) -> dict[str, list[Memory]]:
            found = {}
            for bank in bank_rows.every(connection):
                if visible(bank.name):
                    found[bank.name], _ = memory_rows.page(
                        connection, bank.bank_id, self._live(None), MemoryQuery(), ALL, 0
                    )
            return {name: memories for name, memories in found.items() if memories}

        return await self._storage.read(work)

    async def page(
        self, visible: Callable[[str], bool], contains: str | None, category: str | None, limit: int, offset: int
    ) -> tuple[list[tuple[str, Memory]], int]:
        """
        Live memories of all visible banks with their bank's name, newest first, and how many there are.

        Raises:
            InvalidInput: when there is no such category.
        """
        if category is not None and category not in set(Category):
            raise InvalidInput.of("category", f"must be one of {', '.join(Category)}, got {category!r}")
        wanted = self._live(None if category is None else Category(category))

        def work(connection: Connection) -> tuple[list[tuple[str, Memory]], int]:
            found: list[tuple[str, Memory]] = []
            total = 0
            for bank in bank_rows.every(connection):
                if not visible(bank.name):
                    continue
                # Whatever stands on the page is among the first limit + offset of its own bank.
                query = MemoryQuery(contains=contains)
                first, number = memory_rows.page(connection, bank.bank_id, wanted, query, limit + offset, 0)
                found += [(bank.name, item) for item in first]
                total += number
            found.sort(key=_newest_first)
            return found[offset : offset + limit], total

        return await self._storage.read(work)

    async def by_seqs(self, bank: str, seqs: Sequence[int]) -> dict[int, Memory]:
        """
        The memories of those numbers.

        Raises:
            NotFound: when there is no such bank.
        """

        def work(connection: Connection) -> dict[int, Memory]:
            return memory_rows.by_seqs(connection, bank_rows.require(connection, bank).bank_id, seqs)

        return await self._storage.read(work)

    def _live(self, category: Category | None) -> RecordFilter:
        return RecordFilter(clock=self._clock.now(), tiers=frozenset({Tier.MEMORY}), category=category)


def _newest_first(item: tuple[str, Memory]) -> tuple[float, str, int]:
    bank, memory = item
    created_at: datetime = memory.record.created_at
    return -created_at.timestamp(), bank, -memory.record.seq
