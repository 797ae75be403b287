"""
A run over a set: through the service that ships, by the set's own clock, leaving nothing behind.
"""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from app.config import Settings
from app.errors import InvalidInput, Unavailable
from app.providers.protocols import ProviderState
from app.services.recall import Recall
from app.services.recall_model import Mode, RecallAnswer, RecallRequest
from eval import runner
from eval.datasets import load
from eval.report import Report, as_data
from eval.runner import evaluate, run
from eval.vector_cache import TimedEmbedder
from tests.eval.conftest import WriteSet
from tests.stand_ins import FailingEmbedder, WordEmbedder

Rows = list[dict[str, Any]]

NO_EMBEDDER = ProviderState("none", True, "embedding is off")
MEMORIES: Rows = [
    {"id": "cat", "text": "The cat is called Miso.", "created_at": "2025-01-01T00:00:00Z"},
    {"id": "boat", "text": "Ana sails a small boat.", "created_at": "2025-02-01T00:00:00Z"},
    {"id": "bike", "text": "Ana sold her bicycle.", "created_at": "2025-03-01T00:00:00Z"},
    {"id": "theirs", "text": "The cat of Bo is called Udon.", "bank": "away"},
]
QUERIES: Rows = [
    {"query": "What is the cat called?", "relevant": ["cat"], "category": "plain", "traps": ["theirs"]},
    {"query": "feline", "relevant": ["cat"], "category": "meaning"},
    {"query": "zebra", "category": "no-answer"},
]


def named(report: Report, name: str) -> dict[str, Any]:
    rows = as_data(report, with_queries=True)["rows"]
    assert isinstance(rows[name], dict)
    return dict(rows[name])


async def test_i44_every_row_is_scored_by_the_recall_that_ships(write_set: WriteSet, settings: Settings) -> None:
    dataset = load(write_set(MEMORIES, QUERIES))
    embedder = TimedEmbedder(WordEmbedder(synonyms={"feline": "cat"}), None, 1000)
    report = await evaluate(dataset, settings, ("hybrid", "lexical", "semantic"), embedder)
    assert (report.banks, report.memories, report.queries) == (2, 4, 3)
    assert report.space == embedder.space.identity()
    assert report.ingest.embedded == 4
    assert report.query_embedding_ms is not None
    assert report.query_embedding_ms.number == 3
    assert [row.name for row in report.rows] == ["hybrid", "lexical", "semantic"]
    assert {name: named(report, name)["categories"]["meaning"]["hit@1"] for name in ("lexical", "semantic")} == {
        "lexical": 0.0,
        "semantic": 1.0,
    }
    assert named(report, "hybrid")["total"]["recall@10"] == 1.0
    for row in report.rows:
        assert row.retrieval == {row.name: 3}
        assert row.total.tallies["leaks"].number == 0
        assert row.recall_ms is not None
        assert row.recall_ms.number == 3


