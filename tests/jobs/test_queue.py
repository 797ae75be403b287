"""
The queue: each piece of work waits once, is held by one worker, and is settled once.
"""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import Connection

from app.domain.jobs import JobState, NewJob, is_due, retry_delay_s
from app.storage import jobs
from app.storage.jobs import Lease
from tests.jobs.working import Queue

LEASE = 60_000_000


async def claim(queue: Queue, worker: str = "w1", *kinds: str) -> Lease | None:
    found = await queue.storage.write(lambda c: jobs.claim(c, worker, queue.now, LEASE, kinds or ("work",)))
    return None if found is None else found[1]


async def held(queue: Queue, worker: str = "w1") -> Lease:
    lease = await claim(queue, worker)
    assert lease is not None
    return lease


async def finish(queue: Queue, lease: Lease, **report: int) -> bool:
    return await queue.storage.write(lambda c: jobs.finish(c, lease, queue.now, dict(report)))


async def test_d49_the_same_work_waits_once(queue: Queue) -> None:
    first = await queue.add("work", dedupe_key="k")
    assert await queue.add("work", dedupe_key="k") == first
    assert await queue.add("work", dedupe_key="other") != first
    assert await queue.add("work") != await queue.add("work")


async def test_an_enqueued_job_is_gone_with_the_transaction_that_failed(queue: Queue) -> None:
    def work(connection: Connection) -> None:
        jobs.enqueue(connection, NewJob("work", dedupe_key="k"), queue.now)
        raise RuntimeError("after the enqueueing")

    with pytest.raises(RuntimeError):
        await queue.storage.write(work)
    assert await claim(queue) is None


async def test_smaller_priorities_and_earlier_times_go_first(queue: Queue) -> None:
    late = await queue.add("work", delay_s=5)
    plain = await queue.add("work")
    urgent = await queue.add("work", priority=-1)
    queue.later(10)
    order = [(await held(queue)).id for _ in range(3)]
    assert order == [urgent, plain, late]
    assert await claim(queue) is None


async def test_a_job_waits_for_its_time_and_its_kind(queue: Queue) -> None:
    await queue.add("work", delay_s=5)
    await queue.add("other")
    assert await claim(queue) is None
    queue.later(5)
    assert await claim(queue) is not None


async def test_t035_a_lease_that_ran_out_is_taken_over_and_the_first_holder_settles_nothing(queue: Queue) -> None:
    job = await queue.add("work")
    lost = await held(queue, "w1")
    assert await claim(queue, "w2") is None
    queue.later(61)
    second = await held(queue, "w2")
    assert await finish(queue, lost, by=1) is False
    assert await finish(queue, second, by=2) is True
    assert await finish(queue, second, by=3) is False
    done = await queue.look(job)
    assert (done.state, done.report, done.attempts) == (JobState.DONE, {"by": 2}, 2)


async def test_a_heartbeat_keeps_the_lease(queue: Queue) -> None:
    await queue.add("work")
    lease = await held(queue)
    queue.later(50)
    assert await queue.storage.write(lambda c: jobs.extend(c, lease, queue.now + LEASE, {"step": 1})) is False
    queue.later(50)
    assert await claim(queue, "w2") is None
    assert (await queue.look(lease.id)).progress == {"step": 1}


async def test_work_asked_for_while_it_runs_is_done_once_more(queue: Queue) -> None:
    first = await queue.add("work", dedupe_key="k", payload={"n": 1})
    lease = await held(queue)
    assert await queue.add("work", dedupe_key="k", payload={"n": 1}, delay_s=30) == first
    assert await queue.add("work", dedupe_key="k", payload={"n": 1}, delay_s=10) == first
    assert await finish(queue, lease) is True
    assert await claim(queue) is None
    queue.later(10)
    again = await held(queue)
    assert again.id != first
    assert (await queue.look(again.id)).payload == {"n": 1}
    assert await finish(queue, again) is True
    assert len(await queue.every()) == 2


async def test_work_asked_for_while_it_fails_is_one_job_still(queue: Queue) -> None:
    first = await queue.add("work", dedupe_key="k")
    lease = await held(queue)
    await queue.add("work", dedupe_key="k")
    await queue.storage.write(lambda c: jobs.release(c, lease, queue.now, "down"))
    assert [job.id for job in await queue.every()] == [first]
    assert await finish(queue, await held(queue)) is True
    assert len(await queue.every()) == 1


async def test_a_waiting_job_moves_to_the_time_that_is_asked_for_last(queue: Queue) -> None:
    async def postpone(delay_s: float) -> str:
        item = NewJob("work", dedupe_key="k", delay_s=delay_s)
        return await queue.storage.write(lambda c: jobs.postpone(c, item, queue.now)[0])

    assert await postpone(10) == await postpone(60)
    queue.later(30)
    assert await claim(queue) is None
    await postpone(0)
    assert await claim(queue) is not None


async def test_a_failed_job_is_tried_again_by_a_person_with_all_its_attempts(queue: Queue) -> None:
    job = await queue.add("work", dedupe_key="k")
    lease = await held(queue)
    await queue.storage.write(lambda c: jobs.fail(c, lease, queue.now, "no use"))
    assert await claim(queue) is None
    assert await queue.storage.write(lambda c: jobs.retry(c, job, queue.now)) is True
    assert await queue.storage.write(lambda c: jobs.retry(c, job, queue.now)) is False
    again = await queue.look(job)
    assert (again.state, again.attempts, again.error, again.finished_at) == (JobState.QUEUED, 0, None, None)


async def test_a_failed_job_gives_way_to_one_that_does_its_work(queue: Queue) -> None:
    job = await queue.add("work", dedupe_key="k")
    lease = await held(queue)
    await queue.storage.write(lambda c: jobs.fail(c, lease, queue.now, "no use"))
    await queue.add("work", dedupe_key="k")
    assert await queue.storage.write(lambda c: jobs.retry(c, job, queue.now)) is False


async def test_a_waiting_job_is_cancelled_and_a_running_one_is_told(queue: Queue) -> None:
    running, waiting = await queue.add("work"), await queue.add("work")
    lease = await held(queue)
    assert lease.id == running
    await queue.storage.write(lambda c: [jobs.cancel(c, job, queue.now) for job in (running, waiting)])
    assert (await queue.look(waiting)).state is JobState.CANCELLED
    assert (await queue.look(running)).state is JobState.RUNNING
    assert await queue.storage.write(lambda c: jobs.extend(c, lease, queue.now + LEASE, None)) is True


@given(st.integers(1, 200), st.floats(0.0, 600.0), st.floats(0.0, 86_400.0), st.floats(0.0, 0.999))
def test_waits_grow_up_to_a_bound(attempts: int, first: float, longest: float, spread: float) -> None:
    wait = retry_delay_s(attempts, first, longest, spread)
    assert 0.0 <= wait <= longest
    assert wait >= min(first, longest) * 0.5 * (1.0 - 1e-9)
    assert retry_delay_s(attempts + 1, first, longest, spread) >= wait


def test_d13_an_early_tick_does_not_skip_a_turn() -> None:
    day = 86_400.0
    assert is_due(None, 0.0, day)
    assert is_due(0.0, day - 299, day)
    assert not is_due(0.0, day - 301, day)
    assert not is_due(0.0, 53, 60.0)
