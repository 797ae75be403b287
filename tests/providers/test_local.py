import asyncio
import threading
from dataclasses import replace

import numpy as np
import pytest

from app.config import EmbeddingSettings
from app.providers.local import LocalEmbedder, load_local
from app.providers.model_files import ModelFiles
from app.providers.onnx_encoder import States
from app.providers.protocols import EmbeddingSpace, ProviderError
from tests.providers.conftest import DEFAULT_MODEL

SPACE = EmbeddingSpace("stub", "", 3, "mean", "Q ", "D ")
TEXTS = [
    "Caroline adopted a dog called Oscar last summer.",
    "The quarterly report is due on Friday.",
    "x",
    "<|endoftext|> and some more",
    "half an emoji \ud83d and a NUL \x00 in it",
    "naïve café 你好 😀 mixed",
    "word " * 2000,
]


class StubEncoder:
    """
    Gives what a test wants for a text, and one sensible state for any other.
    """

    def __init__(self, answers: dict[str, States | Exception | None]) -> None:
        self.answers = answers
        self.seen: list[str] = []
        self.gate: threading.Event | None = None

    def states(self, prefix: str, text: str) -> States | None:
        self.seen.append(prefix + text)
        if self.gate is not None:
            self.gate.wait()
        answer = self.answers.get(text, np.array([[3.0, 0.0, 0.0], [3.0, 4.0, 0.0]], dtype=np.float32))
        if isinstance(answer, Exception):
            raise answer
        return answer


def stub(answers: dict[str, States | Exception | None] | None = None) -> tuple[LocalEmbedder, StubEncoder]:
    encoder = StubEncoder(answers or {})
    return LocalEmbedder(SPACE, 0.3, [encoder], max_chars=100), encoder


async def test_vectors_are_float32_of_unit_length_and_stated_dimensions(embedder: LocalEmbedder) -> None:
    for vector in await embedder.embed_documents(TEXTS):
        assert vector is not None
        assert vector.dtype == np.float32
        assert vector.shape == (embedder.space.dimensions,)
        assert float(np.linalg.norm(vector)) == pytest.approx(1.0, abs=1e-5)


async def test_the_same_text_gives_the_same_bytes_alone_and_among_others(embedder: LocalEmbedder) -> None:
    together = await embedder.embed_documents([*TEXTS, *reversed(TEXTS)])
    for text, first, again in zip(TEXTS, together, reversed(together), strict=False):
        (alone,) = await embedder.embed_documents([text])
        assert first is not None
        assert again is not None
        assert alone is not None
        assert first.tobytes() == again.tobytes() == alone.tobytes()


async def test_every_session_gives_the_same_bytes(models: ModelFiles, embedder: LocalEmbedder) -> None:
    entry = models.manifest.entry(DEFAULT_MODEL)
    other = load_local(entry, models.require(DEFAULT_MODEL), EmbeddingSettings(sessions=1))
    mine, theirs = await embedder.embed_documents(TEXTS), await other.embed_documents(TEXTS)
    await other.close()
    assert [v.tobytes() for v in mine if v is not None] == [v.tobytes() for v in theirs if v is not None]


async def test_meaning_is_nearer_than_chance(embedder: LocalEmbedder) -> None:
    query = await embedder.embed_query("What is the name of her puppy?")
    dog, report, *_ = await embedder.embed_documents(TEXTS)
    assert query is not None
    assert dog is not None
    assert report is not None
    assert float(query @ dog) > embedder.floor > float(query @ report)


async def test_t055_texts_with_nothing_to_embed_have_no_vector_and_cost_no_run() -> None:
    embedder, encoder = stub()
    before = len(encoder.seen)
    vectors = await embedder.embed_documents(["", "   ", "\n", ".", "word"])
    assert [vector is None for vector in vectors] == [True, True, True, True, False]
    assert await embedder.embed_query(" . ") is None
    assert encoder.seen[before:] == ["D word"]
    await embedder.close()


async def test_a_text_of_unknown_tokens_alone_has_no_vector(embedder: LocalEmbedder) -> None:
    vectors = await embedder.embed_documents(["😀", "🙈🙉", "😀 dog"])
    assert [vector is None for vector in vectors] == [True, True, False]
    assert await embedder.embed_query("😀") is None


async def test_prefixes_are_put_before_queries_and_documents() -> None:
    embedder, encoder = stub()
    await embedder.embed_documents(["a"])
    await embedder.embed_query("b")
    assert encoder.seen[-2:] == ["D a", "Q b"]
    await embedder.close()


