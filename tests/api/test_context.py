"""
Contexts over HTTP.
"""

import httpx
import pytest

from tests.api.serving import Served, fields_of


@pytest.fixture
async def bank(client: httpx.AsyncClient) -> httpx.AsyncClient:
    memories = [
        {"content": "Allergic to peanuts", "category": "fact", "confidence": 0.95},
        {"content": "Publishes blog posts on Tuesday mornings", "category": "behavior"},
    ]
    await client.post("/v1/banks/a/memories", json={"memories": memories})
    await client.post("/v1/banks/a/entries", json={"entries": [{"content": "Hello there", "session_id": "s1"}]})
    return client


async def test_a_context_answers_in_the_agreed_shape(bank: httpx.AsyncClient) -> None:
    answer = await bank.post(
        "/v1/banks/a/context",
        json={
            "query": "blog posts",
            "profile": "chat",
            "budget": {"tokens": 400},
            "model": "gpt-5",
            "session_id": "s1",
        },
    )
    assert answer.status_code == 200, answer.text
    context = answer.json()
    assert context["budget"] == {"tokens": 400}
    assert context["tokens"] <= 400
    assert context["chars"] == len(context["text"])
    assert "Publishes blog posts" in context["text"]
    assert context["retrieval"] == "lexical"
    assert context["prefix_hash"]
    for section in context["sections"]:
        assert section.keys() >= {"name", "tokens", "chars", "items", "dropped"}
        for item in section["items"]:
            assert item.keys() >= {"id", "tier", "tokens"}
        for item in section["dropped"]:
            assert item.keys() == {"id", "reason"}


async def test_o32_a_budget_in_characters_holds(bank: httpx.AsyncClient) -> None:
    for budget in (0, 30, 200, 2000):
        answer = await bank.post(
            "/v1/banks/a/context", json={"query": "blog", "profile": "orca", "budget": {"chars": budget}}
        )
        context = answer.json()
        assert context["budget"] == {"chars": budget}
        assert len(context["text"]) == context["chars"] <= budget


async def test_c11_a_preview_counts_no_access(served: Served) -> None:
    client = served.client
    await client.post("/v1/banks/a/memories", json={"content": "Publishes blog posts on Tuesday"})

    async def accesses() -> int:
        await served.settle()
        (item,) = (await client.get("/v1/banks/a/memories")).json()["items"]
        count: int = item["access_count"]
        return count

    await client.post("/v1/banks/a/context", json={"query": "blog posts", "preview": True})
    assert await accesses() == 0
    await client.post("/v1/banks/a/context", json={"query": "blog posts"})
    assert await accesses() == 1


async def test_every_bad_field_of_a_call_is_named(bank: httpx.AsyncClient) -> None:
    async def bad(**fields: object) -> list[str]:
        answer = await bank.post("/v1/banks/a/context", json={"query": "x", **fields})
        assert answer.status_code == 400
        return sorted(fields_of(answer))

    assert await bad(budget={"tokens": -1, "words": 3}, model=5, preview="no") == [
        "budget.tokens", "budget.words", "model", "preview",
    ]  # fmt: skip
    assert await bad(budget={"tokens": 5, "chars": 5}) == ["budget.chars", "budget.tokens"]
    assert await bad(profile="poem") == ["profile"]
    assert await bad(sections=["poems"]) == ["sections"]
