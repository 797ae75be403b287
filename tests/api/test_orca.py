"""
The paths of the Orca memory bank.
"""

import math
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest

from app.clock import FrozenClock
from tests.api.serving import KEYS, Served, fields_of, serving

MEMORY = {
    "id", "profileName", "rawInput", "processedContent", "summary", "category", "source", "confidence", "createdAt",
    "lastAccessedAt", "accessCount", "stalenessScore", "isActive", "version",
}  # fmt: skip


async def save(client: httpx.AsyncClient, profile: str, **fields: object) -> dict[str, Any]:
    answer = await client.post(f"/api/profiles/{profile}/memories", json=fields)
    assert answer.status_code == 201, answer.text
    saved: dict[str, Any] = answer.json()
    return saved


class NotReady:
    """
    A doctor whose store is not there.
    """

    def __init__(self, services: Any) -> None:
        self.asked = 0

    async def ready(self) -> tuple[bool, dict[str, str]]:
        """
        Never.
        """
        self.asked += 1
        return False, {"store": "schema revision 0000, wanted 0001"}


async def test_o44_every_endpoint_is_503_with_the_reason_while_the_store_is_not_ready(tmp_path: Path) -> None:
    async with serving(tmp_path, parts={"doctor": NotReady}) as served:
        paths = [
            "/api/profiles/p/memories", "/api/profiles/p/memories/search?q=x", "/api/profiles/p/memories/mem-1",
            "/api/memory-bank", "/api/memory-bank/stats",
        ]  # fmt: skip
        answers = [await served.client.get(path) for path in paths]
        answers.append(await served.client.post("/api/profiles/p/memories", json={"rawInput": "Likes tea"}))
        answers.append(await served.client.delete("/api/profiles/p/memories/mem-1"))
        for answer in answers:
            assert answer.status_code == 503
            assert answer.headers["content-type"] == "application/problem+json"
            assert "schema revision 0000" in answer.json()["detail"]
            assert int(answer.headers["retry-after"]) > 0
        # One look at the store serves the requests of two seconds.
        assert served.services.doctor.asked < len(answers)
        assert (await served.client.get("/health/live")).status_code == 200


async def test_o45_what_another_process_saved_is_read_at_once(tmp_path: Path) -> None:
    async with serving(tmp_path) as runner, serving(tmp_path) as conductor:
        await save(runner.client, "p", rawInput="Likes tea")
        listed = (await conductor.client.get("/api/profiles/p/memories")).json()
        assert [item["rawInput"] for item in listed["memories"]] == ["Likes tea"]
        await save(runner.client, "p", rawInput="Likes coffee")
        found = (await conductor.client.get("/api/profiles/p/memories/search", params={"q": "coffee"})).json()
        assert found["results"][0]["memory"]["rawInput"] == "Likes coffee"


async def test_o46_a_profiles_memories_are_listed_newest_first_and_read_only(served: Served) -> None:
    for text in ("Likes tea", "Likes coffee", "Likes cocoa"):
        await save(served.client, "p", rawInput=text)
    listed = (await served.client.get("/api/profiles/p/memories", params={"limit": 2, "offset": 1})).json()
    assert (listed["profile"], listed["total"], listed["limit"], listed["offset"]) == ("p", 3, 2, 1)
    assert [item["rawInput"] for item in listed["memories"]] == ["Likes coffee", "Likes tea"]
    assert set(listed["memories"][0]) == MEMORY
    await served.settle()
    every = (await served.client.get("/api/profiles/p/memories")).json()["memories"]
    assert {item["accessCount"] for item in every} == {0}
    assert (await served.client.get("/api/profiles/none/memories")).status_code == 404


async def test_o47_a_memory_is_saved_raw_or_structured(client: httpx.AsyncClient) -> None:
    raw = await save(client, "p", rawInput="i never eat peanuts")
    assert set(raw) == MEMORY
    assert (raw["profileName"], raw["processedContent"], raw["category"]) == ("p", "i never eat peanuts", "general")
    assert (raw["confidence"], raw["source"], raw["isActive"], raw["version"]) == (0.5, "explicit", True, 1)
    structured = await save(
        client, "p", rawInput="no nuts pls", processedContent="Eats no nuts", category="preference", confidence=0.9,
        summary="No nuts",
    )  # fmt: skip
    assert (structured["rawInput"], structured["processedContent"]) == ("no nuts pls", "Eats no nuts")
    assert (structured["category"], structured["confidence"], structured["summary"]) == ("preference", 0.9, "No nuts")


async def test_o47_what_is_wrong_with_a_memory_is_named_as_it_was_written(client: httpx.AsyncClient) -> None:
    path = "/api/profiles/p/memories"
    assert fields_of(await client.post(path, json={})) == ["rawInput"]
    assert fields_of(await client.post(path, json={"rawInput": "x y z", "raw_input": "x"})) == ["raw_input"]
    short = await client.post(path, json={"rawInput": "fine", "processedContent": "x", "category": "hobby"})
    assert (short.status_code, sorted(fields_of(short))) == (400, ["category", "processedContent"])
    large = await client.post(path, json={"rawInput": "x" * 4097})
    assert (large.status_code, fields_of(large)) == (413, ["rawInput"])


