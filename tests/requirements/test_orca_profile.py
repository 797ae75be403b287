"""
What the Orca memory bank promises of a profile's two channels and of what weighs in them: O-03 to O-05, O-15, O-17,
O-18, O-20, O-22, O-30, O-35 and O-39.
"""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest

from app.clock import FrozenClock
from app.domain.records import Category
from tests.api.serving import ADMIN_KEY, Served, fields_of, serving
from tests.requirements.speaking import context, listed, recall, recalled, save, say

NOW = datetime(2026, 6, 30, 12, 0, tzinfo=UTC)
TITLE = "--- CONTEXT FROM MEMORY ---"
CORE, RELEVANT = "Core knowledge (always apply):", "Relevant to this task:"


def bullets(text: str, title: str) -> list[str]:
    """
    The bullets that stand under a title of the block.
    """
    lines = text.splitlines()
    found = []
    for line in lines[lines.index(title) + 1 :]:
        if not line.startswith("* "):
            break
        found.append(line)
    return found


async def test_o03_the_most_relevant_memories_return_to_the_prompt_of_every_run(client: httpx.AsyncClient) -> None:
    for number in range(20):
        await save(client, "ana", f"Unrelated remark number {number}", category="behavior")
    await save(client, "ana", "Feeds the heron at the pond each morning", category="behavior")
    await save(client, "ana", "Sails the ferry to the island", category="behavior")
    for query, expected in (
        ("who feeds the heron?", "* [behavior] Feeds the heron at the pond each morning"),
        ("when does the ferry sail?", "* [behavior] Sails the ferry to the island"),
    ):
        shown = bullets((await context(client, "ana", query, profile="orca"))["text"], RELEVANT)
        assert shown == [expected]


async def test_o04_the_block_is_the_core_tier_and_what_answers_the_query(client: httpx.AsyncClient) -> None:
    await save(client, "ana", "Prefers tea to coffee", category="preference", confidence=0.9)
    await save(client, "ana", "Lives beside the lighthouse", category="fact", confidence=0.85)
    await save(client, "ana", "Perhaps likes jazz", category="preference", confidence=0.79)
    await save(client, "ana", "Walks the dog at the harbour", category="behavior")
    text = (await context(client, "ana", "where is the dog walked?", profile="orca"))["text"]
    assert text.splitlines()[0] == TITLE
    assert text.splitlines()[-1] == "---"
    assert bullets(text, CORE) == ["* [preference] Prefers tea to coffee", "* [fact] Lives beside the lighthouse"]
    shown = bullets(text, RELEVANT)
    assert shown[0] == "* [behavior] Walks the dog at the harbour"
    assert not set(shown) & set(bullets(text, CORE))


async def test_o05_memories_are_saved_recalled_listed_and_deleted_on_demand(client: httpx.AsyncClient) -> None:
    saved = await save(client, "ana", "Keeps the spare key under the anchor")
    assert await recalled(client, "ana", "spare key") == ["Keeps the spare key under the anchor"]
    assert [item["id"] for item in await listed(client, "ana")] == [saved["id"]]
    assert (await client.delete(f"/v1/banks/ana/memories/{saved['id']}")).status_code == 204
    assert await recalled(client, "ana", "spare key") == []
    assert await listed(client, "ana") == []


async def test_o15_a_memory_is_of_one_of_five_categories(client: httpx.AsyncClient) -> None:
    for category in ("preference", "fact", "behavior", "context", "general"):
        assert (await save(client, "ana", f"A {category} of hers", category=category))["category"] == category
    assert (await save(client, "ana", "Of no category"))["category"] == "general"
    for other in ("mood", "", "Fact", 3):
        body = {"content": "Of another category", "category": other}
        answer = await client.post("/v1/banks/ana/memories", json=body)
        assert (answer.status_code, fields_of(answer)) == (400, ["category"])
    assert len(await listed(client, "ana")) == 6


async def test_o17_preferences_and_facts_may_be_core_and_passing_context_ages_fastest(tmp_path: Path) -> None:
    clock = FrozenClock(NOW)
    async with serving(tmp_path, clock=clock) as served:
        for category in Category:
            await save(served.client, "ana", f"A {category} about lanterns", category=category, confidence=0.9)
        text = (await context(served.client, "ana", "lanterns", profile="orca"))["text"]
        assert {line.split("]")[0] for line in bullets(text, CORE)} == {"* [preference", "* [fact"}
        assert {line.split("]")[0] for line in bullets(text, RELEVANT)} == {"* [behavior", "* [context", "* [general"}
        clock.moment += timedelta(days=10)
        staleness = {item["category"]: item["staleness"] for item in await listed(served.client, "ana")}
        assert staleness["preference"] < staleness["fact"] < staleness["behavior"] < staleness["context"]
        asked = await recall(served.client, "ana", "lanterns", explain=True, record_access=False)
        recency = {item["text"].split()[1]: item["explain"]["recency"] for item in asked["results"]}
        assert recency["preference"] > recency["fact"] > recency["behavior"] > recency["context"]


async def test_o18_a_memory_says_how_it_came_to_be(client: httpx.AsyncClient) -> None:
    assert (await save(client, "ana", "Was told to keep this"))["source"] == "explicit"
    for source in ("explicit", "inferred", "imported"):
        assert (await save(client, "ana", f"Came as {source}", source=source))["source"] == source
    answer = await client.post("/v1/banks/ana/memories", json={"content": "Came as rumour", "source": "rumour"})
    assert (answer.status_code, fields_of(answer)) == (400, ["source"])
    orca = await client.post("/api/profiles/ana/memories", json={"rawInput": "Said so herself"})
    assert orca.json()["source"] == "explicit"


