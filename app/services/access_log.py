"""
Counting which records were used, off the path of the request: gathered, then written in batches.
"""

import asyncio
import contextlib
from collections import Counter, defaultdict
from collections.abc import Iterable

import structlog
from sqlalchemy import Connection

from app.clock import Clock
from app.storage import access_counts
from app.storage import banks as bank_rows
from app.storage.engine import Storage
from app.storage.moments import to_micros

log = structlog.get_logger(__name__)


class AccessLog:
    """
    Gathers accesses by bank for `flush_s` seconds, then writes them. A crash may lose counts, never a record.
    """

    def __init__(self, storage: Storage, clock: Clock, flush_s: float) -> None:
        self._storage = storage
        self._clock = clock
        self._flush_s = flush_s
        self._gathered: defaultdict[str, Counter[str]] = defaultdict(Counter)
        self._task: asyncio.Task[None] | None = None

    def note(self, bank: str, ids: Iterable[str]) -> None:
        """
        Count one access of each record.
        """
        self._gathered[bank].update(ids)
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._later(), name="access-log")

    async def flush(self) -> None:
        """
        Write what was gathered.
        """
        gathered, self._gathered = self._gathered, defaultdict(Counter)
        if not gathered:
            return
        now = to_micros(self._clock.now())

        def work(connection: Connection) -> None:
            for bank, counts in gathered.items():
                found = bank_rows.find(connection, bank)
                if found is not None:
                    version = bank_rows.touch(connection, found.bank_id)
                    access_counts.add(connection, found.bank_id, counts, now, version)

        await self._storage.write(work)

    async def stop(self) -> None:
        """
        Write what was gathered and gather no more.
        """
        if self._task is not None:
            self._task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._task
        await self.flush()

    async def _later(self) -> None:
        await asyncio.sleep(self._flush_s)
        try:
            await self.flush()
        except Exception:
            # Counts are best effort: the next recall gathers anew, and the fault is in the log.
            log.exception("access_counts_not_written")
