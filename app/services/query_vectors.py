"""
The vector of a question: from the cache or the model, within its deadline, or the reason why there is none.
"""

import asyncio
import time
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from app.config import EmbeddingSettings
from app.providers.embedding_cache import QueryVectors
from app.providers.protocols import Embedder, ProviderError
from app.services.indexer import Indexer
from app.storage.protocols import Space

# Of a long text the beginning says what is asked; the model takes no more than some 500 tokens anyway.
QUERY_CHARS_MAX = 2000


@dataclass(frozen=True, slots=True, eq=False)
class QueryMeaning:
    """
    A question's vector in its space, or None and why in `degraded`; `floor` is the space's cosine for unrelated texts.
    """

    vector: npt.NDArray[np.float32] | None
    space: Space | None
    floor: float
    degraded: tuple[str, ...] = ()
    took_ms: float = 0.0


class QueryEmbedding:
    """
    Embeds questions. `reason` says why there is no embedder, where there is none.
    """

    def __init__(
        self, embedder: Embedder | None, reason: str, indexer: Indexer, cache: QueryVectors, settings: EmbeddingSettings
    ) -> None:
        self._embedder = embedder
        self._reason = reason
        self._indexer = indexer
        self._cache = cache
        self._deadline_s = settings.query_deadline_ms / 1000

    def not_asked(self) -> QueryMeaning:
        """
        The meaning of a question that is searched by words alone.
        """
        return QueryMeaning(None, self._space(), 0.0)

    async def of(self, text: str) -> QueryMeaning:
        """
        The vector of a question, or the reason why there is none.
        """
        embedder, space = self._embedder, self._space()
        if embedder is None or space is None:
            return QueryMeaning(None, None, 0.0, (self._reason,))
        started = time.perf_counter()
        vector = None
        degraded: tuple[str, ...] = ()
        try:
            async with asyncio.timeout(self._deadline_s):
                vector = await self._cache.vector(embedder, text[:QUERY_CHARS_MAX])
        except TimeoutError:
            degraded = (f"query_embedding_late: no vector within {self._deadline_s:g} s",)
        except ProviderError as error:
            degraded = (error.detail,)
        took_ms = (time.perf_counter() - started) * 1000
        return QueryMeaning(vector, space, embedder.floor, degraded, took_ms)

    def _space(self) -> Space | None:
        if self._embedder is None or self._indexer.space_id is None:
            return None
        return Space(self._indexer.space_id, self._embedder.space.dimensions)
