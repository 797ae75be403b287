"""
Threads that each own a resource, with work in two classes: the urgent overtakes what is waiting.
"""

import os
import queue
import sys
import threading
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, Generic, TypeVar

R = TypeVar("R")
T = TypeVar("T")


class PriorityPool(Generic[R]):
    """
    One thread for each resource; a job gets the resource of the thread that runs it.

    A job that is running is never interrupted, so that an urgent one waits for at most one job of the other class.
    The threads yield the processor to the rest of the process by `niceness` steps (0 to 19), where the system has such
    a thing for single threads.
    """

    def __init__(self, resources: Sequence[R], name: str, niceness: int = 0) -> None:
        unclaimed: queue.SimpleQueue[R] = queue.SimpleQueue()
        for resource in resources:
            unclaimed.put(resource)
        self._own = threading.local()
        self._urgent: deque[tuple[Future[Any], Callable[[R], Any]]] = deque()
        self._waiting: deque[tuple[Future[Any], Callable[[R], Any]]] = deque()
        self._threads = ThreadPoolExecutor(
            max_workers=len(resources),
            thread_name_prefix=name,
            initializer=lambda: self._begin(unclaimed.get(), niceness),
        )

    def _begin(self, resource: R, niceness: int) -> None:
        self._own.resource = resource
        if niceness and sys.platform == "linux":
            thread = threading.get_native_id()
            os.setpriority(os.PRIO_PROCESS, thread, os.getpriority(os.PRIO_PROCESS, thread) + niceness)

    def submit(self, job: Callable[[R], T], *, urgent: bool) -> "Future[T]":
        """
        Have the job run; its future can be cancelled until it starts.
        """
        future: Future[T] = Future()
        (self._urgent if urgent else self._waiting).append((future, job))
        self._threads.submit(self._run_next)
        return future

    def close(self) -> None:
        """
        Cancel what has not started and wait for what has.
        """
        for jobs in (self._urgent, self._waiting):
            while jobs:
                jobs.popleft()[0].cancel()
        self._threads.shutdown(wait=True)

    def _run_next(self) -> None:
        # Each call stands for one submitted job, but which job is decided only now.
        for jobs in (self._urgent, self._waiting):
            try:
                future, job = jobs.popleft()
            except IndexError:
                continue
            if future.set_running_or_notify_cancel():
                try:
                    future.set_result(job(self._own.resource))
                except BaseException as error:  # noqa: BLE001 - it belongs to whoever waits for the future
                    future.set_exception(error)
            return
