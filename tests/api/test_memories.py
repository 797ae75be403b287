"""
Memories over HTTP.
"""

import asyncio
import re
from datetime import UTC, datetime, timedelta
from pathlib import Path

import httpx
import pytest

from app.clock import FrozenClock
from app.services.drafting import NewMemory
from tests.api.serving import Served, fields_of, serving

FIELDS = {
    "id", "bank", "content", "raw_input", "summary", "category", "source", "confidence", "tags", "entities", "pinned",
    "key", "created_at", "updated_at", "occurred_at", "expires_at", "last_accessed_at", "access_count", "observations",
    "staleness", "revision", "superseded_by", "is_active", "provenance", "metadata",
}  # fmt: skip


async def save(client: httpx.AsyncClient, **fields: object) -> dict[str, object]:
    answer = await client.post("/v1/banks/a/memories", json=fields)
    assert answer.status_code == 201, answer.text
    saved: dict[str, object] = answer.json()
    return saved


async def test_o12_a_memory_shows_every_field(client: httpx.AsyncClient) -> None:
    given = {
        "content": "Publishes blog posts on Tuesdays",
        "summary": "Blog on Tuesdays",
        "category": "behavior",
        "confidence": 0.75,
        "source": "inferred",
        "tags": ["blog", "weekly"],
        "entities": ["Blog"],
        "pinned": True,
        "key": "blog-day",
        "occurred_at": "2026-11-01T08:00:00+01:00",
        "expires_at": "2999-01-01T00:00:00+00:00",
        "metadata": {"from": {"page": 3}},
    }
    saved = await save(client, **given)
    assert set(saved) >= FIELDS
    assert re.fullmatch("mem-[0-9a-f]{16}", str(saved["id"]))
    unchanged = {name: value for name, value in given.items() if name not in {"entities", "expires_at"}}
    assert {name: saved[name] for name in unchanged} == unchanged
    assert saved["entities"] == ["blog"]
    assert saved["expires_at"] == "2999-01-01T00:00:00Z"
    assert (saved["bank"], saved["reinforced"], saved["observations"], saved["is_active"]) == ("a", False, 1, True)
    shown = (await client.get(f"/v1/banks/a/memories/{saved['id']}")).json()
    assert "reinforced" not in shown
    assert {**shown, "staleness": 0} == {**{k: v for k, v in saved.items() if k != "reinforced"}, "staleness": 0}


@pytest.mark.parametrize("wait", ["", "?wait=true"])
async def test_o40_free_text_is_saved_and_answered_at_once(client: httpx.AsyncClient, wait: str) -> None:
    answer = await client.post(f"/v1/banks/a/memories{wait}", json={"raw_input": "I never eat peanuts, ask the cook."})
    assert answer.status_code == 201
    saved = answer.json()
    assert saved["raw_input"] == saved["content"] == "I never eat peanuts, ask the cook."
    assert saved["confidence"] == 0.5
    assert saved["category"] == "general"
    assert saved["structured"] is False
    assert len(saved["summary"]) < 50


async def test_t008_the_same_memory_three_times_is_one_seen_three_times(client: httpx.AsyncClient) -> None:
    first = await client.post("/v1/banks/a/memories", json={"content": "User prefers short names"})
    second = await client.post("/v1/banks/a/memories", json={"content": "User prefers  SHORT   names"})
    third = await client.post("/v1/banks/a/memories", json={"content": "user prefers short names "})
    assert [answer.status_code for answer in (first, second, third)] == [201, 200, 200]
    assert second.json()["reinforced"] is True
    assert third.json()["id"] == first.json()["id"]
    listed = (await client.get("/v1/banks/a/memories")).json()
    assert listed["total"] == 1
    assert listed["items"][0]["observations"] == 3


async def test_several_memories_are_saved_in_one_request(client: httpx.AsyncClient) -> None:
    await save(client, content="Likes tea")
    several = [{"content": "Likes tea"}, {"raw_input": "Has a dog named Miso"}]
    answer = await client.post("/v1/banks/a/memories", json={"memories": several})
    assert answer.status_code == 201
    results = answer.json()["results"]
    assert [item["status"] for item in results] == ["reinforced", "created"]
    assert [item["id"] for item in results] == [item["memory"]["id"] for item in results]
    again = await client.post("/v1/banks/a/memories", json={"memories": several})
    assert again.status_code == 200


