"""
The worker: claims jobs, keeps their leases alive, and settles them, whatever their handlers do.
"""

import asyncio
import contextlib
import os
import random
import secrets
import socket
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import structlog
from sqlalchemy import Connection

from app.clock import Clock
from app.config import JobSettings
from app.domain.jobs import Job, retry_delay_s
from app.errors import LaminaError
from app.jobs.handlers import Cancelled, Handler, Hopeless, JobContext, RetryLater
from app.providers.protocols import ProviderState
from app.storage import jobs
from app.storage.engine import Storage
from app.storage.jobs import Lease
from app.storage.moments import to_micros

log = structlog.get_logger(__name__)


class LeaseLost(Exception):
    """
    Another worker holds the job by now: what this one did must not be settled.
    """


@dataclass(frozen=True, slots=True)
class WorkerState:
    """
    How a worker is doing: running or not, jobs in hand, jobs settled since its start.
    """

    running: bool
    name: str
    in_hand: int
    settled: int


class Worker:
    """
    Runs handlers by kind, `settings.slots` at a time. Delivery is at least once: handlers leave the same state however
    often they run. `bell` is set by whoever knows of work.
    """

    def __init__(
        self,
        storage: Storage,
        handlers: Mapping[str, Handler],
        clock: Clock,
        settings: JobSettings,
        bell: asyncio.Event | None = None,
    ) -> None:
        self.name = f"{socket.gethostname()}-{os.getpid()}-{secrets.token_hex(4)}"
        self._storage = storage
        self._handlers = dict(handlers)
        self._clock = clock
        self._settings = settings
        self._signal = bell or asyncio.Event()
        self._stopping = False
        self._slots: list[asyncio.Task[None]] = []
        self._in_hand = 0
        self._settled = 0

    @property
    def state(self) -> WorkerState:
        """
        How the worker is doing.
        """
        running = any(not slot.done() for slot in self._slots)
        return WorkerState(running, self.name, self._in_hand, self._settled)

    def provider_state(self) -> ProviderState:
        """
        How the worker is doing, in words; for the doctor.
        """
        state = self.state
        if not state.running:
            return ProviderState("jobs", False, "not running in this process; see jobs.workers, or run `lamina worker`")
        return ProviderState("jobs", True, f"worker {state.name}: {state.in_hand} in hand, {state.settled} settled")

    def start(self) -> None:
        """
        Begin to take jobs.
        """
        self._stopping = False
        self._slots = [asyncio.create_task(self._run(), name=f"worker-{slot}") for slot in range(self._settings.slots)]

    def wake(self) -> None:
        """
        Say that there is work.
        """
        self._signal.set()

    async def stop(self) -> None:
        """
        Take no more jobs; what is in hand gets `settings.grace_s` to end and is given back otherwise.
        """
        self._stopping = True
        self._signal.set()
        if not self._slots:
            return
        _, late = await asyncio.wait(self._slots, timeout=self._settings.grace_s)
        for slot in late:
            slot.cancel()
        for slot in late:
            with contextlib.suppress(asyncio.CancelledError):
                await slot
        self._slots = []

    async def run_due(self, limit: int = 1_000_000) -> int:
        """
        Run what is due now, one job after another, and return how many were settled; for tests and one-shot runs.
        """
        done = 0
        while done < limit and await self._take_one():
            done += 1
        return done

    async def _run(self) -> None:
        while not self._stopping:
            self._signal.clear()
            try:
                worked = await self._take_one()
            except Exception:
                # The store may be busy or gone for a while; the job stays queued or its lease runs out.
                log.exception("worker_cannot_take_jobs")
                worked = False
            if not worked and not self._stopping:
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(self._signal.wait(), self._settings.poll_s)

    async def _take_one(self) -> bool:
        lease_micros = int(self._settings.lease_s * 1_000_000)
        kinds = list(self._handlers)
        claimed = await self._storage.write(
            lambda connection: jobs.claim(connection, self.name, self._now(), lease_micros, kinds)
        )
        if claimed is None:
            return False
        self._in_hand += 1
        try:
            await self._work(*claimed)
        finally:
            self._in_hand -= 1
        self._settled += 1
        return True

    async def _work(self, item: Job, lease: Lease) -> None:
        heartbeat = asyncio.create_task(self._beat(lease))
        try:
            await self._attempt(item, lease)
        except asyncio.CancelledError:
            await asyncio.shield(self._give_back(lease))
            raise
        except LeaseLost:
            log.warning("lease_lost", job=item.id, kind=item.kind)
        finally:
            heartbeat.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await heartbeat

    async def _attempt(self, item: Job, lease: Lease) -> None:
        context = JobContext(item, lambda progress: self._extend(lease, dict(progress)))
        try:
            report = await self._handlers[item.kind](context)
        except (asyncio.CancelledError, LeaseLost):
            raise
        except Cancelled:
            await self._storage.write(lambda connection: jobs.cancel_held(connection, lease, self._now()))
        except Hopeless as error:
            await self._fail(lease, error.detail)
        except Exception as error:  # noqa: BLE001 - whatever a handler raises ends in a retry or a visible failure
            await self._again(item, lease, error)
        else:
            await self._storage.write(lambda connection: jobs.finish(connection, lease, self._now(), report))

    async def _again(self, item: Job, lease: Lease, error: Exception) -> None:
        detail = error.detail if isinstance(error, LaminaError) else f"{type(error).__name__}: {error}"
        if not isinstance(error, LaminaError):
            log.error("job_raised", job=item.id, kind=item.kind, exc_info=error)
        if lease.attempt >= item.max_attempts:
            await self._fail(lease, f"given up after {lease.attempt} attempts: {detail}")
            return
        settings = self._settings
        wait_s = retry_delay_s(lease.attempt, settings.first_retry_s, settings.longest_retry_s, random.random())  # noqa: S311
        if isinstance(error, RetryLater) and error.after_s is not None:
            wait_s = max(wait_s, error.after_s)
        log.warning("job_failed", job=item.id, kind=item.kind, attempt=lease.attempt, error=detail, again_in_s=wait_s)

        def work(connection: Connection) -> bool:
            return jobs.release(connection, lease, self._now() + int(wait_s * 1_000_000), detail)

        await self._storage.write(work)

    async def _fail(self, lease: Lease, detail: str) -> None:
        log.error("job_given_up", job=lease.id, error=detail)
        await self._storage.write(lambda connection: jobs.fail(connection, lease, self._now(), detail))

    async def _give_back(self, lease: Lease) -> None:
        await self._storage.write(lambda connection: jobs.release(connection, lease, self._now(), None, counted=False))

    async def _beat(self, lease: Lease) -> None:
        while True:
            await asyncio.sleep(self._settings.lease_s / 3)
            with contextlib.suppress(LeaseLost, Cancelled):
                await self._extend(lease, None)

    async def _extend(self, lease: Lease, progress: dict[str, Any] | None) -> None:
        until = self._now() + int(self._settings.lease_s * 1_000_000)
        answer = await self._storage.write(lambda connection: jobs.extend(connection, lease, until, progress))
        if answer is None:
            raise LeaseLost(lease.id)
        if answer:
            raise Cancelled(f"job {lease.id} was cancelled")

    def _now(self) -> int:
        return to_micros(self._clock.now())
