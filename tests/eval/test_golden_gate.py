"""
The golden gate: the recall that ships is no worse than the committed figures, and the gate itself can tell.
"""

import asyncio
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from app.config import Settings
from app.domain.identity import text_hash
from app.errors import InvalidInput
from app.providers.factory import build_embedder
from app.providers.model_files import ModelFiles
from app.providers.protocols import EmbeddingSpace, ProviderState
from eval import gate
from eval.golden_vectors import RecordedEmbedder, Recorder, configured_space, load_vectors, save_vectors
from eval.report import Report
from eval.vector_cache import DOCUMENT
from tests.stand_ins import WordEmbedder

Held = dict[str, Any]


@pytest.fixture(scope="module")
def report() -> Report:
    return asyncio.run(gate.score())


def held(report: Report, tmp_path: Path, change: Callable[[Held], None] | None = None) -> gate.Snapshot:
    """
    A snapshot of the report, changed as if the figures had once been others.
    """
    path = tmp_path / "golden.json"
    gate.update_snapshot(report, path)
    data = json.loads(path.read_text(encoding="utf-8"))
    if change is not None:
        change(data)
    path.write_text(json.dumps(data), encoding="utf-8")
    return gate.load_snapshot(path)


def judged(report: Report, snapshot: gate.Snapshot) -> gate.Verdict:
    return gate.compare(report, snapshot, gate.golden_digest())


def test_i48_the_recall_is_no_worse_than_the_committed_figures(report: Report) -> None:
    verdict = judged(report, gate.load_snapshot(gate.SNAPSHOT))
    assert verdict.failures == (), "\n".join((*verdict.failures, *verdict.remarks))


def test_c8_nothing_of_another_bank_ever_comes_back(report: Report) -> None:
    for row in report.rows:
        assert [item.query.id for item in row.judged if item.leaked] == []
        assert row.total.tallies["leaks"].of == report.queries


def test_i46_the_snapshot_holds_each_row_by_category_and_language(report: Report) -> None:
    committed = gate.load_snapshot(gate.SNAPSHOT)
    assert list(committed.rows) == ["lexical", "hybrid"]
    categories = {f"category {item.query.category}" for item in report.rows[0].judged}
    for groups in committed.rows.values():
        assert set(groups) == {"total", *categories, *(f"language {lang}" for lang in ("en", "pt", "zh", "de"))}


def test_every_vector_of_the_gate_was_recorded(report: Report) -> None:
    hybrid = report.row("hybrid")
    assert hybrid is not None
    assert hybrid.degraded == {}
    assert report.space == configured_space(gate.shipped_settings().embedding)[0].identity()


def test_recorded_vectors_are_those_that_the_default_embedder_makes() -> None:
    settings = gate.shipped_settings()
    embedder = build_embedder(settings.embedding, ModelFiles.configured(settings.models))
    if isinstance(embedder, ProviderState):
        pytest.skip(f"no model on this machine: {embedder.detail}")
    memories = [json.loads(line) for line in (gate.GOLDEN / "memories.jsonl").read_bytes().splitlines()]
    texts = [row["text"] for row in memories[:3]]

    async def embed() -> list[Any]:
        made = await embedder.embed_documents(texts)
        await embedder.close()
        return made

    space, floor = configured_space(settings.embedding)
    assert (embedder.space, embedder.floor) == (space, floor)
    recorded = RecordedEmbedder(space, floor, load_vectors(gate.VECTORS)[1])
    found = asyncio.run(recorded.embed_documents(texts))
    for made, kept in zip(asyncio.run(embed()), found, strict=True):
        # int8 kernels differ between processors, so near is all that can be asked
        assert kept is not None
        assert float(made @ kept) > 0.95


