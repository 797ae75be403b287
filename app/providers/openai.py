"""
The embedder that asks OpenAI, or a server that speaks as OpenAI does (Ollama, vLLM, TEI).
"""

import os
from collections.abc import Sequence

import openai
import structlog
from openai import AsyncOpenAI, omit

from app.config import EmbeddingSettings
from app.providers.api_keys import is_placeholder
from app.providers.protocols import EmbeddingSpace, ProviderError, ProviderState, Vector
from app.providers.vector_checks import prepare, split_ready, unit_vector
from app.providers.web_address import is_web_address

log = structlog.get_logger(__name__)

NATIVE_DIMENSIONS = {
    "text-embedding-3-small": 1536,
    "text-embedding-3-large": 3072,
    "text-embedding-ada-002": 1536,
}
"""Dimensions of OpenAI's own models, by their published documentation."""

DEFAULT_FLOOR = 0.25
SHORTEST_RETRY_CHARS = 250
PROBE = "probe"
UNUSED_KEY = "unused"
REJECTED_STATUS = frozenset({400, 413, 422})


class _RejectedError(Exception):
    """
    The server does not take this input as it is.
    """

    def __init__(self, status: int) -> None:
        super().__init__(f"HTTP {status}")


class OpenAIEmbedder:
    """
    Embeds over HTTP in batches; retries of 429 and 5xx and their waits are the SDK's.

    A batch that the server rejects is halved until the text at fault is alone; that one is tried again at half its
    length, as long as it is not short, and else has no vector. One bad text thus never keeps the others out.
    """

    def __init__(self, client: AsyncOpenAI, space: EmbeddingSpace, settings: EmbeddingSettings) -> None:
        self.space = space
        self.floor = DEFAULT_FLOOR if settings.floor is None else settings.floor
        self._client = client
        self._settings = settings
        native = NATIVE_DIMENSIONS.get(space.name)
        self._asks_dimensions = settings.request_dimensions and settings.dimensions not in {None, native}
        self._failure: str | None = None

    async def embed_documents(self, texts: Sequence[str]) -> list[Vector | None]:
        vectors: list[Vector | None] = [None] * len(texts)
        positions, ready = split_ready(texts, self._settings.max_chars)
        step = self._settings.batch_size
        for start in range(0, len(ready), step):
            batch = [self.space.document_prefix + text for text in ready[start : start + step]]
            for position, vector in zip(positions[start : start + step], await self._embed(batch), strict=True):
                vectors[position] = vector
        return vectors

    async def embed_query(self, text: str) -> Vector | None:
        ready = prepare(text, self._settings.max_chars)
        if ready is None:
            return None
        return (await self._embed([self.space.query_prefix + ready]))[0]

    async def close(self) -> None:
        await self._client.close()

    def state(self) -> ProviderState:
        return ProviderState("openai", self._failure is None, self._failure or self.space.identity())

    async def _embed(self, batch: list[str]) -> list[Vector | None]:
        try:
            vectors = await self._whole_or_parts(batch)
        except ProviderError as error:
            self._failure = error.detail
            raise
        self._failure = None
        return vectors

    async def _whole_or_parts(self, batch: list[str]) -> list[Vector | None]:
        try:
            return await self._request(batch)
        except _RejectedError as error:
            try:
                await self._request([PROBE])
            except _RejectedError:
                detail = f"{self.space.name}: the server rejects every input ({error})"
                raise ProviderError("embedder_rejected", detail, retryable=False) from error
        return await self._parts(batch)

    async def _parts(self, batch: list[str]) -> list[Vector | None]:
        """
        Embed a batch that was rejected while the server takes others.
        """
        if len(batch) == 1:
            return [await self._shortened(batch[0])]
        vectors: list[Vector | None] = []
        middle = len(batch) // 2
        for half in (batch[:middle], batch[middle:]):
            try:
                vectors += await self._request(half)
            except _RejectedError:
                vectors += await self._parts(half)
        return vectors

    async def _shortened(self, text: str) -> Vector | None:
        while len(text) > SHORTEST_RETRY_CHARS:
            text = text[: len(text) // 2]
            try:
                return (await self._request([text]))[0]
            except _RejectedError:
                continue
        log.warning("embedding_rejected", model=self.space.name, characters=len(text))
        return None

    async def _request(self, batch: list[str]) -> list[Vector | None]:
        asked = self.space.dimensions if self._asks_dimensions else omit
        try:
            answer = await self._client.embeddings.create(input=batch, model=self.space.name, dimensions=asked)
            rows = [(item.index, list(item.embedding)) for item in answer.data]
        except openai.APIStatusError as error:
            if error.status_code in REJECTED_STATUS:
                raise _RejectedError(error.status_code) from error
            raise _status_failure(error.status_code, self.space.name) from error
        except openai.APITimeoutError as error:
            limit = f"no answer within {self._settings.request_timeout_s:g} s"
            raise ProviderError("embedder_timeout", limit, retryable=True) from error
        except openai.APIConnectionError as error:
            detail = f"{self._client.base_url.host}: {error.__cause__ or error}"
            raise ProviderError("embedder_unreachable", detail, retryable=True) from error
        except (openai.OpenAIError, ValueError, TypeError, AttributeError) as error:
            detail = f"not an embeddings answer ({type(error).__name__})"
            raise ProviderError("embedder_bad_answer", detail, retryable=True) from error
        return self._vectors(rows, len(batch))

    def _vectors(self, rows: Sequence[tuple[int, Sequence[float]]], count: int) -> list[Vector | None]:
        if sorted(index for index, _ in rows) != list(range(count)):
            detail = f"{len(rows)} vectors, not one for each of {count} texts"
            raise ProviderError("embedder_wrong_count", detail, retryable=True)
        lengths = {len(values) for _, values in rows}
        if lengths != {self.space.dimensions}:
            detail = f"{self.space.name} gave vectors of {sorted(lengths)} dimensions, not {self.space.dimensions}"
            raise ProviderError("embedder_wrong_dimensions", detail, retryable=False)
        vectors = [unit_vector(values, self.space.dimensions) for _, values in sorted(rows, key=lambda row: row[0])]
        refused = sum(vector is None for vector in vectors)
        if refused == count:
            detail = f"{self.space.name} gave no vector with a direction (NaN, infinite or zero)"
            raise ProviderError("embedder_bad_vector", detail, retryable=False)
        if refused:
            log.warning("embedding_refused", model=self.space.name, refused=refused, of=count)
        return vectors


def load_openai(settings: EmbeddingSettings) -> OpenAIEmbedder:
    """
    An embedder for the configured model and server; nothing is sent.

    Raises:
        ProviderError: `embedder_key_missing`, `embedder_key_placeholder`, `embedder_address_invalid`, or
            `embedder_dimensions_unknown`.
    """
    base_url = settings.base_url or os.environ.get("OPENAI_BASE_URL") or None
    if settings.api_key is not None:
        key, where = settings.api_key.get_secret_value(), "embedding.api_key"
    else:
        key, where = os.environ.get("OPENAI_API_KEY", ""), "OPENAI_API_KEY"
    if not key.strip():
        if base_url is None:
            detail = "neither embedding.api_key nor OPENAI_API_KEY is set"
            raise ProviderError("embedder_key_missing", detail, retryable=False)
        key = UNUSED_KEY
    elif is_placeholder(key, own_server=base_url is not None):
        raise ProviderError("embedder_key_placeholder", f"{where} is not a real key", retryable=False)
    if base_url is not None and not is_web_address(base_url):
        detail = f"{base_url!r} is not of the form http://host:port/v1"
        raise ProviderError("embedder_address_invalid", detail, retryable=False)
    dimensions = NATIVE_DIMENSIONS.get(settings.model) if settings.dimensions is None else settings.dimensions
    if dimensions is None:
        detail = f"set embedding.dimensions for the model {settings.model!r}"
        raise ProviderError("embedder_dimensions_unknown", detail, retryable=False)
    space = EmbeddingSpace(
        name=settings.model,
        file_hash="",
        dimensions=dimensions,
        pooling="api",
        query_prefix=settings.query_prefix or "",
        document_prefix=settings.document_prefix,
    )
    client = AsyncOpenAI(
        api_key=key.strip(),
        base_url=base_url,
        timeout=settings.request_timeout_s,
        max_retries=settings.max_retries,
    )
    return OpenAIEmbedder(client, space, settings)


def _status_failure(status: int, model: str) -> ProviderError:
    if status in {401, 403}:
        return ProviderError("embedder_key_refused", f"HTTP {status}", retryable=False)
    if status == 404:
        return ProviderError("embedder_model_unknown", f"{model} (HTTP 404)", retryable=False)
    if status == 429:
        return ProviderError("embedder_rate_limited", f"HTTP {status}", retryable=True)
    return ProviderError("embedder_server_error", f"HTTP {status}", retryable=True)
