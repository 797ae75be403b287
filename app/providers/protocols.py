"""
What the service needs of an embedder and of a token counter, whoever provides them.
"""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import astuple, dataclass
from typing import Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from app.errors import Unavailable

Vector: TypeAlias = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class EmbeddingSpace:
    """
    All that decides which vectors may be compared; two vectors are comparable only when their spaces are equal.
    """

    name: str
    """Model name."""
    file_hash: str
    """Digest over the model's files; empty for a model behind an API."""
    dimensions: int
    """Length of a vector."""
    pooling: str
    """How token states become one vector: `mean`, `cls`, or `api` where the server does it."""
    query_prefix: str
    """Text put before a query."""
    document_prefix: str
    """Text put before a stored text."""

    def identity(self) -> str:
        """
        A short stable key, `name@16 hex digits`, that differs whenever any field does.
        """
        fields = json.dumps(astuple(self), ensure_ascii=True).encode()
        return f"{self.name}@{hashlib.blake2b(fields, digest_size=8).hexdigest()}"


@dataclass(frozen=True, slots=True)
class ProviderState:
    """
    How a provider is, for the doctor and for `degraded`.
    """

    name: str
    """Provider: `local`, `openai`, `none`, `tokens`."""
    ok: bool
    """Whether it does what its configuration asks of it."""
    detail: str
    """When not ok, `reason_slug: what and which`; otherwise a line on what is in use."""


class ProviderError(Unavailable):
    """
    A provider cannot be used, or did not give a usable answer.

    `reason` is a slug such as `embedder_rate_limited`; `retryable` tells whether the same call may succeed later with
    nothing changed.
    """

    def __init__(self, reason: str, detail: str, *, retryable: bool) -> None:
        super().__init__(f"{reason}: {detail}")
        self.reason = reason
        self.retryable = retryable


class Embedder(Protocol):
    """
    Turns text into vectors of one space.
    """

    @property
    def space(self) -> EmbeddingSpace:
        """
        The space of every vector it returns.
        """
        ...

    @property
    def floor(self) -> float:
        """
        Cosine below which two texts count as unrelated.
        """
        ...

    async def embed_documents(self, texts: Sequence[str]) -> list[Vector | None]:
        """
        One float32 vector of unit length for each text, in order.

        None stands for a text that has no vector and never will have one in this space (nothing in it that the model
        knows, or refused by itself while others were taken): it is done, and need not be asked for again.

        Raises:
            ProviderError: no text of the batch could be embedded for a reason that is not the texts'.
        """
        ...

    async def embed_query(self, text: str) -> Vector | None:
        """
        The query's vector, of unit length; None for a text that has none (recall is lexical then, and not degraded).

        Raises:
            ProviderError: the vector could not be had.
        """
        ...

    async def close(self) -> None:
        """
        Give back threads and connections. No call may follow.
        """
        ...

    def state(self) -> ProviderState:
        """
        How the embedder is at present.
        """
        ...


class TokenCounter(Protocol):
    """
    Counts the tokens of a text for one family of models.
    """

    @property
    def name(self) -> str:
        """
        What is counted with: a vocabulary, a vocabulary with a factor, or `estimate`.
        """
        ...

    def count(self, text: str) -> int:
        """
        Tokens of any text, 0 for the empty one. Never raises.
        """
        ...
