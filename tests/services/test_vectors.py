"""
Vectors: made in the background, bound to their text and their model, and never the reason for a lost write.
"""

import asyncio
from pathlib import Path

import numpy as np
import pytest

from app.config import load_settings
from app.services.drafting import NewMemory
from tests.services.asking import BANK, ask, save, say, texts
from tests.services.conftest import Launch
from tests.stand_ins import FailingEmbedder, GatedEmbedder, WordEmbedder


async def test_t068_a_write_does_not_wait_for_the_embedder(launch: Launch) -> None:
    embedder = GatedEmbedder()
    service = await launch(embedder)
    await say(service, "the ferry leaves at noon")
    await embedder.asked.wait()
    await asyncio.gather(*(say(service, f"message {number} about boats") for number in range(20)))
    assert await texts(service, "ferry", mode="lexical") == ["the ferry leaves at noon"]
    assert embedder.documents == []
    embedder.gate.set()
    await service.indexer.drained()
    assert len(embedder.documents) == 21
    assert (await service.banks.stats(BANK)).pending_vectors == 0


async def test_an_outage_loses_nothing(launch: Launch, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("app.services.indexer.FIRST_PAUSE_S", 0.01)
    embedder = FailingEmbedder()
    service = await launch(embedder)
    await save(service, "the kite is red")
    answer = await ask(service, "kite")
    assert (answer.retrieval, len(answer.results)) == ("lexical", 1)
    assert answer.degraded == ("embedder_unreachable: no connection",)
    while (await service.indexer.state()).problem is None:
        await asyncio.sleep(0.01)
    embedder.broken = False
    await service.indexer.drained()
    answer = await ask(service, "the kite is red", mode="semantic")
    assert (answer.retrieval, answer.degraded, len(answer.results)) == ("semantic", (), 1)


@pytest.mark.parametrize("resident", [0, 64])
async def test_t046_another_dimension_is_another_space(launch: Launch, resident: int) -> None:
    first = await launch(WordEmbedder(dimensions=384), resident={"max_mb": resident})
    await save(first, "the anchor is made of bronze")
    await first.indexer.drained()
    await first.stop()
    second = await launch(gated := GatedEmbedder(dimensions=1024), resident={"max_mb": resident})
    waiting = await second.banks.stats(BANK)
    assert (waiting.vectors, waiting.pending_vectors) == (0, 1)
    for mode, found in (("hybrid", 1), ("lexical", 1), ("semantic", 0)):
        assert len((await ask(second, "bronze anchor", mode=mode)).results) == found
    assert (await second.doctor.ready())[0]
    gated.gate.set()
    await second.indexer.drained()
    settled = await second.banks.stats(BANK)
    assert (settled.vectors, settled.pending_vectors) == (1, 0)
    assert len((await ask(second, "bronze anchor", mode="semantic")).results) == 1


@pytest.mark.parametrize("resident", [0, 64])
async def test_t047_vectors_of_another_model_of_the_same_size_are_not_compared(launch: Launch, resident: int) -> None:
    first = await launch(WordEmbedder(name="old model"), resident={"max_mb": resident})
    await save(first, "the anchor is made of bronze")
    await first.indexer.drained()
    await first.stop()
    second = await launch(embedder := GatedEmbedder(name="new model"), resident={"max_mb": resident})
    assert (await ask(second, "the anchor is made of bronze", mode="semantic")).results == ()
    embedder.gate.set()
    await second.indexer.drained()
    assert embedder.documents == ["the anchor is made of bronze"]
    assert len((await ask(second, "the anchor is made of bronze", mode="semantic")).results) == 1
    stats = await second.banks.stats(BANK)
    assert (stats.vectors, stats.pending_vectors) == (1, 0)


@pytest.mark.parametrize("resident", [0, 64])
async def test_t053_vectors_that_are_not_of_unit_length_give_true_cosines(launch: Launch, resident: int) -> None:
    service = await launch(WordEmbedder(scale=3.0), resident={"max_mb": resident})
    await save(service, "seven swans swimming")
    await service.indexer.drained()
    answer = await ask(service, "seven swans swimming", mode="semantic", explain=True)
    assert answer.results[0].score == pytest.approx(1.0, abs=1e-5)


async def test_t055_a_text_without_words_needs_no_vector(launch: Launch) -> None:
    service = await launch(WordEmbedder())
    await say(service, ".")
    await service.indexer.drained()
    stats = await service.banks.stats(BANK)
    assert (stats.vectors, stats.pending_vectors, stats.records["entry"]) == (0, 0, 1)


async def test_t055_a_question_without_words_is_answered_and_costs_no_embedding(launch: Launch) -> None:
    service = await launch(embedder := WordEmbedder())
    await save(service, "seven swans swimming")
    await service.indexer.drained()
    for query in ("", "   ", "\n"):
        assert await texts(service, query) == ["seven swans swimming"]
    assert embedder.queries == []
    assert (await ask(service, ".", mode="semantic")).results == ()


async def test_t052_without_the_extension_cosine_is_computed_here(launch: Launch) -> None:
    service = await launch(WordEmbedder(), storage={"vector_extension": False}, resident={"max_mb": 0})
    await save(service, "seven swans swimming")
    await save(service, "six geese laying")
    await service.indexer.drained()
    assert (await texts(service, "swans swimming", mode="semantic"))[0] == "seven swans swimming"
    ready, degraded = await service.doctor.ready()
    assert ready
    assert "vector_extension" in degraded


async def test_d26_a_placeholder_key_turns_the_embedder_off_by_name(launch: Launch) -> None:
    service = await launch(embedding={"provider": "openai", "api_key": "your_openai_key_here"})
    await save(service, "port 8080")
    answer = await ask(service, "port")
    assert (answer.retrieval, len(answer.results)) == ("lexical", 1)
    assert "placeholder" in answer.degraded[0]
    checks = {check.name: check for check in (await service.doctor.check()).checks}
    assert checks["embedder"].state == "degraded"


@pytest.mark.parametrize("has_embedder", [True, False])
async def test_d37_what_is_purged_is_gone_everywhere(launch: Launch, tmp_path: Path, *, has_embedder: bool) -> None:
    service = await launch(WordEmbedder())
    memory = await save(service, "the heron code is QZXJV9", raw_input="remember: heron code QZXJV9", tags=["QZXTAG"])
    await service.indexer.drained()
    unit = _stored_bytes("the heron code is QZXJV9")
    assert unit in _file_bytes(tmp_path)
    if not has_embedder:
        await service.stop()
        service = await launch()
    await service.memories.delete(BANK, [memory.record.id], purge=True)
    for mode in ("hybrid", "lexical", "semantic"):
        assert await texts(service, "heron code QZXJV9", mode=mode) == []
    await service.stop()
    left = _file_bytes(tmp_path)
    assert b"QZXJV9" not in left
    assert b"QZXTAG" not in left
    assert b"qzxjv9" not in left
    assert unit not in left
    for again in (await launch(), await launch(WordEmbedder())):
        await again.indexer.drained()
        assert await texts(again, "heron code QZXJV9") == []


async def test_t050_what_is_erased_frees_its_bytes(launch: Launch, tmp_path: Path) -> None:
    service = await launch(WordEmbedder())
    ids = []
    for start in range(0, 10_000, 1000):
        batch = [NewMemory(content=f"note {number} XQERASE") for number in range(start, start + 1000)]
        saved = await service.memories.save("main", batch, lambda _: "")
        ids += [item.memory.record.id for item in saved]
    await save(service, "a note that stays")
    await service.indexer.drained()
    await service.storage.compact()
    traces = [_stored_bytes(f"note {number} XQERASE") for number in (0, 4711, 9999)]
    before = _file_bytes(tmp_path)
    assert all(trace in before for trace in traces)
    for start in range(0, 10_000, 1000):
        gone = await service.memories.delete("main", ids[start : start + 1000], purge=True)
        assert len(gone.deleted) == 1000
    await service.storage.compact()
    assert (tmp_path / "data" / "lamina.db").stat().st_size < len(before) / 2
    await service.stop()
    after = _file_bytes(tmp_path)
    assert b"XQERASE" not in after
    assert not any(trace in after for trace in traces)
    again = await launch()
    assert await texts(again, "note that stays") == ["a note that stays"]


async def test_t050_erasing_a_bank_frees_its_bytes(launch: Launch, tmp_path: Path) -> None:
    service = await launch(WordEmbedder())
    for start in range(0, 2000, 500):
        batch = [NewMemory(content=f"vanishing note {number} XQERASE") for number in range(start, start + 500)]
        await service.memories.save("gone", batch, lambda _: "")
    await save(service, "a note that stays")
    await service.indexer.drained()
    await service.storage.compact()
    before = (tmp_path / "data" / "lamina.db").stat().st_size
    assert await service.banks.erase("gone") == 2000
    await service.storage.compact()
    assert (tmp_path / "data" / "lamina.db").stat().st_size < before / 2
    await service.stop()
    left = _file_bytes(tmp_path)
    assert b"XQERASE" not in left
    assert _stored_bytes("vanishing note 7 XQERASE") not in left
    again = await launch()
    assert await texts(again, "note that stays") == ["a note that stays"]


async def test_t065_a_killed_indexing_goes_on_at_the_next_start(launch: Launch) -> None:
    first = await launch(gated := GatedEmbedder())
    await save(first, "half indexed text")
    await gated.asked.wait()
    await first.stop()
    second = await launch(WordEmbedder())
    await second.indexer.drained()
    assert len((await ask(second, "half indexed text", mode="semantic")).results) == 1


def test_zero_is_taken_as_zero() -> None:
    settings = load_settings(embedding={"query_cache_entries": 0}, resident={"max_mb": 0}, recall={"limit": 0})
    assert (settings.embedding.query_cache_entries, settings.resident.max_mb, settings.recall.limit) == (0, 0, 0)


async def test_d23_a_limit_of_zero_returns_nothing(launch: Launch) -> None:
    service = await launch(recall={"limit": 0})
    await save(service, "something to find")
    assert (await ask(service, "something")).results == ()
    assert len((await ask(service, "something", limit=1)).results) == 1


def _file_bytes(directory: Path) -> bytes:
    return b"".join(path.read_bytes() for path in sorted((directory / "data").iterdir()) if path.is_file())


async def test_what_another_process_wrote_gets_its_vector_too(launch: Launch, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("app.services.indexer.LOOK_EVERY_S", 0.01)
    serving = await launch(WordEmbedder())
    await serving.indexer.drained()
    writing = await launch()
    await save(writing, "written by the command line")
    while (await serving.indexer.state()).waiting:
        await asyncio.sleep(0.01)
    assert len((await ask(serving, "written by the command line", mode="semantic")).results) == 1


def _stored_bytes(text: str) -> bytes:
    """
    The beginning of the text's vector as it lies in the file.
    """
    vector = WordEmbedder().vector(text)
    assert vector is not None
    return (vector / np.linalg.norm(vector.astype(np.float64))).astype(np.float32).tobytes()[:64]