async def test_o20_an_own_write_shows_in_the_core_tier_at_once(client: httpx.AsyncClient) -> None:
    async def core() -> list[str]:
        text = (await context(client, "ana", "anything", profile="orca", sections=["core"]))["text"]
        return bullets(text, CORE) if text else []

    tea = await save(client, "ana", "Prefers tea to coffee", category="preference")
    assert await core() == ["* [preference] Prefers tea to coffee"]
    fact = await save(client, "ana", "Lives beside the lighthouse", category="fact", confidence=0.9)
    assert await core() == ["* [preference] Prefers tea to coffee", "* [fact] Lives beside the lighthouse"]
    await client.patch(f"/v1/banks/ana/memories/{tea['id']}", json={"content": "Prefers water to coffee"})
    assert await core() == ["* [preference] Prefers water to coffee", "* [fact] Lives beside the lighthouse"]
    await client.delete(f"/v1/banks/ana/memories/{tea['id']}", params={"purge": "true"})
    assert await core() == ["* [fact] Lives beside the lighthouse"]
    await client.delete(f"/v1/banks/ana/memories/{fact['id']}")
    assert await core() == []


async def test_o22_the_weights_are_those_of_the_original_once_a_profile_is_mature(tmp_path: Path) -> None:
    clock = FrozenClock(NOW)
    async with serving(tmp_path, clock=clock) as served:
        await save(served.client, "ana", "heron heron heron")
        for _ in range(50):
            await recall(served.client, "ana", "heron")
        await served.settle()
        clock.moment += timedelta(days=30)
        answer = await served.client.get("/api/profiles/ana/memories/search", params={"q": "heron pelican"})
        (hit,) = answer.json()["results"]
    relevance = hit["relevance"]
    assert {name: relevance[name] for name in ("recency", "usage", "topic")} == pytest.approx(
        {"recency": 0.5, "usage": 1.0, "topic": 0.5}, abs=1e-4
    )
    assert relevance["score"] == pytest.approx(0.35 * 0.5 + 0.30 * 1.0 + 0.35 * 0.5, abs=1e-4)


async def test_o30_a_stale_memory_is_shown_as_such_and_found_all_the_same(tmp_path: Path) -> None:
    clock = FrozenClock(NOW)
    async with serving(tmp_path, clock=clock) as served:
        await save(served.client, "ana", "Is on a trip to Lisbon", category="context", confidence=0.5)
        clock.moment += timedelta(days=400)
        await save(served.client, "ana", "Owns a cat", category="fact")
        (stale,) = await listed(served.client, "ana", category="context")
        assert stale["staleness"] == 1.0
        for scorer in ("fused", "orca", "iii", "orcbot"):
            assert (await recalled(served.client, "ana", "trip to Lisbon", scorer=scorer))[0] == stale["content"]
        search = await served.client.get("/api/profiles/ana/memories/search", params={"q": "lisbon"})
        assert search.json()["results"][0]["memory"]["stalenessScore"] == 1.0


async def test_o35_nothing_is_injected_that_was_not_asked_for(client: httpx.AsyncClient) -> None:
    await save(client, "ana", "Prefers tea to coffee", category="preference")
    await say(client, "ana", "what shall I drink?", session_id="s1")
    answers: list[Any] = [
        (await client.get("/v1/banks/ana/entries")).json(),
        await recall(client, "ana", "tea or coffee"),
        await context(client, "ana", "tea or coffee"),
    ]
    assert all(TITLE not in str(answer) for answer in answers)
    assert TITLE in (await context(client, "ana", "tea or coffee", profile="orca"))["text"]


async def test_o35_who_may_use_a_profile_has_both_channels_and_who_may_not_has_neither(guarded: Served) -> None:
    async with guarded.as_key(ADMIN_KEY) as admin:
        await save(admin, "alpha", "Prefers tea to coffee", category="preference")
    allowed = {"alpha-writer-key-0123456789": True, "beta-admin-key-0123456789ab": False}
    for key, is_allowed in allowed.items():
        async with guarded.as_key(key) as client:
            tool = await client.post("/v1/banks/alpha/recall", json={"query": "tea"})
            block = await client.post("/v1/banks/alpha/context", json={"query": "tea", "profile": "orca"})
            assert [tool.status_code, block.status_code] == ([200, 200] if is_allowed else [404, 404])
            assert ("Prefers tea" in tool.text, "Prefers tea" in block.text) == (is_allowed, is_allowed)


async def test_o39_every_tool_works_on_the_profile_that_it_names(client: httpx.AsyncClient) -> None:
    mine = await save(client, "ana", "The lantern is in the shed")
    theirs = await save(client, "ben", "The lantern is in the cellar")
    assert await recalled(client, "ben", "lantern") == ["The lantern is in the cellar"]
    assert [item["id"] for item in await listed(client, "ben")] == [theirs["id"]]
    assert (await client.delete(f"/v1/banks/ben/memories/{mine['id']}")).status_code == 404
    assert [item["id"] for item in await listed(client, "ana")] == [mine["id"]]
    for method, path in (
        ("POST", "/v1/memories"),
        ("GET", "/v1/memories"),
        ("POST", "/v1/recall"),
        ("DELETE", f"/v1/memories/{mine['id']}"),
    ):
        assert (await client.request(method, path, json={})).status_code == 404
