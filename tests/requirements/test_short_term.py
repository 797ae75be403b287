"""
What OrcBot promises of its short-term memory and of its vectors: B-01, B-02, B-05 to B-07, B-09, B-10, B-21, B-22,
B-24, B-26 and B-30.
"""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest

from app.services.remember import EntryQuery
from tests.api.serving import serving
from tests.requirements.speaking import context, recalled, say
from tests.services.asking import BANK, ask, texts
from tests.services.asking import save as save_in
from tests.services.asking import say as say_in
from tests.services.conftest import Launch
from tests.stand_ins import GatedEmbedder, WordEmbedder

NOW = datetime(2026, 6, 30, 12, 0, tzinfo=UTC)
CHAT = {"source": "telegram", "source_id": "123456789"}


async def test_b01_messages_tool_results_and_system_events_come_in_the_same_way(client: httpx.AsyncClient) -> None:
    entries: list[dict[str, Any]] = [
        {"content": "find me a ferry", "role": "user", **CHAT},
        {"content": "the ferry leaves at noon", "role": "tool", "skill": "web_search", "action_id": "a1", "step": 1},
        {"content": "ferry timetable was reloaded", "role": "system"},
    ]
    posted = await client.post("/v1/banks/main/entries", json={"entries": entries})
    assert [result["status"] for result in posted.json()["results"]] == ["created"] * 3
    for entry in entries:
        page = (await client.get("/v1/banks/main/entries", params={"role": entry["role"]})).json()
        assert [item["content"] for item in page["items"]] == [entry["content"]]
    assert set(await recalled(client, "main", "ferry")) == {entry["content"] for entry in entries}


async def test_b02_a_message_is_kept_at_once_and_its_vector_follows(launch: Launch) -> None:
    embedder = GatedEmbedder()
    service = await launch(embedder)
    await say_in(service, "the ferry leaves at noon", **CHAT)
    waiting = await service.banks.stats(BANK)
    assert (waiting.records["entry"], waiting.vectors, waiting.pending_vectors) == (1, 0, 1)
    assert await texts(service, "ferry") == ["the ferry leaves at noon"]
    embedder.gate.set()
    await service.indexer.drained()
    settled = await service.banks.stats(BANK)
    assert (settled.vectors, settled.pending_vectors) == (1, 0)


async def test_b05_the_observations_of_an_action_stand_beside_the_conversation(client: httpx.AsyncClient) -> None:
    await say(client, "main", "please find a ferry", session_id="s1", role="user")
    for step in (1, 2, 3):
        fields = {"action_id": "task-42", "step": step, "skill": "web_search", "role": "tool", "session_id": "s1"}
        await say(client, "main", f"observation of step {step}", **fields)
    of_action = (await client.get("/v1/banks/main/entries", params={"action_id": "task-42"})).json()["items"]
    assert [(item["step"], item["skill"]) for item in of_action] == [(n, "web_search") for n in (3, 2, 1)]
    shown = (await context(client, "main", "what now?", session_id="s1", sections=["recent"]))["text"]
    places = [shown.index(text) for text in ("please find a ferry", *(f"observation of step {n}" for n in (1, 2, 3)))]
    assert places == sorted(places)


async def test_b06_short_term_entries_outlive_the_process(tmp_path: Path) -> None:
    async with serving(tmp_path) as served:
        await say(served.client, "main", "the ferry leaves at noon", **CHAT)
        before = (await served.client.get("/v1/banks/main/entries")).json()
    async with serving(tmp_path) as served:
        assert (await served.client.get("/v1/banks/main/entries")).json() == before
        assert await recalled(served.client, "main", "ferry") == ["the ferry leaves at noon"]


async def test_b07_the_twenty_newest_entries_enter_the_prompt(client: httpx.AsyncClient) -> None:
    for minute in range(25):
        said_at = (NOW + timedelta(minutes=minute)).isoformat()
        await say(client, "main", f"line {minute}", session_id="s1", timestamp=said_at)
    answer = await context(client, "main", "what was said?", session_id="s1", sections=["recent"])
    (section,) = answer["sections"]
    assert len(section["items"]) == 20
    shown = [int(line.rpartition(" ")[2]) for line in answer["text"].splitlines() if "line " in line]
    assert shown == list(range(5, 25))


