"""
Keeps the vectors of earlier runs on disk, so that a set is embedded once for each model.
"""

import sqlite3
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from app.config import ModelsSettings
from app.domain.identity import text_hash
from app.errors import StorageError
from app.providers.model_files import models_directory
from app.providers.protocols import Embedder, EmbeddingSpace, ProviderState, Vector

DOCUMENT = "document"
QUERY = "query"
_CHUNK = 500  # hashes in one statement: SQLite takes 999 variables everywhere


def cache_file() -> Path:
    """
    The cache's place beside the model files, in the user's cache directory.

    Raises:
        ConfigError: there is no home directory.
    """
    return models_directory(ModelsSettings()).parent / "eval" / "vectors.db"


class VectorCache:
    """
    Vectors by space, by what they were made for (`document` or `query`, which models treat differently) and by text.

    Raises:
        StorageError: the file cannot be used.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._connection = sqlite3.connect(path)
            self._connection.execute(
                "CREATE TABLE IF NOT EXISTS vector "
                "(space TEXT, made_for TEXT, hash BLOB, vector BLOB, PRIMARY KEY (space, made_for, hash)) WITHOUT ROWID"
            )
        except (OSError, sqlite3.Error) as error:
            raise self._unusable(error) from error

    def get(self, space: str, made_for: str, texts: Sequence[str]) -> dict[str, Vector]:
        """
        The vectors that are known, by text.
        """
        by_hash = {text_hash(text): text for text in texts}
        hashes = list(by_hash)
        found: dict[str, Vector] = {}
        try:
            for start in range(0, len(hashes), _CHUNK):
                asked = hashes[start : start + _CHUNK]
                marks = ", ".join("?" * len(asked))
                statement = f"SELECT hash, vector FROM vector WHERE space = ? AND made_for = ? AND hash IN ({marks})"
                for key, blob in self._connection.execute(statement, (space, made_for, *asked)):
                    found[by_hash[key]] = np.frombuffer(blob, np.float32)
        except sqlite3.Error as error:
            raise self._unusable(error) from error
        return found

    def put(self, space: str, made_for: str, vectors: Mapping[str, Vector]) -> None:
        """
        Keep vectors, by text.
        """
        rows = [(space, made_for, text_hash(text), vector.tobytes()) for text, vector in vectors.items()]
        try:
            with self._connection:
                self._connection.executemany("INSERT OR REPLACE INTO vector VALUES (?, ?, ?, ?)", rows)
        except sqlite3.Error as error:
            raise self._unusable(error) from error

    def close(self) -> None:
        """
        Give the file back.
        """
        self._connection.close()

    def _unusable(self, error: Exception) -> StorageError:
        return StorageError(f"vector cache {self._path} cannot be used: {error}; delete it, or run without the cache")


class TimedEmbedder:
    """
    An embedder before which a cache stands; counts the texts that the embedder itself had to do and those that the
    cache had, each once in a call, and how long queries took the embedder.

    `cache` None embeds everything anew. `max_chars` is how much of a text reaches the model: vectors made under another
    limit are not taken.
    """

    def __init__(self, inner: Embedder, cache: VectorCache | None, max_chars: int) -> None:
        self._inner = inner
        self._cache = cache
        self._key = f"{inner.space.identity()}/{max_chars}"
        self.embedded = 0
        self.from_cache = 0
        self.query_ms: list[float] = []

    @property
    def space(self) -> EmbeddingSpace:
        return self._inner.space

    @property
    def floor(self) -> float:
        return self._inner.floor

    async def embed_documents(self, texts: Sequence[str]) -> list[Vector | None]:
        known: dict[str, Vector | None] = dict(self._known(DOCUMENT, texts))
        self.from_cache += len(known)
        missing = [text for text in dict.fromkeys(texts) if text not in known]
        if missing:
            made = dict(zip(missing, await self._inner.embed_documents(missing), strict=True))
            self._keep(DOCUMENT, made)
            known |= made
        self.embedded += len(missing)
        return [known[text] for text in texts]

    async def embed_query(self, text: str) -> Vector | None:
        known = self._known(QUERY, [text])
        if text in known:
            return known[text]
        started = time.perf_counter()
        vector = await self._inner.embed_query(text)
        self.query_ms.append((time.perf_counter() - started) * 1000)
        self._keep(QUERY, {text: vector})
        return vector

    async def close(self) -> None:
        await self._inner.close()

    def state(self) -> ProviderState:
        return self._inner.state()

    def _known(self, made_for: str, texts: Sequence[str]) -> dict[str, Vector]:
        return {} if self._cache is None else self._cache.get(self._key, made_for, texts)

    def _keep(self, made_for: str, made: Mapping[str, Vector | None]) -> None:
        if self._cache is not None:
            self._cache.put(self._key, made_for, {text: found for text, found in made.items() if found is not None})
