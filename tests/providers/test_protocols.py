from dataclasses import replace

import pytest

from app.errors import Unavailable
from app.providers.protocols import EmbeddingSpace, ProviderError

SPACE = EmbeddingSpace("bge", "aa", 384, "mean", "query: ", "")


@pytest.mark.parametrize(
    "changed",
    [
        replace(SPACE, name="bgf"),
        replace(SPACE, file_hash="ab"),
        replace(SPACE, dimensions=385),
        replace(SPACE, pooling="cls"),
        replace(SPACE, query_prefix=""),
        replace(SPACE, document_prefix="query: ", query_prefix=""),
    ],
)
def test_t046_a_space_differs_when_anything_about_it_does(changed: EmbeddingSpace) -> None:
    assert changed.identity() != SPACE.identity()


def test_t046_equal_spaces_have_one_identity_for_ever() -> None:
    assert SPACE.identity() == EmbeddingSpace("bge", "aa", 384, "mean", "query: ", "").identity()
    assert SPACE.identity() == "bge@5f3f00a4491f4242"


def test_a_provider_error_begins_with_its_reason() -> None:
    error = ProviderError("embedder_timeout", "no answer within 20 s", retryable=True)
    assert isinstance(error, Unavailable)
    assert (error.detail, error.reason, error.retryable) == (
        "embedder_timeout: no answer within 20 s",
        "embedder_timeout",
        True,
    )