async def test_b09_an_entry_keeps_its_whole_content_and_a_prompt_shows_fifteen_hundred_characters(
    client: httpx.AsyncClient,
) -> None:
    said = {
        "role": "assistant",
        "timestamp": "2026-06-30T09:00:00+02:00",
        "action_id": "task-42",
        "step": 3,
        "skill": "web_search",
        "metadata": {"page": 7},
        **CHAT,
    }
    content = "word " * 400
    (result,) = await say(client, "main", content, **said)
    assert result["id"].startswith("ent-")
    (kept,) = (await client.get("/v1/banks/main/entries")).json()["items"]
    assert {name: kept[name] for name in said} == said
    assert kept["content"] == content
    answer = await context(client, "main", "what was found?", sections=["recent"], budget={"chars": 20_000})
    (item,) = answer["sections"][0]["items"]
    assert item["truncated"] is True
    (line,) = [line for line in answer["text"].splitlines() if "word" in line]
    assert line.endswith("…")
    assert 1400 <= len(line[line.index("word") :]) <= 1500


async def test_b10_entries_are_read_as_the_last_few_by_action_and_by_tier(launch: Launch) -> None:
    service = await launch()
    await say_in(service, "first ferry", "second ferry", "third ferry", **CHAT)
    await say_in(service, "ferry of the action", action_id="task-42", step=1)
    await save_in(service, "the ferry is blue")
    last, total = await service.remember.page(BANK, EntryQuery(source="telegram"), 2, 0)
    assert ([entry.record.text for entry in last], total) == (["third ferry", "second ferry"], 3)
    of_action, _ = await service.remember.page(BANK, EntryQuery(action_id="task-42"), 10, 0)
    assert [entry.record.text for entry in of_action] == ["ferry of the action"]
    assert await texts(service, "ferry", tiers=("memory",)) == ["the ferry is blue"]
    assert len(await texts(service, "ferry", tiers=("entry",))) == 4


async def test_b21_vectors_are_stored_and_not_made_again_after_a_restart(launch: Launch) -> None:
    first = await launch(WordEmbedder())
    await save_in(first, "seven swans swimming")
    await save_in(first, "six geese laying")
    await first.indexer.drained()
    before = await ask(first, "swans swimming", mode="semantic", explain=True)
    await first.stop()
    second = await launch(embedder := WordEmbedder())
    after = await ask(second, "swans swimming", mode="semantic", explain=True)
    assert embedder.documents == []
    assert [(result.record.id, result.explain) for result in after.results] == [
        (result.record.id, result.explain) for result in before.results
    ]
    assert before.results[0].text == "seven swans swimming"


async def test_b22_everything_that_is_saved_gets_a_vector_without_being_asked(launch: Launch) -> None:
    service = await launch(WordEmbedder())
    await say_in(service, "the heron of the pond")
    await save_in(service, "the heron of the lake")
    await service.documents.put(BANK, "WORLD.md", "the heron of the moor\n")
    await service.indexer.drained()
    stats = await service.banks.stats(BANK)
    assert (stats.vectors, stats.pending_vectors, stats.total) == (3, 0, 3)
    assert len(await texts(service, "heron", mode="semantic")) == 3


async def test_b24_a_semantic_search_takes_ten_and_keeps_to_its_source(launch: Launch) -> None:
    service = await launch(WordEmbedder())
    await say_in(service, *(f"heron number {number}" for number in range(15)), source="telegram")
    await say_in(service, "heron heron heron", source="slack")
    await service.indexer.drained()
    assert len(await texts(service, "heron", mode="semantic")) == 10
    assert await texts(service, "heron", mode="semantic", source="slack") == ["heron heron heron"]
    of_telegram = await texts(service, "heron", mode="semantic", source="telegram", limit=20)
    assert len(of_telegram) == 15
    assert "heron heron heron" not in of_telegram


async def test_b26_a_result_tells_what_it_is_and_how_near(launch: Launch) -> None:
    service = await launch(WordEmbedder())
    said_at = NOW - timedelta(days=3)
    (entry,) = await say_in(service, "seven swans swimming", metadata={"page": 7}, timestamp=said_at)
    await service.indexer.drained()
    (result,) = (await ask(service, "seven swans swimming", mode="semantic")).results
    assert (result.record.id, result.text, result.record.tier) == (entry.id, "seven swans swimming", "entry")
    assert (result.record.created_at, result.record.metadata) == (said_at, {"page": 7})
    assert result.score == pytest.approx(1.0, abs=1e-5)
    (less,) = (await ask(service, "seven swans", mode="semantic")).results
    assert 0.0 < less.score < result.score


async def test_b30_an_inbound_message_is_kept_queued_and_noted_for_consolidation(launch: Launch) -> None:
    service = await launch(GatedEmbedder())
    await say_in(service, "can you book the ferry?", role="user", **CHAT)
    await save_in(service, "a memory needs no consolidation")
    (entry,), _ = await service.remember.page(BANK, EntryQuery(), 10, 0)
    assert (entry.record.source, entry.record.source_id, entry.record.role) == ("telegram", "123456789", "user")
    stats = await service.banks.stats(BANK)
    assert (stats.pending_vectors, stats.pending_consolidation) == (2, 1)
