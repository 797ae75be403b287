"""
Stand-ins for parts that a test must steer: embedders that behave well, slowly or badly.
"""

import asyncio
import hashlib
from collections.abc import Sequence

import numpy as np

from app.providers.protocols import EmbeddingSpace, ProviderError, ProviderState, Vector


class WordEmbedder:
    """
    A bag of words as a vector: texts that share words are near, the same text always gives the same vector.

    `scale` multiplies every vector, as a server might that does not normalise. `synonyms` maps a word to the one whose
    direction it takes.
    """

    def __init__(
        self,
        dimensions: int = 64,
        name: str = "words",
        floor: float = 0.2,
        scale: float = 1.0,
        synonyms: dict[str, str] | None = None,
    ) -> None:
        self.space = EmbeddingSpace(name, "", dimensions, "bag", "", "")
        self.floor = floor
        self._scale = scale
        self._synonyms = synonyms or {}
        self.documents: list[str] = []
        self.queries: list[str] = []

    async def embed_documents(self, texts: Sequence[str]) -> list[Vector | None]:
        self.documents += texts
        return [self.vector(text) for text in texts]

    async def embed_query(self, text: str) -> Vector | None:
        self.queries.append(text)
        return self.vector(text)

    async def close(self) -> None:
        self.documents.clear()

    def state(self) -> ProviderState:
        return ProviderState("words", True, "a bag of words")

    def vector(self, text: str) -> Vector | None:
        """
        The vector of a text; None for one without a word.
        """
        words = [word.strip(".,?!:\"'").lower() for word in text.split()]
        total = np.zeros(self.space.dimensions)
        for word in words:
            if word:
                total += self._direction(self._synonyms.get(word, word))
        length = np.linalg.norm(total)
        return None if length == 0 else (self._scale * total / length).astype(np.float32)

    def _direction(self, word: str) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
        seed = int.from_bytes(hashlib.blake2b(word.encode(), digest_size=8).digest())
        return np.random.default_rng(seed).normal(size=self.space.dimensions)


class GatedEmbedder(WordEmbedder):
    """
    Embeds documents only once its gate is opened, as a slow model would.
    """

    def __init__(self, dimensions: int = 64, name: str = "words") -> None:
        super().__init__(dimensions, name)
        self.gate = asyncio.Event()
        self.asked = asyncio.Event()

    async def embed_documents(self, texts: Sequence[str]) -> list[Vector | None]:
        self.asked.set()
        await self.gate.wait()
        return await super().embed_documents(texts)


class FailingEmbedder(WordEmbedder):
    """
    Fails as long as `broken` is set.
    """

    def __init__(self) -> None:
        super().__init__()
        self.broken = True

    async def embed_documents(self, texts: Sequence[str]) -> list[Vector | None]:
        self._refuse()
        return await super().embed_documents(texts)

    async def embed_query(self, text: str) -> Vector | None:
        self._refuse()
        return await super().embed_query(text)

    def _refuse(self) -> None:
        if self.broken:
            raise ProviderError("embedder_unreachable", "no connection", retryable=True)
