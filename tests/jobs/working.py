"""
A queue on a real file, and workers with handlers that a test makes.
"""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from app.clock import FrozenClock
from app.config import JobSettings, load_settings
from app.domain.jobs import Job, NewJob
from app.jobs.handlers import Handler
from app.jobs.worker import Worker
from app.storage import jobs, migrate
from app.storage.engine import Storage
from app.storage.moments import to_micros

NOW = datetime(2026, 6, 30, 12, 0, tzinfo=UTC)


class Queue:
    """
    Jobs in a database of their own, under a clock that a test moves.
    """

    def __init__(self, directory: Path) -> None:
        self.clock = FrozenClock(NOW)
        self.storage = Storage(load_settings(storage={"data_dir": directory}).storage)
        migrate.upgrade(self.storage.writer_engine)

    async def add(self, kind: str, **fields: Any) -> str:
        """
        Enqueue a job, and return its id.
        """
        item = NewJob(kind, **fields)
        return await self.storage.write(lambda connection: jobs.enqueue(connection, item, self.now)[0])

    async def look(self, job_id: str) -> Job:
        """
        The job as it stands.
        """
        found = await self.storage.read(lambda connection: jobs.by_id(connection, job_id))
        assert found is not None
        return found

    async def every(self) -> list[Job]:
        """
        All jobs without a bank or with one, oldest first.
        """
        from app.storage.job_tables import job

        ids = await self.storage.read(lambda c: list(c.execute(job.select().order_by(job.c.job_id)).scalars("id")))
        return [await self.look(job_id) for job_id in ids]

    def worker(self, handlers: Mapping[str, Handler], **settings: Any) -> Worker:
        """
        A worker for these handlers.
        """
        return Worker(self.storage, handlers, self.clock, JobSettings(**settings))

    def later(self, seconds: float) -> None:
        """
        Let time pass.
        """
        self.clock.moment += timedelta(seconds=seconds)

    @property
    def now(self) -> int:
        """
        Microseconds by the queue's clock.
        """
        return to_micros(self.clock.now())
