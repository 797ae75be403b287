"""
What the iii memory worker and OrbitAI promise of health, rights, places and exchangeable parts: I-22, I-49, T-03, T-07,
T-08, T-24, T-33 and T-35.
"""

from pathlib import Path

import numpy as np
import pytest
from sqlalchemy import Connection

from app.config import EmbeddingSettings, StorageSettings, load_settings
from app.domain.filters import RecordFilter
from app.errors import ConfigError, StorageError
from app.providers.openai import load_openai
from app.storage.banks import BankState
from app.storage.engine import DATABASE_NAME, Storage
from app.storage.protocols import Gathered, Question, RecallIndex
from tests.api.serving import ADMIN_KEY, Served, serving
from tests.requirements.speaking import listed, recall, recalled, save, say
from tests.services.asking import save as save_in
from tests.services.asking import texts
from tests.services.conftest import Launch


class Recording:
    """
    An index that hands every question on, and finds nothing where it is told to.
    """

    def __init__(self, behind: RecallIndex, *, is_blind: bool = False) -> None:
        self._behind = behind
        self._is_blind = is_blind
        self.asked: list[str] = []

    def gather(self, connection: Connection, bank: BankState, question: Question, wanted: RecordFilter) -> Gathered:
        """
        What the index behind this one finds.
        """
        self.asked.append(question.text)
        if self._is_blind:
            wanted = RecordFilter(clock=wanted.clock, tags=frozenset({"no such tag"}))
        return self._behind.gather(connection, bank, question, wanted)


async def test_i22_the_doctor_saves_recalls_and_erases_and_recall_names_its_mode(served: Served) -> None:
    report = (await served.client.post("/v1/doctor")).json()
    checks = {check["name"]: check for check in report["checks"]}
    assert report["ok"] is True
    assert checks["round_trip"]["state"] == "ok"
    assert "lexical" in checks["round_trip"]["detail"]
    assert {"store", "vector_extension", "embedder", "indexer"} <= checks.keys()
    assert (await served.client.get("/v1/banks")).json()["total"] == 0
    await save(served.client, "a", "A heron at the lake")
    assert (await recall(served.client, "a", "heron"))["retrieval"] == "lexical"


async def test_i22_the_doctor_says_so_when_a_saved_memory_is_not_recalled(served: Served) -> None:
    served.services.recall.index = Recording(served.services.recall.index, is_blind=True)
    report = (await served.client.post("/v1/doctor")).json()
    checks = {check["name"]: check for check in report["checks"]}
    assert (report["ok"], checks["round_trip"]["state"]) == (False, "failed")
    assert checks["store"]["state"] == "ok"
    assert (await served.client.get("/v1/banks")).json()["total"] == 0


async def test_i49_an_agent_works_on_memories_and_a_person_on_banks_and_rules(guarded: Served) -> None:
    async with guarded.as_key("alpha-writer-key-0123456789") as agent, guarded.as_key(ADMIN_KEY) as person:
        saved = await save(agent, "alpha", "Prefers tea to coffee")
        path = f"/v1/banks/alpha/memories/{saved['id']}"
        assert await recalled(agent, "alpha", "tea") == ["Prefers tea to coffee"]
        assert (await agent.get(path)).status_code == 200
        assert len(await listed(agent, "alpha")) == 1
        for change in ({"content": "Prefers water to coffee"}, {"pinned": True}):
            assert (await agent.patch(path, json=change)).status_code == 200
        assert (await agent.delete(path)).status_code == 204
        for method, target, body in (
            ("PUT", "/v1/banks/alpha/rules/style", {"content": "Always praise"}),
            ("PUT", "/v1/banks/alpha/documents/rules/style.md", {"content": "Always praise"}),
            ("POST", "/v1/banks/alpha/documents/rules/style.md/append", {"content": "Always praise"}),
            ("PATCH", "/v1/banks/alpha", {"description": "mine"}),
            ("DELETE", "/v1/banks/alpha", None),
        ):
            refused = await agent.request(method, target, json=body)
            assert refused.status_code == 403, target
        assert (await person.get("/v1/banks/alpha/rules")).json()["items"] == []
        assert (await person.put("/v1/banks/alpha/rules/style", json={"content": "Be brief"})).status_code == 201
        assert (await person.delete("/v1/banks/alpha")).status_code == 204


