"""
The embedder that runs a model on this machine, queries before documents.
"""

import asyncio
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path

import structlog

from app.config import EmbeddingSettings
from app.domain.text.scripts import mostly_latin
from app.providers.model_manifest import ModelEntry
from app.providers.onnx_encoder import Encoder, OnnxEncoder, States
from app.providers.priority_pool import PriorityPool
from app.providers.protocols import EmbeddingSpace, ProviderError, ProviderState, Vector
from app.providers.vector_checks import prepare, split_ready, unit_vector

log = structlog.get_logger(__name__)

PROBE = "probe"


class LocalEmbedder:
    """
    Embeds on its own threads, one encoder each. The same text gives the same bytes whatever is embedded beside it.

    Raises:
        ProviderError: an encoder does not give states of the space's dimensions.
    """

    def __init__(
        self,
        space: EmbeddingSpace,
        floor: float,
        encoders: Sequence[Encoder],
        max_chars: int,
        *,
        latin_only: bool = False,
        niceness: int = 0,
    ) -> None:
        self.space = space
        self.floor = floor
        self._max_chars = max_chars
        self._latin_only = latin_only
        for encoder in encoders:
            states = encoder.states("", PROBE)
            if states is None or states.ndim != 2 or states.shape[1] != space.dimensions:
                shape = None if states is None else states.shape
                detail = f"{space.name} gives states of shape {shape}, not (tokens, {space.dimensions})"
                raise ProviderError("embedder_wrong_dimensions", detail, retryable=False)
        self._pool = PriorityPool(encoders, "embed", niceness)
        self._sessions = len(encoders)

    async def embed_documents(self, texts: Sequence[str]) -> list[Vector | None]:
        vectors: list[Vector | None] = [None] * len(texts)
        positions, ready = split_ready(texts, self._max_chars)
        prefix = self.space.document_prefix
        readable = [(place, text) for place, text in zip(positions, ready, strict=True) if self._reads(text)]
        futures = [self._pool.submit(partial(self._vector, prefix, text), urgent=False) for _, text in readable]
        try:
            found = await asyncio.gather(*(asyncio.wrap_future(future) for future in futures))
        finally:
            for future in futures:
                future.cancel()
        for (position, _), vector in zip(readable, found, strict=True):
            vectors[position] = vector
        return vectors

    async def embed_query(self, text: str) -> Vector | None:
        ready = prepare(text, self._max_chars)
        if ready is None or not self._reads(ready):
            return None
        job = partial(self._vector, self.space.query_prefix, ready)
        return await asyncio.wrap_future(self._pool.submit(job, urgent=True))

    async def close(self) -> None:
        await asyncio.to_thread(self._pool.close)

    def state(self) -> ProviderState:
        return ProviderState("local", True, f"{self.space.identity()}, {self._sessions} sessions")

    def _reads(self, text: str) -> bool:
        return not self._latin_only or mostly_latin(text)

    def _vector(self, prefix: str, text: str, encoder: Encoder) -> Vector | None:
        try:
            states = encoder.states(prefix, text)
        except Exception as error:
            # onnxruntime's and tokenizers' exceptions have no base of their own
            raise ProviderError("embedder_failed", f"{self.space.name}: {error}", retryable=False) from error
        if states is None:
            return None
        vector = unit_vector(pooled(states, self.space.pooling), self.space.dimensions)
        if vector is None:
            log.warning("embedding_refused", model=self.space.name, characters=len(text))
        return vector


def pooled(states: States, pooling: str) -> States:
    """
    One vector from the states of all tokens: their mean, or that of the first token (`cls`).
    """
    first: States = states[0] if pooling == "cls" else states.mean(axis=0, dtype="float64")
    return first


def load_local(entry: ModelEntry, files: Mapping[str, Path], settings: EmbeddingSettings) -> LocalEmbedder:
    """
    An embedder over the checked files of a manifest entry of the kind `embedding`.

    Raises:
        ProviderError: `embedder_model_broken`, the files cannot be loaded as a model; or the model is not of the
            dimensions that the manifest states.
    """
    profile = entry.embedding
    if profile is None:
        raise ProviderError("embedder_model_unknown", f"{entry.name} is not an embedding model", retryable=False)
    space = EmbeddingSpace(
        name=entry.name,
        file_hash=entry.file_hash(),
        dimensions=profile.dimensions,
        pooling=profile.pooling,
        query_prefix=profile.query_prefix if settings.query_prefix is None else settings.query_prefix,
        document_prefix=settings.document_prefix,
    )
    try:
        encoders = [
            OnnxEncoder(files["model.onnx"], files["tokenizer.json"], profile.max_tokens)
            for _ in range(settings.sessions)
        ]
    except Exception as error:
        # onnxruntime's and tokenizers' exceptions have no base of their own
        raise ProviderError("embedder_model_broken", f"{entry.name}: {error}", retryable=False) from error
    floor = profile.floor if settings.floor is None else settings.floor
    return LocalEmbedder(
        space, floor, encoders, settings.max_chars, latin_only=profile.latin_only, niceness=settings.niceness
    )
