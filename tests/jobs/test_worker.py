"""
The worker: whatever a handler does, its job ends in one state, and the others are done.
"""

import asyncio

import pytest

from app.domain.jobs import JobState
from app.errors import InvalidInput
from app.jobs.handlers import Hopeless, JobContext, Report, RetryLater
from tests.jobs.working import Queue


async def fine(context: JobContext) -> Report:
    return {"seen": context.job.payload}


async def test_t070_one_that_raises_does_not_stop_the_others(queue: Queue) -> None:
    async def third_raises(context: JobContext) -> Report:
        if context.job.payload["n"] == 3:
            raise KeyError("surprise")
        return {"n": context.job.payload["n"]}

    ids = [await queue.add("work", payload={"n": number}, max_attempts=2) for number in range(1, 11)]
    worker = queue.worker({"work": third_raises})
    await worker.run_due()
    queue.later(60)
    await worker.run_due()
    states = [(await queue.look(job)).state for job in ids]
    assert states == [JobState.FAILED if number == 3 else JobState.DONE for number in range(1, 11)]
    failed = await queue.look(ids[2])
    assert failed.error == "given up after 2 attempts: KeyError: 'surprise'"


async def test_d32_what_is_hopeless_is_not_tried_again(queue: Queue) -> None:
    calls = []

    async def hopeless(context: JobContext) -> Report:
        calls.append(context.job.id)
        raise Hopeless("the request was refused (400)")

    job = await queue.add("work")
    worker = queue.worker({"work": hopeless})
    await worker.run_due()
    queue.later(10_000)
    await worker.run_due()
    assert len(calls) == 1
    assert ((await queue.look(job)).state, (await queue.look(job)).error) == (
        JobState.FAILED,
        "the request was refused (400)",
    )


async def test_d32_a_named_wait_is_kept(queue: Queue) -> None:
    calls = []

    async def later(context: JobContext) -> Report:
        calls.append(context.job.attempts)
        if len(calls) == 1:
            raise RetryLater("rate limited (429)", after_s=120)
        return {}

    job = await queue.add("work")
    worker = queue.worker({"work": later})
    await worker.run_due()
    queue.later(119)
    assert await worker.run_due() == 0
    assert (await queue.look(job)).error == "rate limited (429)"
    queue.later(2)
    await worker.run_due()
    assert calls == [1, 2]
    assert (await queue.look(job)).state is JobState.DONE


async def test_attempts_run_out_into_a_visible_failure(queue: Queue) -> None:
    async def refused(_: JobContext) -> Report:
        raise InvalidInput.of("text", "cannot be")

    job = await queue.add("work", max_attempts=3)
    worker = queue.worker({"work": refused}, first_retry_s=1.0, longest_retry_s=4.0)
    for _ in range(5):
        await worker.run_due()
        queue.later(5)
    ended = await queue.look(job)
    assert (ended.state, ended.attempts) == (JobState.FAILED, 3)
    assert ended.error is not None
    assert ended.error.startswith("given up after 3 attempts: ")


async def test_progress_is_shown_and_a_cancelled_job_stops_at_its_next_step(queue: Queue) -> None:
    async def stepwise(context: JobContext) -> Report:
        await context.progress(step=1)
        await stop()
        await context.progress(step=2)
        raise AssertionError("went on")

    async def stop() -> None:
        from app.storage import jobs

        await queue.storage.write(lambda connection: jobs.cancel(connection, job, queue.now))

    job = await queue.add("work")
    await queue.worker({"work": stepwise}).run_due()
    ended = await queue.look(job)
    assert (ended.state, ended.report) == (JobState.CANCELLED, None)


async def test_sigterm_gives_back_what_does_not_end_in_time(queue: Queue) -> None:
    begun = asyncio.Event()

    async def endless(_: JobContext) -> Report:
        begun.set()
        await asyncio.Event().wait()
        return {}

    job = await queue.add("work")
    worker = queue.worker({"work": endless}, grace_s=0.0)
    worker.start()
    await begun.wait()
    await worker.stop()
    back = await queue.look(job)
    assert (back.state, back.attempts, back.worker) == (JobState.QUEUED, 0, None)
    assert not worker.state.running


async def test_sigterm_lets_what_is_in_hand_end(queue: Queue) -> None:
    begun, go = asyncio.Event(), asyncio.Event()

    async def slow(_: JobContext) -> Report:
        begun.set()
        await go.wait()
        return {"ended": True}

    first, second = await queue.add("work"), await queue.add("work")
    worker = queue.worker({"work": slow}, slots=1)
    worker.start()
    await begun.wait()
    stopping = asyncio.create_task(worker.stop())
    await asyncio.sleep(0)
    go.set()
    await stopping
    assert (await queue.look(first)).report == {"ended": True}
    assert (await queue.look(second)).state is JobState.QUEUED


async def test_two_workers_share_the_work(queue: Queue) -> None:
    done: list[str] = []

    async def note(context: JobContext) -> Report:
        done.append(context.job.id)
        await asyncio.sleep(0)
        return {}

    ids = [await queue.add("work") for _ in range(30)]
    workers = [queue.worker({"work": note}) for _ in range(2)]
    await asyncio.gather(*(worker.run_due() for worker in workers))
    assert sorted(done) == sorted(ids)


async def test_d02_a_worker_speaks_of_itself_only(queue: Queue) -> None:
    other = queue.worker({"work": fine})
    other.start()
    idle = queue.worker({"work": fine})
    assert not idle.provider_state().ok
    assert idle.provider_state().detail.startswith("not running")
    assert other.provider_state().ok
    await other.stop()
    assert not other.provider_state().ok


@pytest.mark.parametrize("kinds", [{}, {"other": fine}])
async def test_a_job_of_an_unknown_kind_waits(queue: Queue, kinds: dict[str, object]) -> None:
    job = await queue.add("work")
    assert await queue.worker(kinds).run_due() == 0  # type: ignore[arg-type]
    assert (await queue.look(job)).state is JobState.QUEUED
    assert await queue.worker({"work": fine}).run_due() == 1
