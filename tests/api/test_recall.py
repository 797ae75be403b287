"""
Recall over HTTP.
"""

from pathlib import Path
from typing import Any

import httpx
import pytest

from app.bootstrap import build
from tests.api.serving import Served, fields_of, serving
from tests.stand_ins import WordEmbedder


@pytest.fixture
async def bank(client: httpx.AsyncClient) -> httpx.AsyncClient:
    memories = [
        {"content": "Publishes blog posts on Tuesday mornings", "tags": ["blog"], "category": "behavior"},
        {"content": "The blog runs on port 8080", "tags": ["blog", "ops"], "metadata": {"host": "web", "n": 1}},
        {"content": "Allergic to peanuts", "category": "fact"},
    ]
    await client.post("/v1/banks/a/memories", json={"memories": memories})
    await client.post("/v1/banks/a/entries", json={"entries": [{"content": "when is the blog due?", "session_id": 7}]})
    return client


async def ask(client: httpx.AsyncClient, query: str, **fields: Any) -> dict[str, Any]:
    answer = await client.post("/v1/banks/a/recall", json={"query": query, **fields})
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


async def test_a_recall_answers_in_the_agreed_shape(bank: httpx.AsyncClient) -> None:
    found = await ask(bank, "when do I publish blog posts", tiers=["memory"], limit=2, explain=True)
    assert found["recall_id"].startswith("rec-")
    assert found["retrieval"] == "lexical"
    assert found["degraded"] != []
    assert found["took_ms"] >= 0
    assert found["empty_reason"] is None
    first = found["results"][0]
    assert first["text"] == "Publishes blog posts on Tuesday mornings"
    assert (first["tier"], first["tags"], first["metadata"]) == ("memory", ["blog"], {})
    assert first["occurred_at"] is None
    assert first["explain"].keys() >= {
        "bm25", "cosine", "cluster", "entity", "recency", "usage", "confidence", "pinned", "fused",
    }  # fmt: skip
    assert first["explain"]["cosine"] is None
    assert len(found["results"]) <= 2
    assert (await ask(bank, "blog"))["results"][0]["explain"] is None


async def test_d38_without_a_key_words_are_found_over_http_and_the_mode_says_so(bank: httpx.AsyncClient) -> None:
    for mode in ("hybrid", "lexical", "semantic"):
        found = await ask(bank, "port", mode=mode)
        assert [item["text"] for item in found["results"]] == ["The blog runs on port 8080"]
        assert found["retrieval"] == "lexical"
    assert (await ask(bank, "port", mode="lexical"))["degraded"] == []
    assert (await ask(bank, "port", mode="semantic"))["degraded"] != []


async def test_filters_narrow_before_anything_is_ranked(bank: httpx.AsyncClient) -> None:
    async def texts(**filters: Any) -> list[str]:
        return sorted(item["text"] for item in (await ask(bank, "blog", filters=filters))["results"])

    assert await texts(tags=["blog", "ops"]) == ["The blog runs on port 8080"]
    assert await texts(category="behavior") == ["Publishes blog posts on Tuesday mornings"]
    assert await texts(session_id=7) == ["when is the blog due?"]
    assert await texts(metadata={"host": "web", "n": 1}) == ["The blog runs on port 8080"]
    assert await texts(metadata={"host": "db"}) == []
    assert await texts(created_after="2999-01-01T00:00:00Z") == []
    assert await texts(created_before="1999-01-01T00:00:00+09:00") == []
    nothing = await ask(bank, "blog", filters={"tags": ["none"]})
    assert nothing["empty_reason"] == "filtered_out"


async def test_an_empty_answer_says_why(bank: httpx.AsyncClient) -> None:
    assert (await ask(bank, "zzzqqq"))["empty_reason"] == "nothing_relevant"
    await bank.post("/v1/banks", json={"name": "bare"})
    answer = await bank.post("/v1/banks/bare/recall", json={"query": "blog"})
    assert answer.json()["empty_reason"] == "bank_empty"


async def test_exclusions_floors_and_limits_hold(bank: httpx.AsyncClient) -> None:
    every = (await ask(bank, "blog"))["results"]
    assert len(every) == 3
    assert [item["id"] for item in (await ask(bank, "blog", exclude_ids=[every[0]["id"]]))["results"]] == [
        item["id"] for item in every[1:]
    ]
    assert (await ask(bank, "blog", min_score=1.0))["results"] == []
    assert (await ask(bank, "blog", limit=0))["results"] == []
    assert len((await ask(bank, "blog", limit=1))["results"]) == 1


async def test_an_empty_query_lists_the_newest(bank: httpx.AsyncClient) -> None:
    found = await ask(bank, "", limit=2)
    assert found["results"][0]["text"] == "when is the blog due?"
    assert len(found["results"]) == 2


async def test_o41_a_recall_counts_an_access_of_each_memory_it_returns_unless_told_not_to(served: Served) -> None:
    client = served.client
    for content in ("Likes quince jam", "Likes quince pie", "Likes tea"):
        await client.post("/v1/banks/a/memories", json={"content": content})

    async def counts() -> dict[str, int]:
        await served.settle()
        items = (await client.get("/v1/banks/a/memories")).json()["items"]
        return {item["content"]: item["access_count"] for item in items}

    await ask(client, "quince", record_access=False)
    assert set((await counts()).values()) == {0}
    await ask(client, "quince")
    assert await counts() == {"Likes quince jam": 1, "Likes quince pie": 1, "Likes tea": 0}