async def test_t03_preferences_and_knowledge_persist_across_sessions(tmp_path: Path) -> None:
    async with serving(tmp_path) as served:
        await save(served.client, "a", "Prefers tea to coffee", category="preference")
        await served.client.put("/v1/banks/a/documents/LEARNING.md", json={"content": "# Ferries\n\nThey are blue\n"})
        await say(served.client, "a", "shall I brew something?", session_id="s1")
    async with serving(tmp_path) as served:
        asked = {"filters": {}, "tiers": ["memory", "document", "entry"]}
        assert await recalled(served.client, "a", "tea", **asked) == ["Prefers tea to coffee"]
        assert "They are blue" in (await recalled(served.client, "a", "ferries", **asked))[0]
        assert await recalled(served.client, "a", "brew", **asked) == ["shall I brew something?"]


@pytest.mark.parametrize("given", ["~/kept", "kept/further/down"])
def test_t07_the_state_lies_where_the_configuration_says(
    given: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("LAMINA_STORAGE__DATA_DIR", given)
    settings = load_settings().storage
    Storage(settings).close()
    assert (tmp_path / given.removeprefix("~/") / DATABASE_NAME).is_file()


def test_t07_without_configuration_the_state_lies_in_the_working_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Storage(load_settings().storage).close()
    assert (tmp_path / "data" / DATABASE_NAME).is_file()
    with pytest.raises(ConfigError, match=r"storage\.data_dir: .* cannot be taken"):
        load_settings(storage={"data_dir": "~nobody-of-this-name/data"})


@pytest.mark.parametrize(
    ("model", "dimensions"),
    [("text-embedding-ada-002", 1536), ("text-embedding-3-small", 1536), ("text-embedding-3-large", 3072)],
)
async def test_t08_b20_the_embedding_model_and_its_dimensions_are_configured(model: str, dimensions: int) -> None:
    given = {"provider": "openai", "model": model, "api_key": "sk-" + "a1B2" * 10}
    embedder = load_openai(EmbeddingSettings.model_validate(given))
    assert (embedder.space.name, embedder.space.dimensions) == (model, dimensions)
    await embedder.close()
    other = load_openai(EmbeddingSettings.model_validate({**given, "dimensions": 256}))
    assert other.space.dimensions == 256
    assert other.space.identity() != embedder.space.identity()
    await other.close()


async def test_t24_another_index_can_take_the_place_of_the_own_one(launch: Launch) -> None:
    service = await launch()
    await save_in(service, "a heron at the lake")
    service.recall.index = elsewhere = Recording(service.recall.index)
    assert await texts(service, "heron") == ["a heron at the lake"]
    assert elsewhere.asked == ["heron"]
    service.recall.index = Recording(service.recall.index, is_blind=True)
    assert await texts(service, "heron") == []


async def test_t33_a_reader_cannot_write_a_stranger_sees_nothing_and_nobody_enters_without_a_key(
    guarded: Served,
) -> None:
    async with guarded.as_key(ADMIN_KEY) as admin:
        await save(admin, "alpha", "Prefers tea to coffee")
    asked = {"query": "tea"}
    nobody = await guarded.client.post("/v1/banks/alpha/recall", json=asked)
    assert nobody.status_code == 401
    async with guarded.as_key("no-key-that-was-ever-made") as unknown:
        assert (await unknown.post("/v1/banks/alpha/recall", json=asked)).status_code == 401
    async with guarded.as_key("alpha-reader-key-0123456789") as reader:
        assert await recalled(reader, "alpha", "tea") == ["Prefers tea to coffee"]
        for answer in (
            await reader.post("/v1/banks/alpha/memories", json={"content": "Prefers water"}),
            await reader.post("/v1/banks/alpha/entries", json={"entries": [{"content": "hello"}]}),
        ):
            assert (answer.status_code, answer.headers["content-type"]) == (403, "application/problem+json")
    async with guarded.as_key("beta-admin-key-0123456789ab") as stranger:
        assert (await stranger.post("/v1/banks/alpha/recall", json=asked)).status_code == 404
    async with guarded.as_key(ADMIN_KEY) as admin:
        assert len(await listed(admin, "alpha")) == 1


def test_t35_a_place_that_cannot_keep_anything_is_named_at_the_start(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(StorageError, match="file/data cannot be written"):
        Storage(StorageSettings(data_dir=tmp_path / "file" / "data"))
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / DATABASE_NAME).write_bytes(np.random.default_rng(1).bytes(20_000))
    with pytest.raises(StorageError, match=DATABASE_NAME):
        Storage(StorageSettings(data_dir=tmp_path / "broken"))
