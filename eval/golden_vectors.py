"""
The golden set's vectors, committed beside it, so that its figures are the same on every machine and need no model.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from app.config import EmbeddingSettings
from app.domain.identity import text_hash
from app.errors import InvalidInput
from app.providers.model_manifest import ModelEntry, load_manifest
from app.providers.protocols import Embedder, EmbeddingSpace, ProviderState, Vector
from app.providers.vector_checks import unit_vector
from eval.vector_cache import DOCUMENT, QUERY

_HASH_BYTES = 16

Recorded: TypeAlias = Mapping[tuple[str, bytes], Vector | None]
"""By what it was made for (`document` or `query`) and the text's hash; None for a text that has no vector."""


class RecordedEmbedder:
    """
    An embedder that knows what was recorded; what else it is asked for has no vector, and is noted in `missing`.
    """

    def __init__(self, space: EmbeddingSpace, floor: float, vectors: Recorded) -> None:
        self.space = space
        self.floor = floor
        self.missing: set[str] = set()
        self._vectors = vectors

    async def embed_documents(self, texts: Sequence[str]) -> list[Vector | None]:
        return [self._look_up(DOCUMENT, text) for text in texts]

    async def embed_query(self, text: str) -> Vector | None:
        return self._look_up(QUERY, text)

    async def close(self) -> None:
        """Nothing is held."""

    def state(self) -> ProviderState:
        return ProviderState("recorded", True, f"{self.space.identity()}, recorded vectors")

    def _look_up(self, made_for: str, text: str) -> Vector | None:
        key = (made_for, text_hash(text))
        if key not in self._vectors:
            self.missing.add(text)
        return self._vectors.get(key)


class Recorder:
    """
    An embedder that passes everything on to another, and remembers what came back.
    """

    def __init__(self, inner: Embedder) -> None:
        self._inner = inner
        self.vectors: dict[tuple[str, bytes], Vector | None] = {}

    @property
    def space(self) -> EmbeddingSpace:
        return self._inner.space

    @property
    def floor(self) -> float:
        return self._inner.floor

    async def embed_documents(self, texts: Sequence[str]) -> list[Vector | None]:
        made = await self._inner.embed_documents(texts)
        for text, vector in zip(texts, made, strict=True):
            self.vectors[DOCUMENT, text_hash(text)] = vector
        return made

    async def embed_query(self, text: str) -> Vector | None:
        vector = await self._inner.embed_query(text)
        self.vectors[QUERY, text_hash(text)] = vector
        return vector

    async def close(self) -> None:
        await self._inner.close()

    def state(self) -> ProviderState:
        return self._inner.state()


def configured_space(settings: EmbeddingSettings) -> tuple[EmbeddingSpace, float]:
    """
    The space that the local embedder would have, and its floor, without loading a model.

    Raises:
        InvalidInput: the settings name no local embedding model.
    """
    entry: ModelEntry = load_manifest().entry(settings.model)
    profile = entry.embedding
    if settings.provider != "local" or profile is None:
        raise InvalidInput.of("embedding.model", f"{settings.model!r} is no local embedding model")
    space = EmbeddingSpace(
        name=entry.name,
        file_hash=entry.file_hash(),
        dimensions=profile.dimensions,
        pooling=profile.pooling,
        query_prefix=profile.query_prefix if settings.query_prefix is None else settings.query_prefix,
        document_prefix=settings.document_prefix,
    )
    return space, profile.floor if settings.floor is None else settings.floor


def save_vectors(path: Path, space: EmbeddingSpace, recorded: Recorded) -> None:
    """
    Write vectors as float16, sorted by their texts' hashes, so that the same vectors give the same file. A zero vector
    stands for a text that has none.
    """
    arrays: dict[str, npt.NDArray[np.generic]] = {"space": np.array(space.identity())}
    nothing = np.zeros(space.dimensions, np.float32)
    for made_for in (DOCUMENT, QUERY):
        keys = sorted(key for kind, key in recorded if kind == made_for)
        vectors = [recorded[made_for, key] for key in keys]
        rows = [nothing if vector is None else vector for vector in vectors]
        arrays[f"{made_for}_hashes"] = np.frombuffer(b"".join(keys), np.uint8).reshape(-1, _HASH_BYTES)
        arrays[f"{made_for}_vectors"] = np.array(rows, np.float16).reshape(-1, space.dimensions)
    # savez's own signature would take an array named `file` for its path
    np.savez_compressed(path, **arrays)  # type: ignore[arg-type]


def load_vectors(path: Path) -> tuple[str, Recorded]:
    """
    The identity of the space, and what was recorded in it, each vector of unit length again.

    Raises:
        InvalidInput: the file is missing or not of this form.
    """
    found: dict[tuple[str, bytes], Vector | None] = {}
    try:
        with np.load(path, allow_pickle=False) as arrays:
            identity = str(arrays["space"])
            for made_for in (DOCUMENT, QUERY):
                for key, values in zip(arrays[f"{made_for}_hashes"], arrays[f"{made_for}_vectors"], strict=True):
                    found[made_for, key.tobytes()] = unit_vector(values, len(values))
    except (OSError, KeyError, ValueError) as error:
        raise InvalidInput.of(path.name, f"cannot be used: {error}; `lamina eval golden --vectors` makes it") from error
    return identity, found
