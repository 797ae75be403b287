"""
The vector cache: what it gives back, and what it must never give.
"""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from app.errors import StorageError
from eval.vector_cache import TimedEmbedder, VectorCache, cache_file
from tests.stand_ins import WordEmbedder

MAX_CHARS = 100
TEXTS = ["red apples", "green pears", "red apples"]


@pytest.fixture
def cache(tmp_path: Path) -> Iterator[VectorCache]:
    opened = VectorCache(tmp_path / "deep" / "vectors.db")
    yield opened
    opened.close()


async def test_a_second_run_embeds_nothing(cache: VectorCache) -> None:
    first = TimedEmbedder(WordEmbedder(), cache, MAX_CHARS)
    made = await first.embed_documents(TEXTS)
    asked = await first.embed_query("which apples?")
    model = WordEmbedder()
    second = TimedEmbedder(model, cache, MAX_CHARS)
    again = await second.embed_documents(TEXTS)
    assert [vector.tobytes() for vector in again if vector is not None] == [
        vector.tobytes() for vector in made if vector is not None
    ]
    np.testing.assert_array_equal(await second.embed_query("which apples?"), asked)
    assert (model.documents, model.queries) == ([], [])
    assert (first.embedded, first.from_cache, len(first.query_ms)) == (2, 0, 1)
    assert (second.embedded, second.from_cache, len(second.query_ms)) == (0, 2, 0)


async def test_a_vector_is_only_for_its_space_its_use_and_its_limit(cache: VectorCache) -> None:
    await TimedEmbedder(WordEmbedder(), cache, MAX_CHARS).embed_documents(["red apples"])
    for other in (
        TimedEmbedder(WordEmbedder(name="other"), cache, MAX_CHARS),
        TimedEmbedder(WordEmbedder(), cache, MAX_CHARS + 1),
    ):
        await other.embed_documents(["red apples"])
        assert (other.embedded, other.from_cache) == (1, 0)
    same = TimedEmbedder(WordEmbedder(), cache, MAX_CHARS)
    await same.embed_query("red apples")
    assert len(same.query_ms) == 1


async def test_a_text_without_a_vector_is_asked_for_again(cache: VectorCache) -> None:
    for _ in range(2):
        embedder = TimedEmbedder(WordEmbedder(), cache, MAX_CHARS)
        assert await embedder.embed_documents(["..."]) == [None]
        assert embedder.embedded == 1


async def test_more_texts_than_one_statement_takes(cache: VectorCache) -> None:
    texts = [f"text {number}" for number in range(1203)]
    await TimedEmbedder(WordEmbedder(8), cache, MAX_CHARS).embed_documents(texts)
    again = TimedEmbedder(WordEmbedder(8), cache, MAX_CHARS)
    assert all(vector is not None for vector in await again.embed_documents(texts))
    assert again.from_cache == 1203


async def test_without_a_cache_everything_is_embedded() -> None:
    embedder = TimedEmbedder(WordEmbedder(), None, MAX_CHARS)
    for _ in range(2):
        await embedder.embed_documents(["red apples"])
        await embedder.embed_query("which apples?")
    assert (embedder.embedded, embedder.from_cache, len(embedder.query_ms)) == (2, 0, 2)


def test_a_file_that_is_no_database_is_named(tmp_path: Path) -> None:
    path = tmp_path / "vectors.db"
    path.write_bytes(b"no database at all, but long enough to look at " * 4)
    with pytest.raises(StorageError, match=r"vectors\.db cannot be used: .*delete it"):
        VectorCache(path)


def test_the_cache_lies_in_the_users_cache_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache_file() == tmp_path / "lamina" / "eval" / "vectors.db"
