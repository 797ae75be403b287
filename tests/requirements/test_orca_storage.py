"""
What the Orca memory bank promises of keeping: O-01, O-02, O-07, O-09, O-10 and O-52 to O-57.
"""

import asyncio
import shutil
from datetime import UTC, datetime, timedelta
from pathlib import Path

import httpx
import pytest

from app.clock import FrozenClock
from app.domain.records import Category
from app.storage.engine import DATABASE_NAME
from tests.api.serving import serving
from tests.cli.conftest import Lamina
from tests.requirements.speaking import context, listed, recall, recalled, save
from tests.services.asking import ask
from tests.services.asking import save as save_in
from tests.services.conftest import Launch

NOW = datetime(2026, 6, 30, 12, 0, tzinfo=UTC)


async def test_o01_what_is_saved_for_a_profile_outlives_every_session(tmp_path: Path) -> None:
    async with serving(tmp_path) as served:
        await save(served.client, "ana", "Ana is allergic to hazelnuts", session_id="s1")
        await save(served.client, "ben", "Ben grows hazelnuts")
    async with serving(tmp_path) as served:
        assert await recalled(served.client, "ana", "hazelnuts") == ["Ana is allergic to hazelnuts"]
        assert [item["session_id"] for item in await listed(served.client, "ana")] == ["s1"]


async def test_o02_preferences_facts_behaviours_and_passing_context_are_all_kept(client: httpx.AsyncClient) -> None:
    said = {
        "preference": "Prefers lanterns to torches",
        "fact": "Owns three lanterns",
        "behavior": "Lights the lantern at dusk",
        "context": "Is looking for a lantern today",
    }
    for category, content in said.items():
        await save(client, "ana", content, category=category)
    assert {item["category"]: item["content"] for item in await listed(client, "ana")} == said
    assert set(await recalled(client, "ana", "lantern")) == set(said.values())
    assert await recalled(client, "ana", "lantern", filters={"category": "fact"}) == ["Owns three lanterns"]


async def test_o07_all_that_a_service_knows_lies_in_one_file(tmp_path: Path) -> None:
    async with serving(tmp_path / "here") as served:
        await save(served.client, "ana", "Ana plays the cello", tags=["music"], pinned=True, key="instrument")
        await served.client.put("/v1/banks/ana/rules/style", json={"content": "Be brief"})
        before = await listed(served.client, "ana")
    there = tmp_path / "there"
    there.mkdir()
    shutil.copy(tmp_path / "here" / DATABASE_NAME, there)
    async with serving(there) as served:
        after = await listed(served.client, "ana")
        assert [{**item, "staleness": 0} for item in after] == [{**item, "staleness": 0} for item in before]
        assert await recalled(served.client, "ana", "cello") == ["Ana plays the cello"]
        rules = (await served.client.get("/v1/banks/ana/rules")).json()
        assert [rule["content"] for rule in rules["items"]] == ["Be brief"]


@pytest.mark.parametrize("resident", [0, 64])
async def test_o09_the_index_in_memory_follows_the_file(launch: Launch, resident: int) -> None:
    reader = await launch(resident={"max_mb": resident})
    writer = await launch()
    first = await save_in(writer, "the heron stands in the reeds")
    assert [item.record.id for item in (await ask(reader, "heron")).results] == [first.record.id]
    second = await save_in(writer, "a second heron flew in")
    await writer.memories.delete("main", [first.record.id])
    assert [item.record.id for item in (await ask(reader, "heron")).results] == [second.record.id]


async def test_o10_a_save_that_was_answered_is_on_disk(tmp_path: Path) -> None:
    async with serving(tmp_path / "data") as served:
        await save(served.client, "ana", "Ana parks on level three")
        # A copy of the files as they lie there, taken while the service still runs and has closed nothing.
        shutil.copytree(tmp_path / "data", tmp_path / "crashed")
    async with serving(tmp_path / "crashed") as served:
        assert await recalled(served.client, "ana", "parks") == ["Ana parks on level three"]


