import math
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import numpy as np
import pytest

from app.config import EmbeddingSettings
from app.providers.openai import OpenAIEmbedder, load_openai
from app.providers.protocols import ProviderError
from tests.providers.stub_servers import Body, EmbeddingServer, Reply, failure, vector_of, vectors

KEY = "sk-proj-9aZ3kQwLr7TtY0bNcVx5mHjGfDs"
SIZE = 16


@pytest.fixture(autouse=True)
def clean_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "OPENAI_ORG_ID", "OPENAI_PROJECT_ID"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")


@asynccontextmanager
async def serving(
    *replies: Callable[[Body], Reply], **changes: object
) -> AsyncIterator[tuple[OpenAIEmbedder, EmbeddingServer]]:
    with EmbeddingServer(SIZE, *replies) as server:
        given = {"provider": "openai", "model": "stub-model", "api_key": KEY, "dimensions": SIZE, **changes}
        embedder = load_openai(EmbeddingSettings.model_validate({"base_url": f"{server.url}/v1", **given}))
        try:
            yield embedder, server
        finally:
            await embedder.close()


def rows(*values: list[float], indexes: list[int] | None = None) -> Callable[[Body], Reply]:
    return lambda body: vectors(body, values, indexes=indexes)


def expected(text: str) -> list[float]:
    vector = np.array(vector_of(text, SIZE))
    return list(vector / np.linalg.norm(vector))


async def test_t053_vectors_come_back_in_order_and_of_unit_length() -> None:
    async with serving() as (embedder, _):
        found = await embedder.embed_documents(["one", "two", "three"])
        assert await embedder.embed_documents([]) == []
    for text, vector in zip(["one", "two", "three"], found, strict=True):
        assert vector is not None
        assert vector.dtype == np.float32
        assert vector.tolist() == pytest.approx(expected(text), abs=1e-6)


async def test_answers_out_of_order_are_put_in_order() -> None:
    first, second = vector_of("one", SIZE), vector_of("two", SIZE)
    async with serving(rows(second, first, indexes=[1, 0])) as (embedder, _):
        found = await embedder.embed_documents(["one", "two"])
    assert found[0] is not None
    assert found[0].tolist() == pytest.approx(expected("one"), abs=1e-6)


async def test_a_server_that_only_knows_plain_numbers_is_understood() -> None:
    def plain(body: Body) -> Reply:
        return vectors({**body, "encoding_format": "float"}, [vector_of("one", SIZE)])

    async with serving(plain) as (embedder, _):
        vector = await embedder.embed_query("one")
    assert vector is not None
    assert vector.tolist() == pytest.approx(expected("one"), abs=1e-6)


async def test_t055_empty_texts_are_not_sent() -> None:
    async with serving() as (embedder, server):
        found = await embedder.embed_documents(["", "  ", "\n", ".", "word"])
        assert await embedder.embed_query(" ") is None
        assert await embedder.embed_documents(["", "?"]) == [None, None]
        assert [body["input"] for body in server.bodies] == [["word"]]
    assert [vector is None for vector in found] == [True, True, True, True, False]


async def test_t041_lone_surrogates_and_special_tokens_are_sent_as_legal_text() -> None:
    async with serving() as (embedder, server):
        assert await embedder.embed_query("<|endoftext|> \ud83d") is not None
        assert server.bodies[0]["input"] == ["<|endoftext|> \ufffd"]


async def test_prefixes_model_and_dimensions_are_sent_and_texts_go_in_batches() -> None:
    async with serving(query_prefix="q: ", document_prefix="d: ", batch_size=2) as (embedder, server):
        await embedder.embed_documents(["a", "b", "c"])
        await embedder.embed_query("x")
        assert [body["input"] for body in server.bodies] == [["d: a", "d: b"], ["d: c"], ["q: x"]]
        assert {(body["model"], body["dimensions"]) for body in server.bodies} == {("stub-model", SIZE)}


async def test_dimensions_are_not_asked_of_a_server_that_refuses_them() -> None:
    async with serving(request_dimensions=False) as (embedder, server):
        assert await embedder.embed_query("x") is not None
        assert "dimensions" not in server.bodies[0]


