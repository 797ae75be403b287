"""
The clock of background work: at every tick it enqueues what is due by its interval, and what no job stands for.
"""

import asyncio
import contextlib
from collections.abc import Callable, Sequence
from datetime import datetime

import structlog
from sqlalchemy import Connection

from app.clock import Clock
from app.config import JobSettings
from app.domain.jobs import NewJob
from app.storage import jobs
from app.storage.engine import Storage
from app.storage.moments import to_micros

log = structlog.get_logger(__name__)

Due = Callable[[Connection, datetime], Sequence[NewJob]]
"""Reads what is due now. Each job has a dedupe key, so that of two schedulers' jobs one is left."""


class Schedule:
    """
    Ticks every `jobs.tick_s` seconds; `rare` sources are asked at the start and every `jobs.catch_up_s`.
    """

    def __init__(
        self,
        storage: Storage,
        clock: Clock,
        settings: JobSettings,
        wake: Callable[[], None],
        often: Sequence[Due],
        rare: Sequence[Due],
    ) -> None:
        self._storage = storage
        self._clock = clock
        self._settings = settings
        self._wake = wake
        self._often = tuple(often)
        self._rare = tuple(rare)
        self._caught_up_at: datetime | None = None
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """
        Begin to tick; the first tick is at once.
        """
        if self._task is None:
            self._task = asyncio.create_task(self._run(), name="schedule")

    async def stop(self) -> None:
        """
        Stop ticking.
        """
        if self._task is None:
            return
        self._task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await self._task
        self._task = None

    async def tick(self) -> int:
        """
        Enqueue what is due, and return how many jobs are new.
        """
        now = self._clock.now()
        since = None if self._caught_up_at is None else (now - self._caught_up_at).total_seconds()
        rare = since is None or since >= self._settings.catch_up_s
        sources = (*self._often, *self._rare) if rare else self._often

        def look(connection: Connection) -> list[NewJob]:
            return [item for source in sources for item in source(connection, now)]

        due = await self._storage.read(look)
        fresh = 0
        if due:

            def work(connection: Connection) -> int:
                return sum(jobs.enqueue(connection, item, to_micros(now))[1] for item in due)

            fresh = await self._storage.write(work)
        if rare:
            self._caught_up_at = now
        if fresh:
            self._wake()
        return fresh

    async def _run(self) -> None:
        while True:
            try:
                await self.tick()
            except Exception:
                # The store may be busy for a while; what is due stays due until the next tick.
                log.exception("schedule_tick_failed")
            await asyncio.sleep(self._settings.tick_s)