async def test_a_bad_memory_among_several_stores_none_and_is_named(client: httpx.AsyncClient) -> None:
    several = [
        {"content": "Likes tea"},
        {"content": "x", "category": "hobby"},
        {},
        {"content": "Fine", "confidence": 2},
    ]
    answer = await client.post("/v1/banks/a/memories", json={"memories": several})
    assert fields_of(answer) == ["memories[3].confidence"]
    answer = await client.post("/v1/banks/a/memories", json={"memories": several[:3]})
    assert answer.status_code == 400
    assert sorted(fields_of(answer)) == ["memories[1].category", "memories[1].content", "memories[2].content"]
    assert (await client.get("/v1/banks/a")).status_code == 404
    mixed = await client.post("/v1/banks/a/memories", json={"memories": several[:1], "tags": ["x"]})
    assert (mixed.status_code, fields_of(mixed)) == (400, ["tags"])


async def test_o13_raw_input_over_4096_bytes_is_413_and_content_outside_its_length_400(
    client: httpx.AsyncClient,
) -> None:
    assert (await client.post("/v1/banks/a/memories", json={"raw_input": "é" * 2048})).status_code == 201
    large = await client.post("/v1/banks/a/memories", json={"raw_input": "é" * 2049})
    assert (large.status_code, fields_of(large)) == (413, ["raw_input"])
    for content in ("ab", "x" * 2001):
        answer = await client.post("/v1/banks/a/memories", json={"content": content})
        assert (answer.status_code, fields_of(answer)) == (400, ["content"])
    assert (await client.get("/v1/banks/a/memories")).json()["total"] == 1


async def test_t062_a_tag_may_hold_commas_and_pipes(client: httpx.AsyncClient) -> None:
    tag = "red, green | blue"
    saved = await save(client, content="Paints at the weekend", tags=[tag, "hobby"])
    await save(client, content="Paints the fence", tags=["red", "green"])
    assert saved["tags"] == [tag, "hobby"]
    listed = await client.get("/v1/banks/a/memories", params={"tag": tag})
    assert [item["id"] for item in listed.json()["items"]] == [saved["id"]]
    both = await client.get("/v1/banks/a/memories", params=[("tag", tag), ("tag", "hobby")])
    assert both.json()["total"] == 1
    counts = {item["tag"]: item["count"] for item in (await client.get("/v1/banks/a/tags")).json()}
    assert counts == {tag: 1, "hobby": 1, "red": 1, "green": 1}
    recalled = await client.post("/v1/banks/a/recall", json={"query": "paints", "filters": {"tags": [tag]}})
    assert [item["id"] for item in recalled.json()["results"]] == [saved["id"]]


async def test_o42_memories_are_listed_newest_first_page_by_page_and_read_only(served: Served) -> None:
    ids = [(await save(served.client, content=f"Fact number {n}"))["id"] for n in range(5)]
    seen: list[object] = []
    offset: int | None = 0
    while offset is not None:
        page = (await served.client.get("/v1/banks/a/memories", params={"limit": 2, "offset": offset})).json()
        seen += [item["id"] for item in page["items"]]
        offset = page["next_offset"]
    assert seen == ids[::-1]
    await served.settle()
    listed = (await served.client.get("/v1/banks/a/memories")).json()["items"]
    assert {item["access_count"] for item in listed} == {0}


async def test_memories_are_listed_by_category_key_and_text(client: httpx.AsyncClient) -> None:
    saved = await save(client, content="Drinks 100% juice", category="preference", key="juice")
    await save(client, content="Drinks 1000 litres of water")
    for params in ({"category": "preference"}, {"key": "juice"}, {"q": "100%"}):
        listed = (await client.get("/v1/banks/a/memories", params=params)).json()
        assert [item["id"] for item in listed["items"]] == [saved["id"]]
    bad = await client.get("/v1/banks/a/memories", params={"category": "hobby", "limit": 501, "offset": -1})
    assert (bad.status_code, sorted(fields_of(bad))) == (400, ["category", "limit", "offset"])


