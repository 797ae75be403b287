"""
Durable memories: saving, reinforcing, changing, superseding and deleting them, each change a revision.
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from sqlalchemy import Connection

from app.clock import Clock
from app.config import MemorySettings, ServerSettings
from app.domain.consolidation.work import structure_job
from app.domain.filters import RecordFilter
from app.domain.jobs import JobState
from app.domain.records import Bank, Memory, MemoryRevision, Tier
from app.errors import Conflict, InvalidInput, NotFound
from app.services.banks import open_for_writing
from app.services.drafting import DeleteResult, Drafting, NewMemory, Saved
from app.services.indexer import Indexer
from app.services.memory_journal import Journal
from app.services.memory_writer import DELETED, MemoryWriter, refuse_taken_key, same_text
from app.services.preparation import Preparation
from app.storage import banks as bank_rows
from app.storage import jobs
from app.storage import memories as memory_rows
from app.storage.engine import Storage
from app.storage.memories import MemoryQuery
from app.storage.moments import to_micros

LOOK_EVERY_S = 0.05
"""Seconds between two looks at whether a job that is waited for has ended."""


class Memories:
    """
    The use cases of memories. `structures` tells whether there is a language model that structures free text, and
    `wake_workers` that there is a job for it.
    """

    def __init__(
        self,
        storage: Storage,
        preparation: Preparation,
        indexer: Indexer,
        clock: Clock,
        settings: MemorySettings,
        server: ServerSettings,
        structures: Callable[[], bool] = lambda: False,
        wake_workers: Callable[[], None] = lambda: None,
    ) -> None:
        self._storage = storage
        self._structures = structures
        self._wake_workers = wake_workers
        self._indexer = indexer
        self._clock = clock
        self._server = server
        self._drafting = Drafting(preparation, settings)
        self._journal = Journal(preparation)
        self.writer = MemoryWriter(self._drafting, self._journal)

    async def save(
        self, bank: str, given: Sequence[NewMemory], place: Callable[[int], str], wait_s: float = 0.0
    ) -> list[Saved]:
        """
        Store memories in one transaction; one whose content the bank knows reinforces it, a deleted one comes back.

        Free text is stored at once with a preview, and structured by a job where there is a model. That job is waited
        for at most `wait_s` seconds. `place` gives the path of the n-th memory in the request, for faults.

        Raises:
            InvalidInput: naming every bad field; nothing of the request is stored then.
            TooLarge: when a raw input is beyond `memory.raw_input_max_bytes`.
            Conflict: when a key is taken by another memory.
        """
        if not given:
            raise InvalidInput.of("memories", "must hold at least one memory")
        if len(given) > self._server.batch_max:
            raise InvalidInput.of("memories", f"at most {self._server.batch_max} at once, got {len(given)}")
        now = self._clock.now()
        drafts = self._drafting.drafts(given, now, place)

        def work(connection: Connection) -> list[Saved]:
            opened = open_for_writing(connection, bank, to_micros(now))
            return [
                self._with_job(connection, opened, self.writer.save(connection, opened, draft, now), draft, now)
                for draft in drafts
            ]

        saved = await self._storage.write(work)
        self._indexer.wake()
        if any(item.job for item in saved):
            self._wake_workers()
        return await self._waited(bank, saved, wait_s) if wait_s else saved

    async def get(self, bank: str, memory_id: str) -> Memory:
        """
        A memory that is live or superseded.

        Raises:
            NotFound: when there is no such bank or memory, or it was deleted.
        """
        return await self._storage.read(lambda connection: _present(connection, bank, memory_id)[1])

    async def page(
        self, bank: str, wanted: RecordFilter, query: MemoryQuery, limit: int, offset: int
    ) -> tuple[list[Memory], int]:
        """
        Memories of a bank, newest first, and how many there are.

        Raises:
            NotFound: when there is no such bank.
        """
        only = replace(wanted, tiers=frozenset({Tier.MEMORY}))

        def work(connection: Connection) -> tuple[list[Memory], int]:
            bank_id = bank_rows.require(connection, bank).bank_id
            return memory_rows.page(connection, bank_id, only, query, limit, offset)

        return await self._storage.read(work)

    async def history(self, bank: str, memory_id: str) -> list[MemoryRevision]:
        """
        Every state of a memory, oldest first, also of a deleted one.

        Raises:
            NotFound: when there is no such bank or memory.
        """

        def work(connection: Connection) -> list[MemoryRevision]:
            bank_id = bank_rows.require(connection, bank).bank_id
            found = memory_rows.by_id(connection, bank_id, memory_id)
            if found is None:
                raise NotFound(f"there is no memory {memory_id!r} in bank {bank!r}")
            return memory_rows.revisions(connection, bank_id, found.record.seq)

        return await self._storage.read(work)

    async def amend(self, bank: str, memory_id: str, changes: Mapping[str, Any]) -> Memory:
        """
        Change the named fields of a memory; all others stay. A changed content loses its vector until it has a new one.

        Raises:
            InvalidInput: naming every bad field.
            NotFound: when there is no such bank or memory, or it was deleted.
            Conflict: when another live memory has that content or key, or this one is superseded.
        """
        now = self._clock.now()

        def work(connection: Connection) -> Memory:
            found, old = _present(connection, bank, memory_id)
            if not old.record.is_active:
                raise Conflict(f"memory {memory_id!r} is superseded by {old.record.superseded_by!r}")
            new = self._drafting.amended(old, changes, now)
            if new == old:
                return old
            twin = _live_twin(connection, found.bank_id, new)
            if twin is not None and twin.record.seq != old.record.seq:
                raise Conflict(f"memory {twin.record.id!r} has this content already")
            refuse_taken_key(connection, found.bank_id, new)
            return self._journal.change(connection, found, old, new, "updated", None, now)

        changed = await self._storage.write(work)
        self._indexer.wake()
        return changed

    async def supersede(
        self, bank: str, memory_id: str, by: str, *, reinforce: bool = False, reason: str | None = None
    ) -> tuple[Memory, Memory]:
        """
        Retire a memory in favour of another; with `reinforce` the survivor, unless pinned, takes over its observations.

        Returns:
            The retired memory and the survivor.

        Raises:
            InvalidInput: when a memory is to supersede itself.
            NotFound: when there is no such bank or memory.
            Conflict: when the retired one is pinned or retired already, or the survivor is not live.
        """
        if by == memory_id:
            raise InvalidInput.of("by", "a memory cannot supersede itself")
        now = self._clock.now()

        def work(connection: Connection) -> tuple[Memory, Memory]:
            found, loser = _present(connection, bank, memory_id)
            _, winner = _present(connection, bank, by)
            return self.writer.supersede(connection, found, loser, winner, now, reinforce=reinforce, reason=reason)

        return await self._storage.write(work)

    async def delete(self, bank: str, ids: Sequence[str], *, purge: bool = False) -> DeleteResult:
        """
        Delete memories: a tombstone each, or with `purge` every trace of them.

        Raises:
            NotFound: when there is no such bank.
        """
        now = self._clock.now()

        def work(connection: Connection) -> DeleteResult:
            opened = bank_rows.require(connection, bank)
            deleted, missing = [], []
            for memory_id in dict.fromkeys(ids):
                found = memory_rows.by_id(connection, opened.bank_id, memory_id)
                if found is None or (found.record.invalid_reason == DELETED and not purge):
                    missing.append(memory_id)
                    continue
                deleted.append(memory_id)
                if purge:
                    self._journal.erase(connection, opened, found, now)
                else:
                    gone = replace(found, record=replace(found.record, invalid_at=now, invalid_reason=DELETED))
                    self._journal.change(connection, opened, found, gone, DELETED, None, now)
            return DeleteResult(tuple(deleted), tuple(missing))

        result = await self._storage.write(work)
        if purge and result.deleted:
            await self._storage.checkpoint()
        return result

    def _with_job(self, connection: Connection, bank: Bank, saved: Saved, draft: Memory, now: datetime) -> Saved:
        item = saved.memory
        if draft.structured or item.structured or not self._structures():
            return saved
        job = structure_job(bank.bank_id, item.record.id)
        return replace(saved, job=jobs.enqueue(connection, job, to_micros(now))[0])

    async def _waited(self, bank: str, saved: list[Saved], wait_s: float) -> list[Saved]:
        """The saved memories as they are once their jobs have ended, or the time is over."""
        waited_for = {item.job for item in saved if item.job is not None}

        def open_jobs(connection: Connection) -> bool:
            found = (jobs.by_id(connection, job) for job in waited_for)
            return any(job is not None and job.state in (JobState.QUEUED, JobState.RUNNING) for job in found)

        loop = asyncio.get_running_loop()
        give_up_at = loop.time() + wait_s
        waiting = await self._storage.read(open_jobs)
        while waiting and loop.time() < give_up_at:
            await asyncio.sleep(LOOK_EVERY_S)
            waiting = await self._storage.read(open_jobs)

        def work(connection: Connection) -> list[Saved]:
            bank_id = bank_rows.require(connection, bank).bank_id
            now_there = memory_rows.by_seqs(connection, bank_id, [item.memory.record.seq for item in saved])
            return [replace(item, memory=now_there.get(item.memory.record.seq, item.memory)) for item in saved]

        return await self._storage.read(work)


def _present(connection: Connection, bank: str, memory_id: str) -> tuple[Bank, Memory]:
    opened = bank_rows.require(connection, bank)
    found = memory_rows.by_id(connection, opened.bank_id, memory_id)
    if found is None or found.record.invalid_reason == DELETED:
        raise NotFound(f"there is no memory {memory_id!r} in bank {bank!r}")
    return opened, found


def _live_twin(connection: Connection, bank_id: int, item: Memory) -> Memory | None:
    twin = same_text(connection, bank_id, item)
    return twin if twin is not None and twin.record.is_active else None
