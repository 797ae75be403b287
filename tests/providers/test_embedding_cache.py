import asyncio
from collections.abc import Sequence

import numpy as np
import pytest

from app.providers.embedding_cache import QueryVectors
from app.providers.protocols import EmbeddingSpace, ProviderError, ProviderState, Vector


class CountingEmbedder:
    """
    Counts what it is asked, and answers when it is let.
    """

    def __init__(self, name: str = "a") -> None:
        self.space = EmbeddingSpace(name, "", 1, "mean", "", "")
        self.floor = 0.0
        self.asked: list[str] = []
        self.open = asyncio.Event()
        self.open.set()

    async def embed_documents(self, texts: Sequence[str]) -> list[Vector | None]:
        return [None for _ in texts]

    async def embed_query(self, text: str) -> Vector | None:
        self.asked.append(text)
        await self.open.wait()
        if text == "fails":
            raise ProviderError("embedder_timeout", "slow", retryable=True)
        return None if text == "." else np.array([len(text)], dtype=np.float32)

    async def close(self) -> None:
        return

    def state(self) -> ProviderState:
        return ProviderState("stub", True, "")


async def test_b20_a_query_is_embedded_once() -> None:
    cache, embedder = QueryVectors(10), CountingEmbedder()
    first, second = [await cache.vector(embedder, "abc") for _ in range(2)]
    assert first is second
    assert embedder.asked == ["abc"]
    assert (cache.counts.hits, cache.counts.misses) == (1, 1)


async def test_t046_another_space_has_vectors_of_its_own() -> None:
    cache, one, other = QueryVectors(10), CountingEmbedder("a"), CountingEmbedder("b")
    await cache.vector(one, "abc")
    await cache.vector(other, "abc")
    assert (one.asked, other.asked) == (["abc"], ["abc"])


async def test_a_text_without_a_vector_is_remembered_too() -> None:
    cache, embedder = QueryVectors(10), CountingEmbedder()
    assert [await cache.vector(embedder, ".") for _ in range(2)] == [None, None]
    assert embedder.asked == ["."]


async def test_the_least_recently_used_goes_first() -> None:
    cache, embedder = QueryVectors(2), CountingEmbedder()
    for text in ("a", "b", "a", "c", "a", "b"):
        await cache.vector(embedder, text)
    assert embedder.asked == ["a", "b", "c", "b"]
    assert len(cache) == 2


async def test_no_entries_means_none_are_kept() -> None:
    cache, embedder = QueryVectors(0), CountingEmbedder()
    await cache.vector(embedder, "a")
    await cache.vector(embedder, "a")
    assert (embedder.asked, len(cache)) == (["a", "a"], 0)


async def test_the_same_query_at_once_is_embedded_once() -> None:
    cache, embedder = QueryVectors(10), CountingEmbedder()
    found = await asyncio.gather(*(cache.vector(embedder, "abc") for _ in range(20)))
    assert embedder.asked == ["abc"]
    assert {id(vector) for vector in found} == {id(found[0])}


async def test_a_query_that_was_given_up_on_is_there_the_next_time() -> None:
    cache, embedder = QueryVectors(10), CountingEmbedder()
    embedder.open.clear()
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(cache.vector(embedder, "slow"), 0.01)
    embedder.open.set()
    assert await cache.vector(embedder, "slow") is not None
    assert embedder.asked == ["slow"]


async def test_a_failure_is_passed_on_and_not_remembered() -> None:
    cache, embedder = QueryVectors(10), CountingEmbedder()
    for _ in range(2):
        with pytest.raises(ProviderError):
            await cache.vector(embedder, "fails")
    assert embedder.asked == ["fails", "fails"]


async def test_closing_stops_what_is_running() -> None:
    cache, embedder = QueryVectors(10), CountingEmbedder()
    embedder.open.clear()
    waiting = asyncio.create_task(cache.vector(embedder, "slow"))
    await asyncio.sleep(0)
    await cache.close()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    assert len(cache) == 0
