"""
The background indexer: gives committed units their vectors, in batches, and picks up where it stopped.
"""

import asyncio
import contextlib
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

import structlog
from sqlalchemy import Connection

from app.clock import Clock
from app.domain.units import spoken
from app.providers.protocols import Embedder, ProviderError
from app.storage import banks as bank_rows
from app.storage.engine import Storage
from app.storage.moments import to_micros
from app.storage.vectors import rows, spaces
from app.storage.vectors.rows import NewVector, PendingUnit

log = structlog.get_logger(__name__)

FIRST_PAUSE_S = 1.0
# What another process wrote is seen without a signal.
LOOK_EVERY_S = 2.0
LONGEST_PAUSE_S = 60.0
LAGS_KEPT = 1000


@dataclass(frozen=True, slots=True)
class IndexerState:
    """
    How the indexer is doing. `lag_ms` is the median time from a write to its semantic recall, of the latest units.
    """

    running: bool
    waiting: int
    indexed: int
    lag_ms: float | None
    problem: str | None


class Indexer:
    """
    Embeds what waits, as long as there is an embedder; `wake` tells it that there is more.
    """

    def __init__(self, storage: Storage, embedder: Embedder | None, clock: Clock, batch_size: int) -> None:
        self._storage = storage
        self._embedder = embedder
        self._clock = clock
        self._batch_size = batch_size
        self._signal = asyncio.Event()
        self._idle = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._lags: deque[float] = deque(maxlen=LAGS_KEPT)
        self._indexed = 0
        self._problem: str | None = None
        self._space_id: int | None = None

    @property
    def space_id(self) -> int | None:
        """
        The number of the embedder's space, once the indexer has started.
        """
        return self._space_id

    async def start(self) -> None:
        """
        Queue what has no vector in the embedder's space, then work in the background.
        """
        embedder = self._embedder
        if embedder is None:
            return
        now = to_micros(self._clock.now())

        def work(connection: Connection) -> tuple[int, int]:
            space_id = spaces.ensure(connection, embedder.space.identity(), embedder.space.dimensions, now)
            return space_id, rows.queue_missing(connection, space_id, now)

        space_id, queued = await self._storage.write(work)
        self._space_id = space_id
        if queued:
            log.info("vectors_queued", units=queued, space=embedder.space.name)
        self._task = asyncio.create_task(self._run(embedder, space_id), name="indexer")

    async def stop(self) -> None:
        """
        Stop after the batch in hand; what is left stays queued in the store.
        """
        if self._task is not None:
            self._task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._task
            self._task = None

    def wake(self) -> None:
        """
        Say that new units wait.
        """
        self._idle.clear()
        self._signal.set()

    async def drained(self) -> None:
        """
        Wait until nothing waits any more; returns at once where nothing is being indexed.
        """
        if self._task is not None and not self._task.done():
            await self._idle.wait()

    async def state(self) -> IndexerState:
        """
        How the indexer is doing.
        """
        waiting = await self._storage.read(rows.waiting)
        return IndexerState(
            running=self._task is not None and not self._task.done(),
            waiting=waiting,
            indexed=self._indexed,
            lag_ms=median(self._lags) if self._lags else None,
            problem=self._problem,
        )

    async def _run(self, embedder: Embedder, space_id: int) -> None:
        pause = FIRST_PAUSE_S
        while True:
            self._signal.clear()
            batch = await self._storage.read(lambda connection: rows.pending(connection, self._batch_size))
            if not batch:
                if not self._signal.is_set():  # else more was written while the queue was read
                    self._idle.set()
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(self._signal.wait(), LOOK_EVERY_S)
                continue
            try:
                await self._index(embedder, space_id, batch)
            except ProviderError as error:
                self._problem = str(error)
                log.warning("embedder_unavailable", reason=str(error), retry_in_s=pause)
                await asyncio.sleep(pause)
                pause = min(pause * 2, LONGEST_PAUSE_S)
            else:
                self._problem, pause = None, FIRST_PAUSE_S

    async def _index(self, embedder: Embedder, space_id: int, batch: Sequence[PendingUnit]) -> None:
        vectors = await embedder.embed_documents([spoken(item.passage, item.speaker) for item in batch])
        made = [
            NewVector(item.bank_id, item.seq, item.part, item.text_hash, vector)
            for item, vector in zip(batch, vectors, strict=True)
        ]
        now = to_micros(self._clock.now())

        def work(connection: Connection) -> None:
            for bank_id in rows.put(connection, space_id, made):
                version = bank_rows.touch(connection, bank_id)
                rows.touch(connection, bank_id, version, [item.seq for item in made if item.bank_id == bank_id])

        await self._storage.write(work)
        self._indexed += len(made)
        self._lags.extend((now - item.queued_at) / 1000 for item in batch)