async def test_a_rate_limit_is_waited_for_as_the_server_says() -> None:
    async with serving(failure(429, Retry_After="0.01"), failure(429, Retry_After="0.01")) as (embedder, server):
        assert await embedder.embed_query("x") is not None
        assert len(server.bodies) == 3


@pytest.mark.parametrize(
    ("status", "reason", "retryable"),
    [
        (429, "embedder_rate_limited", True),
        (500, "embedder_server_error", True),
        (503, "embedder_server_error", True),
        (401, "embedder_key_refused", False),
        (403, "embedder_key_refused", False),
        (404, "embedder_model_unknown", False),
    ],
)
async def test_a_lasting_failure_is_named(status: int, reason: str, retryable: bool) -> None:
    async with serving(max_retries=0) as (embedder, server):
        server.always = failure(status)
        with pytest.raises(ProviderError) as raised:
            await embedder.embed_documents(["a", "b"])
        assert (raised.value.reason, raised.value.retryable) == (reason, retryable)
        assert (embedder.state().ok, embedder.state().detail) == (False, raised.value.detail)
        server.always = None
        await embedder.embed_query("x")
        assert embedder.state().ok


async def test_a_rejection_of_everything_is_not_retried() -> None:
    async with serving(max_retries=5) as (embedder, server):
        server.always = failure(400)
        with pytest.raises(ProviderError, match="embedder_rejected") as raised:
            await embedder.embed_documents(["a"] * 10)
        assert not raised.value.retryable
        assert [len(body["input"]) for body in server.bodies] == [10, 1]


async def test_t043_one_text_that_is_too_long_does_not_keep_the_others_out() -> None:
    async with serving() as (embedder, server):
        server.always = lambda body: (
            failure(400)(body) if any(len(t) > 1500 for t in body["input"]) else server.good(body)
        )
        texts = ["a", "b", "你" * 2000, "c", "d"]
        found = await embedder.embed_documents(texts)
    assert all(vector is not None for vector in found)
    assert found[2] is not None
    assert found[2].tolist() == pytest.approx(expected("你" * 1000), abs=1e-6)


async def test_t043_one_text_that_is_refused_at_any_length_has_no_vector_and_the_others_have() -> None:
    async with serving() as (embedder, server):
        server.always = lambda body: failure(422)(body) if any("bad" in t for t in body["input"]) else server.good(body)
        found = await embedder.embed_documents(["a", "bad " * 300, "c", "bad"])
        assert [vector is None for vector in found] == [False, True, False, True]
        assert await embedder.embed_query("bad") is None


async def test_t053_one_vector_without_direction_is_refused_and_the_others_taken() -> None:
    good = vector_of("good", SIZE)
    async with serving(rows(good, [math.nan] * SIZE, [0.0] * SIZE, [math.inf] * SIZE)) as (embedder, _):
        found = await embedder.embed_documents(["a", "b", "c", "d"])
    assert [vector is None for vector in found] == [False, True, True, True]


@pytest.mark.parametrize("bad", [math.nan, 0.0])
async def test_t053_nothing_but_vectors_without_direction_is_a_failure(bad: float) -> None:
    async with serving(rows([bad] * SIZE)) as (embedder, _):
        with pytest.raises(ProviderError, match="embedder_bad_vector"):
            await embedder.embed_query("x")


@pytest.mark.parametrize("length", [SIZE - 1, SIZE + 1, 1])
async def test_t046_vectors_of_other_dimensions_are_refused(length: int) -> None:
    async with serving(rows([1.0] * length)) as (embedder, _):
        with pytest.raises(ProviderError, match=rf"embedder_wrong_dimensions: .*\[{length}\].* not {SIZE}"):
            await embedder.embed_query("x")