async def test_a_key_belongs_to_one_memory(client: httpx.AsyncClient) -> None:
    await save(client, content="Lives in Pune", key="home")
    other = await client.post("/v1/banks/a/memories", json={"content": "Lives in Oslo", "key": "home"})
    assert other.status_code == 409


async def test_t010_a_patch_changes_what_it_names_and_nothing_else(client: httpx.AsyncClient) -> None:
    given = {
        "content": "The port is 3000",
        "tags": ["ops"],
        "metadata": {"a": 1, "b": 2},
        "pinned": True,
        "key": "port",
    }
    saved = await save(client, **given)
    path = f"/v1/banks/a/memories/{saved['id']}"
    changed = (await client.patch(path, json={"content": "The port is 4000"})).json()
    same = {"tags", "metadata", "pinned", "source", "key", "category", "confidence", "created_at", "raw_input"}
    assert {name: changed[name] for name in same} == {name: saved[name] for name in same}
    assert (changed["content"], changed["revision"]) == ("The port is 4000", 2)
    cleared = (await client.patch(path, json={"key": None, "metadata": {"a": None, "c": 3}, "tags": []})).json()
    assert (cleared["key"], cleared["metadata"], cleared["tags"]) == (None, {"b": 2, "c": 3}, [])
    bad = await client.patch(path, json={"content": 3, "confidence": -1, "raw_input": "x", "pinned": None})
    assert sorted(fields_of(bad)) == ["confidence", "content", "pinned", "raw_input"]


async def test_a_memorys_history_tells_every_state(client: httpx.AsyncClient) -> None:
    saved = await save(client, content="The port is 3000")
    path = f"/v1/banks/a/memories/{saved['id']}"
    await client.patch(path, json={"content": "The port is 4000"})
    await client.delete(path)
    history = (await client.get(f"{path}/history")).json()
    assert [item["change"] for item in history["items"]] == ["created", "updated", "deleted"]
    assert [item["body"]["content"] for item in history["items"]][:2] == ["The port is 3000", "The port is 4000"]
    assert history["total"] == 3
    rest = (await client.get(f"{path}/history", params={"offset": 1, "limit": 1})).json()
    assert ([item["revision"] for item in rest["items"]], rest["next_offset"]) == ([2], 2)


async def test_d04_two_supersessions_at_once_are_one_200_and_one_409(client: httpx.AsyncClient) -> None:
    old = await save(client, content="Lives in Pune")
    new = await save(client, content="Lives in Oslo")
    path = f"/v1/banks/a/memories/{old['id']}/supersede"
    body = {"by": new["id"], "reinforce": True, "reason": "moved"}
    answers = await asyncio.gather(client.post(path, json=body), client.post(path, json=body))
    assert sorted(answer.status_code for answer in answers) == [200, 409]
    won = next(answer for answer in answers if answer.status_code == 200).json()
    assert (won["id"], won["superseded_by"], won["is_active"]) == (old["id"], new["id"], False)
    assert (await client.get(f"/v1/banks/a/memories/{new['id']}")).json()["observations"] == 2
    assert (await client.get("/v1/banks/a/memories")).json()["total"] == 1
    both = await client.get("/v1/banks/a/memories", params={"include_superseded": "true"})
    assert both.json()["total"] == 2


async def test_a_supersession_that_makes_no_sense_is_refused(client: httpx.AsyncClient) -> None:
    saved = await save(client, content="Lives in Pune")
    path = f"/v1/banks/a/memories/{saved['id']}/supersede"
    itself = await client.post(path, json={"by": saved["id"]})
    assert (itself.status_code, fields_of(itself)) == (400, ["by"])
    assert (await client.post(path, json={"by": "mem-0000000000000000"})).status_code == 404
    assert fields_of(await client.post(path, json={"reason": 1})) == ["by", "reason"]


async def test_o43_a_memory_is_deleted_by_id_once(client: httpx.AsyncClient) -> None:
    saved = await save(client, content="Likes quinces")
    path = f"/v1/banks/a/memories/{saved['id']}"
    assert (await client.delete(path)).status_code == 204
    assert (await client.delete(path)).status_code == 404
    assert (await client.get(path)).status_code == 404
    assert (await client.patch(path, json={"pinned": True})).status_code == 404
    assert (await client.post("/v1/banks/a/recall", json={"query": "quinces"})).json()["results"] == []
    assert len((await client.get(f"{path}/history")).json()["items"]) == 2
    assert (await client.delete(path, params={"purge": "true"})).status_code == 204
    assert (await client.get(f"{path}/history")).status_code == 404
    assert (await client.delete(path, params={"purge": "true"})).status_code == 404