def test_a_figure_may_fall_within_its_tolerance_and_no_further(report: Report, tmp_path: Path) -> None:
    def raised(by: float, group: str) -> Callable[[Held], None]:
        def change(data: Held) -> None:
            data["rows"]["hybrid"][group]["ndcg@10"] += by

        return change

    queries = report.row("hybrid")
    assert queries is not None
    one = 1 / queries.languages["pt"].answerable
    for group, allowed in (("total", 0.01), ("language pt", one)):
        assert judged(report, held(report, tmp_path, raised(allowed * 0.95, group))).ok
        failures = judged(report, held(report, tmp_path, raised(allowed * 1.05, group))).failures
        assert [failure.split(" fell")[0] for failure in failures] == [f"hybrid, {group}: ndcg@10"]


def test_a_better_figure_passes(report: Report, tmp_path: Path) -> None:
    def lowered(data: Held) -> None:
        data["rows"]["lexical"]["total"]["hit@1"] -= 0.2

    assert judged(report, held(report, tmp_path, lowered)).ok


def test_i47_traps_and_pollution_may_not_grow(report: Report, tmp_path: Path) -> None:
    row = report.row("hybrid")
    assert row is not None
    trapped = replace(row.total.tallies["traps"], number=row.total.tallies["traps"].number + 1)
    worse = replace(row.total, tallies={**row.total.tallies, "traps": trapped})
    worsened = replace(report, rows=(replace(row, total=worse), report.rows[0]))
    failures = judged(worsened, held(report, tmp_path)).failures
    assert failures == (f"hybrid, total: traps rose to {trapped.number} from {trapped.number - 1}",)


def test_false_positives_may_grow_by_one_query(report: Report, tmp_path: Path) -> None:
    def fewer(by: int) -> Callable[[Held], None]:
        def change(data: Held) -> None:
            data["rows"]["hybrid"]["language en"]["false_positives"]["number"] -= by

        return change

    assert judged(report, held(report, tmp_path, fewer(1))).ok
    failures = judged(report, held(report, tmp_path, fewer(2))).failures
    assert len(failures) == 1
    assert failures[0].startswith("hybrid, language en: false_positives rose")


def test_a_leak_fails_whatever_the_snapshot_says(report: Report, tmp_path: Path) -> None:
    row = report.rows[0]
    leaking = replace(row, judged=(replace(row.judged[0], leaked=True), *row.judged[1:]))
    leaky = replace(report, rows=(leaking, *report.rows[1:]))
    expected = f"{row.name}: 1 queries brought records of another bank: {row.judged[0].query.id}"
    assert judged(leaky, held(report, tmp_path)).failures == (expected,)
    assert expected in gate.compare(leaky, held(report, tmp_path), "another set").failures


def test_a_row_or_group_that_is_missing_fails(report: Report, tmp_path: Path) -> None:
    def more(data: Held) -> None:
        data["rows"]["hybrid"]["category lost"] = data["rows"]["hybrid"]["total"]
        data["rows"]["semantic"] = data["rows"]["hybrid"]

    assert judged(report, held(report, tmp_path, more)).failures == (
        "hybrid, category lost: the group is missing",
        "semantic: the row is missing",
    )


def test_a_changed_set_or_space_asks_for_a_new_snapshot(report: Report, tmp_path: Path) -> None:
    snapshot = held(report, tmp_path)
    changed = gate.compare(report, snapshot, "another set").failures
    assert changed == ("the golden set has changed since the snapshot; run `lamina eval golden --update`",)
    other = judged(replace(report, space="other@1"), snapshot).failures
    assert other == (
        f"the snapshot was made with {snapshot.space}, this run with other@1; run `lamina eval golden --update`",
    )


def test_an_update_keeps_the_tolerances(report: Report, tmp_path: Path) -> None:
    def wider(data: Held) -> None:
        data["tolerances"] = {"total": 0.05, "queries": 2.0}

    held(report, tmp_path, wider)
    assert held(report, tmp_path).tolerances == gate.Tolerances(0.05, 2.0)