async def test_o48_a_search_ranks_by_topic_and_explains_itself(tmp_path: Path) -> None:
    clock = FrozenClock(datetime(2026, 1, 1, tzinfo=UTC))
    async with serving(tmp_path, clock=clock) as served:
        client = served.client
        await save(client, "p", rawInput="as said", processedContent="Has a peanut allergy", confidence=0.8)
        await save(client, "p", rawInput="as told", processedContent="Plays chess on Sundays")
        clock.moment += timedelta(days=30)
        answer = await client.get("/api/profiles/p/memories/search", params={"q": "diet"})
        found = answer.json()
        assert (found["profile"], found["query"], found["count"]) == ("p", "diet", len(found["results"]))
        best = found["results"][0]
        assert best["memory"]["processedContent"] == "Has a peanut allergy"
        assert set(best["memory"]) == MEMORY
        relevance = best["relevance"]
        assert set(relevance) == {"score", "recency", "usage", "topic"}
        assert relevance["recency"] == pytest.approx(0.5, abs=1e-4)
        assert relevance["usage"] == pytest.approx(0.6, abs=1e-4)
        assert relevance["topic"] == pytest.approx(0.4, abs=1e-4)
        assert relevance["score"] == pytest.approx((0.5 * 0.5 + 0.5 * 0.4) * (0.5 + 0.5 * 0.8), abs=1e-4)
        assert not any(math.isnan(value) for value in relevance.values())


async def test_o48_a_search_has_a_limit_and_a_least_score_and_changes_nothing(served: Served) -> None:
    client = served.client
    for number in range(12):
        await save(client, "p", rawInput=f"Quince recipe number {number}")
    path = "/api/profiles/p/memories/search"
    assert (await client.get(path, params={"q": "quince"})).json()["count"] == 8
    assert (await client.get(path, params={"q": "quince", "limit": 3})).json()["count"] == 3
    assert (await client.get(path, params={"q": "quince", "minScore": 1.0})).json()["count"] == 0
    assert (await client.get(path)).json()["count"] == 8
    bad = await client.get(path, params={"limit": 0, "minScore": "low"})
    assert (bad.status_code, sorted(fields_of(bad))) == (400, ["limit", "minScore"])
    await served.settle()
    every = (await client.get("/api/profiles/p/memories")).json()["memories"]
    assert {item["accessCount"] for item in every} == {0}


async def test_o49_a_memory_is_shown_and_deleted(client: httpx.AsyncClient) -> None:
    saved = await save(client, "p", rawInput="Likes tea")
    path = f"/api/profiles/p/memories/{saved['id']}"
    assert {**(await client.get(path)).json(), "stalenessScore": 0} == {**saved, "stalenessScore": 0}
    assert (await client.delete(path)).status_code == 204
    assert (await client.get(path)).status_code == 404
    assert (await client.delete(path)).status_code == 404


async def test_o50_all_memories_by_profile_or_as_one_page(client: httpx.AsyncClient) -> None:
    await save(client, "p", rawInput="Likes tea")
    await save(client, "q", rawInput="Likes coffee")
    await save(client, "p", rawInput="as said", processedContent="Runs 10 km", category="behavior")
    grouped = (await client.get("/api/memory-bank")).json()
    assert (grouped["total"], grouped["profilesWithMemory"]) == (3, 2)
    texts = {name: [item["processedContent"] for item in items] for name, items in grouped["memories"].items()}
    assert texts == {"p": ["Runs 10 km", "Likes tea"], "q": ["Likes coffee"]}

    async def flat(**params: object) -> tuple[int, list[str]]:
        page = (await client.get("/api/memory-bank", params={k: str(v) for k, v in params.items()})).json()
        return page["total"], [item["processedContent"] for item in page["memories"]]

    assert await flat(limit=2) == (3, ["Runs 10 km", "Likes coffee"])
    assert await flat(limit=2, offset=2) == (3, ["Likes tea"])
    assert await flat(q="likes") == (2, ["Likes coffee", "Likes tea"])
    assert await flat(category="behavior") == (1, ["Runs 10 km"])
    bad = await client.get("/api/memory-bank", params={"category": "hobby"})
    assert (bad.status_code, fields_of(bad)) == (400, ["category"])


async def test_o51_stats_count_memories_by_profile(client: httpx.AsyncClient) -> None:
    await save(client, "p", rawInput="Likes tea")
    gone = await save(client, "p", rawInput="Likes coffee")
    await save(client, "q", rawInput="Likes cocoa")
    await client.post("/v1/banks/r/entries", json={"entries": [{"content": "no memory here"}]})
    await client.delete(f"/api/profiles/p/memories/{gone['id']}")
    stats = (await client.get("/api/memory-bank/stats")).json()
    assert stats == {"totalMemories": 2, "profilesWithMemory": 2, "perProfile": {"p": 1, "q": 1}}


async def test_a_key_sees_its_own_profiles_only(tmp_path: Path) -> None:
    async with serving(tmp_path, auth={"keys": KEYS}) as served:
        async with served.as_key("alpha-writer-key-0123456789") as alpha:
            await save(alpha, "alpha", rawInput="Alpha likes tea")
            await save(alpha, "alpha-2", rawInput="Alpha likes coffee")
        async with served.as_key("beta-admin-key-0123456789ab") as beta:
            await save(beta, "beta", rawInput="Beta likes cocoa")
            assert (await beta.get("/api/memory-bank/stats")).json()["perProfile"] == {"beta": 1}
            assert list((await beta.get("/api/memory-bank")).json()["memories"]) == ["beta"]
            assert (await beta.get("/api/memory-bank?q=likes")).json()["total"] == 1


async def test_a_profile_with_more_than_a_thousand_memories_is_whole(client: httpx.AsyncClient) -> None:
    several = [{"content": f"Fact number {number}"} for number in range(1000)]
    await client.post("/v1/banks/p/memories", json={"memories": several})
    await client.post("/v1/banks/p/memories", json={"memories": [{"content": "Fact number 1000"}]})
    assert len((await client.get("/api/memory-bank")).json()["memories"]["p"]) == 1001
    last = (await client.get("/api/profiles/p/memories", params={"limit": 500, "offset": 1000})).json()
    assert [item["processedContent"] for item in last["memories"]] == ["Fact number 0"]