def test_o52_without_any_configuration_of_a_store_what_is_saved_is_kept(
    program: Lamina, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("S3_BUCKET", raising=False)
    saved = program("remember", "Ana parks on level three", "--json")
    assert saved.code == 0
    (result,) = program("recall", "where does Ana park", "--json").document["results"]
    assert result["id"] == saved.document["id"]


async def test_o53_two_processes_write_to_one_file_and_each_sees_the_other(tmp_path: Path) -> None:
    clock = FrozenClock(NOW)
    async with serving(tmp_path, clock=clock) as runner, serving(tmp_path, clock=clock) as conductor:
        writers = (runner.client, conductor.client)
        await asyncio.gather(*(save(writers[n % 2], "ana", f"Lantern number {n}") for n in range(40)))
        for client in writers:
            contents = {item["content"] for item in await listed(client, "ana", limit=100)}
            assert contents == {f"Lantern number {n}" for n in range(40)}
            assert len(await recalled(client, "ana", "lantern", limit=100)) == 40
        await context(conductor.client, "ana", "anything", profile="orca")
        await save(runner.client, "ana", "Signs letters with a heron", category="preference")
        clock.moment += timedelta(seconds=2)
        shown = await context(conductor.client, "ana", "anything", profile="orca", sections=["core"])
        assert "Signs letters with a heron" in shown["text"]


async def test_o54_a_profile_shares_nothing_with_another(client: httpx.AsyncClient) -> None:
    mine = await save(client, "ana", "The vault code is heron", category="fact", key="vault", tags=["secret"])
    await save(client, "ben", "Ben has a vault too", category="fact")
    path = "/v1/banks/ben/memories"
    assert await recalled(client, "ben", "vault code heron", include_superseded=True) == ["Ben has a vault too"]
    assert await recalled(client, "ben", "") == ["Ben has a vault too"]
    assert "heron" not in (await context(client, "ben", "vault code", profile="orca"))["text"]
    assert (await client.get(f"{path}/{mine['id']}")).status_code == 404
    assert await listed(client, "ben", key="vault") == []
    assert (await client.get("/v1/banks/ben/tags")).json() == []
    assert (await save(client, "ben", "The vault code is osprey", key="vault"))["key"] == "vault"


async def test_o55_more_than_a_thousand_memories_of_a_profile_are_read_page_by_page(client: httpx.AsyncClient) -> None:
    for start, stop in ((0, 1000), (1000, 1203)):
        several = [{"content": f"Fact number {number}"} for number in range(start, stop)]
        assert (await client.post("/v1/banks/ana/memories", json={"memories": several})).status_code == 201
    seen: list[str] = []
    for offset in range(0, 1203, 500):
        page = (await client.get("/api/profiles/ana/memories", params={"limit": 500, "offset": offset})).json()
        assert page["total"] == 1203
        seen += [item["processedContent"] for item in page["memories"]]
    assert seen == [f"Fact number {number}" for number in reversed(range(1203))]
    assert await recalled(client, "ana", "fact number 0", limit=1) == ["Fact number 0"]


async def test_o56_age_alone_removes_nothing(tmp_path: Path) -> None:
    clock = FrozenClock(NOW)
    async with serving(tmp_path, clock=clock) as served:
        for category in Category:
            await save(served.client, "ana", f"A {category} about herons", category=category, confidence=0.1)
    clock.moment += timedelta(days=3650)
    async with serving(tmp_path, clock=clock) as served:
        assert {item["staleness"] for item in await listed(served.client, "ana")} == {1.0}
        assert len(await recalled(served.client, "ana", "herons")) == len(Category)


async def test_o57_a_crash_loses_counts_at_most(tmp_path: Path) -> None:
    slow = {"access_flush_s": 600.0}
    async with serving(tmp_path / "data", recall=slow) as served:
        await save(served.client, "ana", "Ana plays the cello")
        found = await recall(served.client, "ana", "cello")
        shutil.copytree(tmp_path / "data", tmp_path / "crashed")
    async with serving(tmp_path / "crashed", recall=slow) as served:
        (item,) = await listed(served.client, "ana")
        assert (item["id"], item["access_count"]) == (found["results"][0]["id"], 0)
    async with serving(tmp_path / "data", recall=slow) as served:
        (item,) = await listed(served.client, "ana")
        assert item["access_count"] == 1