@pytest.mark.parametrize("way", ["query", "body", "post"])
async def test_d50_a_deletion_counts_what_it_really_removed(client: httpx.AsyncClient, way: str) -> None:
    real = str((await save(client, content="Likes quinces"))["id"])
    fake = "mem-0000000000000000"
    path = "/v1/banks/a/memories"

    async def remove() -> httpx.Response:
        if way == "query":
            return await client.delete(path, params={"ids": f"{real},{fake}"})
        if way == "body":
            return await client.request("DELETE", path, json={"ids": [real, fake]})
        return await client.post(f"{path}/delete", json={"ids": [real, fake]})

    answer = await remove()
    assert (answer.status_code, answer.json()) == (200, {"deleted": 1, "not_found": [fake], "failed": []})
    assert (await remove()).json() == {"deleted": 0, "not_found": [real, fake], "failed": []}


async def test_a_deletion_that_names_nothing_is_400(client: httpx.AsyncClient) -> None:
    await save(client, content="Likes quinces")
    path = "/v1/banks/a/memories"
    for answer in (
        await client.delete(path),
        await client.delete(path, params={"ids": ","}),
        await client.request("DELETE", path, json={"ids": []}),
        await client.post(f"{path}/delete", json={"ids": []}),
    ):
        assert (answer.status_code, fields_of(answer)) == (400, ["ids"])
    unknown = await client.request("DELETE", path, json={"ids": ["x"], "all": True})
    assert fields_of(unknown) == ["all"]
    assert (await client.get(path)).json()["total"] == 1


async def test_a_purge_leaves_no_byte_of_the_text(served: Served, tmp_path: Path) -> None:
    word = "zanzibarquince"
    saved = await save(served.client, content=f"The codeword is {word}")
    await served.client.post(
        "/v1/banks/a/recall", json={"query": "codeword"}, headers={"Idempotency-Key": "kept-answer"}
    )
    deleted = await served.client.post("/v1/banks/a/memories/delete", json={"ids": [saved["id"]], "purge": True})
    assert deleted.json()["deleted"] == 1
    for file in tmp_path.iterdir():
        assert word.encode() not in file.read_bytes()


async def test_t016_a_key_deleted_and_made_again_at_once_ends_in_one_of_both(client: httpx.AsyncClient) -> None:
    for turn in range(10):
        saved = await save(client, content=f"Note {turn}", key=f"note-{turn}")
        again = {"content": f"Note {turn}, made again", "key": f"note-{turn}"}
        gone, made = await asyncio.gather(
            client.delete(f"/v1/banks/a/memories/{saved['id']}"), client.post("/v1/banks/a/memories", json=again)
        )
        assert gone.status_code == 204
        assert made.status_code in {201, 409}
        listed = (await client.get("/v1/banks/a/memories", params={"key": f"note-{turn}"})).json()
        assert [item["content"] for item in listed["items"]] == ([again["content"]] if made.status_code == 201 else [])


async def test_o29_staleness_is_that_of_the_moment(tmp_path: Path) -> None:
    clock = FrozenClock(datetime(2026, 1, 1, tzinfo=UTC))
    async with serving(tmp_path, clock=clock) as served:
        saved = await save(served.client, content="On a trip", category="context", confidence=0.5)
        assert saved["staleness"] == pytest.approx(0.225)
        clock.moment += timedelta(days=10)
        shown = (await served.client.get(f"/v1/banks/a/memories/{saved['id']}")).json()
        assert shown["staleness"] == pytest.approx(0.975)


async def test_a_memory_id_with_a_slash_can_be_named(served: Served) -> None:
    await served.services.memories.save("a", [NewMemory(content="Imported fact", id="conv-26/D1:1")], lambda _: "")
    shown = await served.client.get("/v1/banks/a/memories/conv-26%2FD1%3A1")
    assert (shown.status_code, shown.json()["id"]) == (200, "conv-26/D1:1")
