"""
The schedule: what is due is enqueued once, whoever ticks.
"""

import asyncio
from datetime import datetime

from sqlalchemy import Connection

from app.config import JobSettings
from app.domain.jobs import NewJob
from app.jobs.schedule import Schedule
from tests.jobs.working import Queue


class Source:
    """
    Work that is always due.
    """

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self.asked = 0

    def __call__(self, _connection: Connection, _now: datetime) -> list[NewJob]:
        self.asked += 1
        return [NewJob(self.kind, dedupe_key=self.kind)]


def schedule(queue: Queue, often: Source, rare: Source, bell: asyncio.Event | None = None) -> Schedule:
    wake = (bell or asyncio.Event()).set
    return Schedule(queue.storage, queue.clock, JobSettings(catch_up_s=600), wake, [often], [rare])


async def test_d13_two_schedulers_make_one_job(queue: Queue) -> None:
    one = schedule(queue, Source("tidy"), Source("catch-up"))
    two = schedule(queue, Source("tidy"), Source("catch-up"))
    assert sum(await asyncio.gather(one.tick(), two.tick())) == 2
    assert sorted(job.kind for job in await queue.every()) == ["catch-up", "tidy"]


async def test_rare_sources_are_asked_at_the_start_and_then_rarely(queue: Queue) -> None:
    often, rare = Source("tidy"), Source("catch-up")
    ticking = schedule(queue, often, rare)
    for _ in range(11):
        await ticking.tick()
        queue.later(60)
    assert (often.asked, rare.asked) == (11, 2)


async def test_a_tick_that_found_work_wakes_the_worker(queue: Queue) -> None:
    bell = asyncio.Event()
    ticking = schedule(queue, Source("tidy"), Source("catch-up"), bell)
    await ticking.tick()
    assert bell.is_set()
    bell.clear()
    await ticking.tick()
    assert not bell.is_set()


async def test_the_first_tick_is_at_the_start(queue: Queue) -> None:
    bell = asyncio.Event()
    ticking = schedule(queue, Source("tidy"), Source("catch-up"), bell)
    ticking.start()
    await asyncio.wait_for(bell.wait(), 30)
    await ticking.stop()
    assert len(await queue.every()) == 2