def test_a_snapshot_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=r"golden\.json: cannot be used: .*lamina eval golden --update"):
        gate.load_snapshot(tmp_path / "golden.json")
    (tmp_path / "golden.json").write_text("{}", encoding="utf-8")
    with pytest.raises(InvalidInput, match=r"golden\.json: cannot be used: .*missing required field"):
        gate.load_snapshot(tmp_path / "golden.json")


async def recorded(*texts: str) -> Recorder:
    recorder = Recorder(WordEmbedder(8))
    await recorder.embed_documents([*texts, "..."])
    await recorder.embed_query("apples?")
    return recorder


async def test_recorded_vectors_come_back_as_they_were(tmp_path: Path) -> None:
    recorder = await recorded("red apples", "green pears")
    path = tmp_path / "vectors.npz"
    save_vectors(path, recorder.space, recorder.vectors)
    identity, vectors = load_vectors(path)
    assert identity == recorder.space.identity()
    embedder = RecordedEmbedder(recorder.space, recorder.floor, vectors)
    made, nothing = await embedder.embed_documents(["red apples", "..."])
    original = recorder.vectors[DOCUMENT, text_hash("red apples")]
    assert made is not None
    assert original is not None
    assert float(made @ original) > 0.9999
    assert np.linalg.norm(made) == pytest.approx(1.0, abs=1e-6)
    assert nothing is None
    assert await embedder.embed_query("apples?") is not None
    assert embedder.missing == set()
    assert await embedder.embed_query("red apples") is None
    assert embedder.missing == {"red apples"}


async def test_the_same_vectors_give_the_same_file(tmp_path: Path) -> None:
    files = []
    for name, texts in (("a.npz", ("red apples", "green pears")), ("b.npz", ("green pears", "red apples"))):
        recorder = await recorded(*texts)
        save_vectors(tmp_path / name, recorder.space, recorder.vectors)
        files.append((tmp_path / name).read_bytes())
    assert files[0] == files[1]


def test_vectors_that_cannot_be_read_are_named(tmp_path: Path) -> None:
    path = tmp_path / "vectors.npz"
    with pytest.raises(InvalidInput, match=r"vectors\.npz: cannot be used: .*lamina eval golden --vectors"):
        load_vectors(path)
    path.write_bytes(b"nothing")
    with pytest.raises(InvalidInput, match=r"vectors\.npz: cannot be used"):
        load_vectors(path)


def test_vectors_of_another_model_are_refused_and_both_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "vectors.npz"
    save_vectors(path, EmbeddingSpace("older", "", 8, "mean", "", ""), {})
    monkeypatch.setattr(gate, "VECTORS", path)
    own = configured_space(gate.shipped_settings().embedding)[0].identity()
    with pytest.raises(InvalidInput, match=rf"the default embedder has changed: .* of older@.*, it is {own}"):
        asyncio.run(gate.score())


def test_vectors_that_do_not_cover_the_set_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "vectors.npz"
    vectors = dict(load_vectors(gate.VECTORS)[1])
    vectors.pop(min(vectors))
    save_vectors(path, configured_space(gate.shipped_settings().embedding)[0], vectors)
    monkeypatch.setattr(gate, "VECTORS", path)
    with pytest.raises(InvalidInput, match=r"no vector for 1 texts of the golden set, such as .*--vectors --update"):
        asyncio.run(gate.score())


def test_the_space_of_a_provider_that_is_not_local_is_not_guessed() -> None:
    remote = Settings().embedding.model_copy(update={"provider": "openai"})
    with pytest.raises(InvalidInput, match="is no local embedding model"):
        configured_space(remote)


def test_the_gate_runs_the_defaults_whatever_the_environment_says(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LAMINA_RECALL__HALF_LIFE_DAYS", "1")
    assert Settings().recall.half_life_days == 1
    assert gate.shipped_settings().recall.half_life_days == 60.0