@pytest.mark.parametrize("indexes", [[0], [0, 0], [0, 2], [1, 2], [0, 1, 2]])
async def test_a_wrong_count_of_vectors_is_a_failure(indexes: list[int]) -> None:
    async with serving(rows(*([1.0] * SIZE for _ in indexes), indexes=indexes)) as (embedder, _):
        with pytest.raises(ProviderError, match="embedder_wrong_count"):
            await embedder.embed_documents(["a", "b"])


@pytest.mark.parametrize(
    "body", [b"", b"{}", b"[]", b"not json", b'{"data": []}', b'{"data": [{"index": 0}]}', b'{"data": null}']
)
@pytest.mark.parametrize("kind", ["application/json", "text/html"])
async def test_an_answer_of_another_kind_is_a_failure(body: bytes, kind: str) -> None:
    async with serving(lambda _: Reply(200, body, {"Content-Type": kind})) as (embedder, _):
        with pytest.raises(ProviderError) as raised:
            await embedder.embed_query("x")
    assert raised.value.reason in {"embedder_bad_answer", "embedder_wrong_count", "embedder_wrong_dimensions"}


async def test_a_slow_server_is_left_after_the_time_out() -> None:
    release = threading.Event()

    def slow(body: Body) -> Reply:
        release.wait(60)
        return Reply(500)

    async with serving(slow, max_retries=0, request_timeout_s=0.2) as (embedder, _):
        try:
            with pytest.raises(ProviderError, match=r"embedder_timeout: no answer within 0\.2 s") as raised:
                await embedder.embed_query("x")
        finally:
            release.set()
    assert raised.value.retryable


async def test_a_server_that_is_not_there_is_named() -> None:
    embedder = load_openai(
        EmbeddingSettings(base_url="http://127.0.0.1:9/v1", model="m", dimensions=SIZE, max_retries=0)
    )
    with pytest.raises(ProviderError, match=r"embedder_unreachable: 127\.0\.0\.1") as raised:
        await embedder.embed_query("x")
    await embedder.close()
    assert raised.value.retryable


async def test_the_space_is_the_model_and_its_dimensions_wherever_it_is_served() -> None:
    async with serving() as (here, _), serving() as (there, _), serving(dimensions=8) as (smaller, _):
        assert here.space == there.space
        assert here.space.identity() != smaller.space.identity()
        assert (here.space.file_hash, here.space.name, here.space.dimensions) == ("", "stub-model", SIZE)
        assert here.floor == 0.25


@pytest.mark.parametrize(("model", "dimensions"), [("text-embedding-3-small", 1536), ("text-embedding-3-large", 3072)])
async def test_openais_own_models_need_no_dimensions(model: str, dimensions: int) -> None:
    embedder = load_openai(EmbeddingSettings.model_validate({"model": model, "api_key": KEY}))
    assert embedder.space.dimensions == dimensions
    await embedder.close()


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ({"model": "text-embedding-3-small"}, "embedder_key_missing"),
        ({"model": "text-embedding-3-small", "api_key": ""}, "embedder_key_missing"),
        ({"model": "text-embedding-3-small", "api_key": "your_openai_key_here"}, "embedder_key_placeholder"),
        ({"model": "m", "base_url": "http://127.0.0.1:9", "api_key": "changeme"}, "embedder_key_placeholder"),
        ({"model": "m", "base_url": "http://127.0.0.1:9"}, "embedder_dimensions_unknown"),
    ],
)
def test_d26_what_cannot_work_is_refused_before_anything_is_sent(given: dict[str, object], reason: str) -> None:
    with pytest.raises(ProviderError, match=reason):
        load_openai(EmbeddingSettings.model_validate(given))


async def test_key_and_server_may_come_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    with EmbeddingServer(SIZE) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", f"{server.url}/v1")
        monkeypatch.setenv("OPENAI_API_KEY", "your_openai_key_here")
        settings = EmbeddingSettings(model="m", dimensions=SIZE)
        with pytest.raises(ProviderError, match="embedder_key_placeholder: OPENAI_API_KEY"):
            load_openai(settings)
        monkeypatch.setenv("OPENAI_API_KEY", KEY)
        embedder = load_openai(settings)
        assert await embedder.embed_query("x") is not None
        await embedder.close()