async def test_several_questions_are_answered_in_order(bank: httpx.AsyncClient) -> None:
    queries = [{"query": "peanuts"}, {"query": "port", "mode": "lexical"}, {"query": "zzzqqq"}]
    answer = await bank.post("/v1/banks/a/recall/batch", json={"queries": queries})
    assert answer.status_code == 200
    firsts = [[item["text"] for item in found["results"][:1]] for found in answer.json()["results"]]
    assert firsts == [["Allergic to peanuts"], ["The blog runs on port 8080"], []]


async def test_a_batch_takes_1_to_256_questions(bank: httpx.AsyncClient) -> None:
    for number, status in [(0, 400), (256, 200), (257, 400)]:
        answer = await bank.post("/v1/banks/a/recall/batch", json={"queries": [{"query": "zzz"}] * number})
        assert answer.status_code == status
        if status == 400:
            assert fields_of(answer) == ["queries"]


async def test_every_bad_field_of_a_question_is_named(bank: httpx.AsyncClient) -> None:
    bad = {
        "limit": "ten",
        "mode": "fuzzy",
        "tiers": ["memory", "thought"],
        "filters": {"created_after": "2026-11-30T09:00:00", "metadata": {"x": [1]}, "colour": "red"},
        "as_of": "yesterday",
        "explain": 1,
        "question": "?",
    }
    answer = await bank.post("/v1/banks/a/recall", json=bad)
    assert answer.status_code == 400
    assert sorted(fields_of(answer)) == [
        "as_of", "explain", "filters.colour", "filters.created_after", "filters.metadata.x", "limit", "mode", "query",
        "question", "tiers[1]",
    ]  # fmt: skip
    late = await bank.post(
        "/v1/banks/a/recall",
        json={"query": "x", "limit": 501, "threshold": 2, "scorer": "best", "filters": {"category": "x"}},
    )
    assert sorted(fields_of(late)) == ["filters.category", "limit", "scorer", "threshold"]
    batch = await bank.post("/v1/banks/a/recall/batch", json={"queries": [{"query": "x"}, {"query": "x", "limit": -1}]})
    assert fields_of(batch) == ["queries[1].limit"]


async def test_naive_times_are_refused_by_name(bank: httpx.AsyncClient) -> None:
    answer = await bank.post("/v1/banks/a/recall", json={"query": "x", "as_of": "2026-11-30T09:00:00"})
    (error,) = answer.json()["errors"]
    assert error["field"] == "as_of"
    assert "offset" in error["message"]


async def test_as_of_judges_supersession_at_that_moment(bank: httpx.AsyncClient) -> None:
    old = (await bank.post("/v1/banks/a/memories", json={"content": "Lives in Pune near the river"})).json()
    new = (await bank.post("/v1/banks/a/memories", json={"content": "Lives in Oslo near the river"})).json()
    before = new["created_at"]
    await bank.post(f"/v1/banks/a/memories/{old['id']}/supersede", json={"by": new["id"]})
    assert [item["id"] for item in (await ask(bank, "river"))["results"]] == [new["id"]]
    then = {item["id"] for item in (await ask(bank, "river", as_of=before))["results"]}
    assert old["id"] in then
    every = {item["id"] for item in (await ask(bank, "river", include_superseded=True))["results"]}
    assert every == {old["id"], new["id"]}


@pytest.mark.parametrize(
    "query",
    ['"', "* OR NOT", "a AND (b", "x" * 20_000, "👍", "怀孕", "C:\\repo\\src\\main.py", "' OR 1=1 --", "%", "\t"],
)
async def test_any_text_is_a_legal_query(bank: httpx.AsyncClient, query: str) -> None:
    await ask(bank, query)


async def test_the_same_question_twice_has_the_same_results(bank: httpx.AsyncClient) -> None:
    answers = [await ask(bank, "blog", record_access=False, as_of="2999-01-01T00:00:00Z") for _ in range(2)]
    assert answers[0]["results"] == answers[1]["results"]


async def test_with_vectors_the_answer_says_hybrid_and_meaning_finds_what_words_do_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    embedder = WordEmbedder(synonyms={"automobile": "car"})
    monkeypatch.setattr(
        "tests.api.serving.build", lambda settings, clock=None: build(settings, clock, embedder=embedder)
    )
    async with serving(tmp_path) as served:
        await served.client.post("/v1/banks/a/memories", json={"content": "Sold the car"})
        await served.services.indexer.drained()
        found = await ask(served.client, "automobile", explain=True)
        assert (found["retrieval"], found["degraded"]) == ("hybrid", [])
        assert [item["text"] for item in found["results"]] == ["Sold the car"]
        assert found["results"][0]["explain"]["cosine"] > 0.2
        stats = (await served.client.get("/v1/banks/a/stats")).json()
        assert (stats["vectors"], stats["pending_vectors"]) == (1, 0)