async def test_each_question_is_asked_by_its_own_clock_and_counts_no_access(
    write_set: WriteSet, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[RecallRequest] = []
    recall = Recall.recall

    async def watched(self: Recall, bank: str, request: RecallRequest) -> RecallAnswer:
        asked.append(request)
        return await recall(self, bank, request)

    monkeypatch.setattr(Recall, "recall", watched)
    queries = [{**QUERIES[0], "asked_at": f"2025-0{month}-01T00:00:00Z"} for month in (4, 5)]
    dataset = load(write_set(MEMORIES, queries))
    await evaluate(dataset, settings, ("lexical", "orca"), NO_EMBEDDER)
    assert [request.as_of for request in asked] == [query.as_of for query in dataset.queries] * 2
    assert not any(request.record_access for request in asked)
    assert {request.limit for request in asked} == {10}
    assert [(request.mode, request.scorer) for request in asked[::2]] == [(Mode.LEXICAL, None), (Mode.HYBRID, "orca")]


async def test_a_memory_superseded_after_the_question_was_asked_still_holds(
    write_set: WriteSet, settings: Settings
) -> None:
    old = {"id": "old", "text": "Ana lives in Bonn.", "created_at": "2025-01-01T00:00:00Z", "superseded_by": "new"}
    new = {"id": "new", "text": "Ana lives in Kiel.", "created_at": "2025-06-01T00:00:00Z"}
    where = {"query": "Where does Ana live? lives", "relevant": ["new"]}
    queries = [{**where, "asked_at": "2025-03-01T00:00:00Z"}, {**where, "asked_at": "2025-09-01T00:00:00Z"}]
    report = await evaluate(load(write_set([old, new], queries)), settings, ("lexical",), NO_EMBEDDER)
    found = [set(item.results) for item in report.rows[0].judged]
    assert found == [{"old", "new"}, {"new"}]


async def test_the_same_set_twice_gives_the_same_report_but_for_the_times(
    write_set: WriteSet, settings: Settings
) -> None:
    dataset = load(write_set(MEMORIES, QUERIES))
    reports = [await evaluate(dataset, settings, ("hybrid",), WordEmbedder()) for _ in range(2)]
    first, second = ([replace(row, recall_ms=None) for row in report.rows] for report in reports)
    assert first == second


async def test_without_an_embedder_meaning_alone_is_left_out_and_said(write_set: WriteSet, settings: Settings) -> None:
    dataset = load(write_set(MEMORIES, QUERIES))
    report = await evaluate(dataset, settings, ("hybrid", "semantic"), NO_EMBEDDER)
    assert [row.name for row in report.rows] == ["hybrid"]
    assert report.notes == ("semantic is left out: there is no embedder (embedding is off)",)
    assert (report.space, report.query_embedding_ms) == (None, None)
    with pytest.raises(InvalidInput, match="nothing is left to run without an embedder"):
        await evaluate(dataset, settings, ("semantic",), NO_EMBEDDER)


async def test_an_embedder_that_fails_ends_the_run(write_set: WriteSet, settings: Settings) -> None:
    impatient = settings.embedding.model_copy(update={"request_timeout_s": 0.2, "max_retries": 0})
    dataset = load(write_set(MEMORIES, QUERIES))
    with pytest.raises(Unavailable, match="4 texts have no vector: embedder_unreachable"):
        await evaluate(dataset, settings.model_copy(update={"embedding": impatient}), ("hybrid",), FailingEmbedder())


async def test_what_is_expected_is_carried_to_the_record_that_two_rows_became(
    write_set: WriteSet, settings: Settings
) -> None:
    rows = [{"id": "m1", "text": "Ana eats no nuts."}, {"id": "m2", "text": "ana eats no nuts."}]
    dataset = load(write_set(rows, [{"query": "nuts", "relevant": ["m2"]}]))
    report = await evaluate(dataset, settings, ("lexical",), NO_EMBEDDER)
    assert report.rows[0].total.figures["hit@1"] == 1.0


async def test_a_run_leaves_the_configured_data_directory_alone(write_set: WriteSet, settings: Settings) -> None:
    stages: dict[str, tuple[int, int]] = {}
    await run(
        write_set(MEMORIES, QUERIES), settings, None, ("lexical",), lambda *step: stages.update({step[0]: step[1:]})
    )
    assert not settings.storage.data_dir.exists()
    assert stages == {"storing": (4, 4), "lexical": (3, 3)}


async def test_the_cache_serves_the_second_run(
    write_set: WriteSet, settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(runner, "build_embedder", lambda *_: WordEmbedder())
    data = write_set(MEMORIES, QUERIES)
    counts = []
    for use_cache in (True, True, False):
        report = await run(data, settings, None, ("hybrid",), use_cache=use_cache)
        asked = None if report.query_embedding_ms is None else report.query_embedding_ms.number
        counts.append((report.ingest.embedded, report.ingest.from_cache, asked))
    assert counts == [(4, 0, 3), (0, 4, None), (4, 0, 3)]


async def test_a_report_is_written_as_json_and_as_a_chart(
    write_set: WriteSet, settings: Settings, tmp_path: Path
) -> None:
    out = tmp_path / "deep" / "out"
    report = await run(write_set(MEMORIES, QUERIES), settings, out, ("hybrid", "lexical"))
    data = json.loads((out / "small.json").read_text(encoding="utf-8"))
    assert data == as_data(report, with_queries=True)
    first = data["rows"]["lexical"]["queries"][0]
    assert (first["id"], first["results"], first["figures"]["hit@1"], first["leaks"]) == ("q0", ["cat"], 1.0, False)
    assert (out / "small.png").read_bytes().startswith(b"\x89PNG")


async def test_a_place_that_cannot_be_written_to_is_named(
    write_set: WriteSet, settings: Settings, tmp_path: Path
) -> None:
    occupied = tmp_path / "file"
    occupied.write_text("here", encoding="utf-8")
    with pytest.raises(InvalidInput, match=r"out: .*file cannot be written to"):
        await run(write_set(MEMORIES, QUERIES), settings, occupied, ("lexical",))


@pytest.mark.parametrize("rows", [(), ("lexical", "guesswork")])
async def test_rows_that_are_not_known_are_refused(
    write_set: WriteSet, settings: Settings, rows: tuple[str, ...]
) -> None:
    with pytest.raises(InvalidInput, match="must be some of hybrid, lexical, semantic, fused, orca"):
        await run(write_set(MEMORIES, QUERIES), settings, None, rows)