@pytest.mark.parametrize(("pooling", "expected"), [("mean", [3 / 13**0.5, 2 / 13**0.5, 0.0]), ("cls", [1.0, 0.0, 0.0])])
async def test_pooling_is_what_the_space_says(pooling: str, expected: list[float]) -> None:
    embedder = LocalEmbedder(replace(SPACE, pooling=pooling), 0.3, [StubEncoder({})], max_chars=100)
    vector = await embedder.embed_query("text")
    await embedder.close()
    assert vector is not None
    assert vector.tolist() == pytest.approx(expected)


async def test_text_beyond_the_limit_does_not_reach_the_model() -> None:
    embedder, encoder = stub()
    await embedder.embed_documents(["y" * 500])
    assert encoder.seen[-1] == "D " + "y" * 100
    await embedder.close()


@pytest.mark.parametrize("bad", [np.nan, np.inf, 0.0])
async def test_t053_a_vector_without_direction_is_refused_and_others_are_not(bad: float) -> None:
    embedder, _ = stub({"bad": np.full((2, 3), bad, dtype=np.float32)})
    vectors = await embedder.embed_documents(["good", "bad", "good"])
    assert [vector is None for vector in vectors] == [False, True, False]
    assert await embedder.embed_query("bad") is None
    await embedder.close()


@pytest.mark.parametrize("states", [np.ones((2, 4), np.float32), np.ones(3, np.float32), None])
def test_t046_a_model_of_other_dimensions_is_refused_at_once(states: States | None) -> None:
    with pytest.raises(ProviderError, match="embedder_wrong_dimensions"):
        LocalEmbedder(SPACE, 0.3, [StubEncoder({"probe": states})], max_chars=100)


async def test_a_failing_run_is_a_named_failure() -> None:
    embedder, _ = stub({"bad": RuntimeError("no kernel")})
    with pytest.raises(ProviderError, match="embedder_failed: stub: no kernel"):
        await embedder.embed_documents(["good", "bad"])
    with pytest.raises(ProviderError, match="embedder_failed"):
        await embedder.embed_query("bad")
    assert await embedder.embed_query("good") is not None
    await embedder.close()


async def test_a_query_does_not_wait_behind_a_backlog_of_documents() -> None:
    embedder, encoder = stub()
    encoder.gate = threading.Event()
    backlog = [asyncio.create_task(embedder.embed_documents([f"document {n}"] * 20)) for n in range(5)]
    await asyncio.sleep(0)
    query = asyncio.create_task(embedder.embed_query("question"))
    await asyncio.sleep(0)
    encoder.gate.set()
    await asyncio.gather(query, *backlog)
    assert encoder.seen.index("Q question") <= 2
    assert len(encoder.seen) == 102
    await embedder.close()


async def test_a_cancelled_batch_leaves_nothing_behind_in_the_queue() -> None:
    embedder, encoder = stub()
    encoder.gate = threading.Event()
    batch = asyncio.create_task(embedder.embed_documents([f"document {n}" for n in range(50)]))
    await asyncio.sleep(0)
    batch.cancel()
    with pytest.raises(asyncio.CancelledError):
        await batch
    encoder.gate.set()
    assert await embedder.embed_query("question") is not None
    await embedder.close()
    assert len(encoder.seen) <= 3


def test_settings_override_what_the_manifest_says(models: ModelFiles) -> None:
    entry = models.manifest.entry(DEFAULT_MODEL)
    settings = EmbeddingSettings(sessions=1, query_prefix="", document_prefix="d: ", floor=0.0)
    loaded = load_local(entry, models.require(DEFAULT_MODEL), settings)
    asyncio.run(loaded.close())
    assert (loaded.space.query_prefix, loaded.space.document_prefix, loaded.floor) == ("", "d: ", 0.0)
    assert loaded.space.file_hash == entry.file_hash()
    assert loaded.state().ok


async def test_a_model_of_latin_script_gives_other_scripts_no_vector() -> None:
    embedder = LocalEmbedder(SPACE, 0.3, [StubEncoder({})], max_chars=100, latin_only=True)
    vectors = await embedder.embed_documents(["a kite", "家里有一只猫", "ein Kätzchen 猫", "2024-05-01"])
    assert [vector is not None for vector in vectors] == [True, False, True, True]
    assert await embedder.embed_query("猫在哪里") is None
    await embedder.close()
