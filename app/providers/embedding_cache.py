"""
Keeps the vectors of recent queries, and lets a query that is asked twice at once be embedded once.
"""

import asyncio
from collections import OrderedDict
from dataclasses import dataclass

from app.providers.protocols import Embedder, Vector

Key = tuple[str, str]


@dataclass(slots=True)
class CacheCounts:
    """
    How the cache has served since the start.
    """

    hits: int = 0
    misses: int = 0


class QueryVectors:
    """
    Query vectors by (space identity, text), the least recently used dropped first. Used from one event loop.
    """

    def __init__(self, entries: int) -> None:
        """
        Keep at most `entries` vectors; 0 keeps none.
        """
        self.counts = CacheCounts()
        self._entries = entries
        self._vectors: OrderedDict[Key, Vector | None] = OrderedDict()
        self._running: dict[Key, asyncio.Task[Vector | None]] = {}

    def __len__(self) -> int:
        return len(self._vectors)

    async def vector(self, embedder: Embedder, text: str) -> Vector | None:
        """
        The query's vector, from memory or from the embedder; None for a text that has none.

        Whoever stops waiting (a deadline) does not stop the embedding: its vector is there for the next time.

        Raises:
            ProviderError: as the embedder does; a failure is not remembered.
        """
        key = (embedder.space.identity(), text)
        if key in self._vectors:
            self.counts.hits += 1
            self._vectors.move_to_end(key)
            return self._vectors[key]
        self.counts.misses += 1
        task = self._running.get(key)
        if task is None:
            task = asyncio.create_task(embedder.embed_query(text))
            self._running[key] = task
            task.add_done_callback(lambda done: self._settle(key, done))
        return await asyncio.shield(task)

    async def close(self) -> None:
        """
        Stop what is still being embedded.
        """
        running = list(self._running.values())
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)

    def _settle(self, key: Key, done: "asyncio.Task[Vector | None]") -> None:
        self._running.pop(key, None)
        if done.cancelled() or done.exception() is not None:
            return
        self._vectors[key] = done.result()
        while len(self._vectors) > self._entries:
            self._vectors.popitem(last=False)
