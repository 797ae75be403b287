import threading
from collections.abc import Callable
from concurrent.futures import CancelledError, Future

import pytest

from app.providers.priority_pool import PriorityPool


@pytest.fixture
def held() -> tuple[PriorityPool[str], threading.Event, "Future[None]"]:
    """
    A pool of one thread whose thread is busy until the event is set.
    """
    pool = PriorityPool(["only"], "test")
    go, busy = threading.Event(), threading.Event()

    def wait(_: str) -> None:
        busy.set()
        go.wait()

    running = pool.submit(wait, urgent=False)
    busy.wait()
    return pool, go, running


def note(where: list[str], what: str) -> Callable[[str], None]:
    return lambda _: where.append(what)


def test_the_urgent_overtakes_what_is_waiting(held: tuple[PriorityPool[str], threading.Event, "Future[None]"]) -> None:
    pool, go, _ = held
    order: list[str] = []
    waiting = [pool.submit(note(order, f"document {n}"), urgent=False) for n in range(50)]
    urgent = [pool.submit(note(order, f"query {n}"), urgent=True) for n in range(2)]
    go.set()
    for future in (*waiting, *urgent):
        future.result()
    pool.close()
    assert order == ["query 0", "query 1", *(f"document {n}" for n in range(50))]


def test_a_cancelled_job_does_not_run(held: tuple[PriorityPool[str], threading.Event, "Future[None]"]) -> None:
    pool, go, _ = held
    ran: list[str] = []
    first, second = (pool.submit(note(ran, name), urgent=False) for name in ("first", "second"))
    assert first.cancel()
    go.set()
    second.result()
    pool.close()
    assert ran == ["second"]


def test_closing_cancels_what_waits_and_finishes_what_runs(
    held: tuple[PriorityPool[str], threading.Event, "Future[None]"],
) -> None:
    pool, go, running = held
    waiting = [pool.submit(lambda _: None, urgent=urgent) for urgent in (False, True)]
    closer = threading.Thread(target=pool.close)
    closer.start()
    for future in waiting:
        with pytest.raises(CancelledError):
            future.result()
    go.set()
    closer.join()
    assert running.done()
    assert running.exception() is None


def test_each_thread_has_a_resource_of_its_own() -> None:
    pool = PriorityPool(["a", "b"], "test")
    meet = threading.Barrier(2)

    def name(resource: str) -> str:
        meet.wait()
        return resource

    futures = [pool.submit(name, urgent=False) for _ in range(2)]
    assert {future.result() for future in futures} == {"a", "b"}
    pool.close()


def test_a_failure_goes_to_whoever_asked_and_the_thread_lives_on() -> None:
    pool = PriorityPool([1], "test")
    failed = pool.submit(lambda one: one // 0, urgent=False)
    with pytest.raises(ZeroDivisionError):
        failed.result()
    assert pool.submit(lambda one: one + 1, urgent=False).result() == 2
    pool.close()
