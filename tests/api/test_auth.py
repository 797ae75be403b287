"""
Keys, roles and the banks they may touch.
"""

from pathlib import Path

import pytest

from tests.api.serving import ADMIN_KEY, Served, serving

WRITER = "alpha-writer-key-0123456789"
READER = "alpha-reader-key-0123456789"
OTHER = "beta-admin-key-0123456789ab"

READS = [
    ("GET", "/v1/banks/alpha", None),
    ("GET", "/v1/banks/alpha/stats", None),
    ("GET", "/v1/banks/alpha/tags", None),
    ("GET", "/v1/banks/alpha/entries", None),
    ("GET", "/v1/banks/alpha/memories", None),
    ("POST", "/v1/banks/alpha/recall", {"query": "tea"}),
    ("POST", "/v1/banks/alpha/recall/batch", {"queries": [{"query": "tea"}]}),
    ("POST", "/v1/banks/alpha/context", {"query": "tea"}),
    ("GET", "/api/profiles/alpha/memories/search?q=tea", None),
    ("GET", "/v1/banks", None),
]
WRITES = [
    ("POST", "/v1/banks/alpha/entries", {"entries": [{"content": "hi"}]}),
    ("POST", "/v1/banks/alpha/memories", {"content": "Likes cocoa"}),
    ("POST", "/v1/banks/alpha/memories/delete", {"ids": ["x"]}),
    ("DELETE", "/v1/banks/alpha/entries?action_id=x", None),
    ("POST", "/v1/doctor", None),
    ("POST", "/api/profiles/alpha/memories", {"rawInput": "Likes milk"}),
]
ADMINISTERS = [
    ("PATCH", "/v1/banks/alpha", {"description": "x"}),
    ("DELETE", "/v1/banks/alpha", None),
    ("POST", "/v1/banks/alpha/restore", None),
    ("DELETE", "/v1/banks/alpha?erase=true", None),
]


@pytest.fixture
async def alpha(guarded: Served) -> Served:
    async with guarded.as_key(WRITER) as writer:
        await writer.post("/v1/banks/alpha/memories", json={"content": "Likes tea"})
    return guarded


@pytest.mark.parametrize(
    ("key", "allowed", "refused"),
    [
        (READER, READS, WRITES + ADMINISTERS),
        (WRITER, READS + WRITES, ADMINISTERS),
        (ADMIN_KEY, READS + WRITES + ADMINISTERS, []),
    ],
    ids=["read", "write", "admin"],
)
async def test_a_role_reaches_as_far_as_it_says(
    alpha: Served,
    key: str,
    allowed: list[tuple[str, str, object]],
    refused: list[tuple[str, str, object]],
) -> None:
    async with alpha.as_key(key) as client:
        for method, path, body in refused:
            answer = await client.request(method, path, json=body)
            assert (answer.status_code, answer.json()["type"]) == (403, "/problems/forbidden"), path
        for method, path, body in allowed:
            answer = await client.request(method, path, json=body)
            assert answer.status_code < 300, (path, answer.text)


async def test_without_a_key_and_with_an_unknown_one_is_401(alpha: Served) -> None:
    for method, path, body in READS + WRITES + ADMINISTERS:
        for headers in (
            {},
            {"Authorization": "Bearer nobody"},
            {"X-API-Key": "nobody"},
            {"Authorization": f"Basic {ADMIN_KEY}"},
        ):
            answer = await alpha.client.request(method, path, json=body, headers=headers)
            assert (answer.status_code, answer.json()["type"]) == (401, "/problems/unauthorized")
            assert answer.headers["www-authenticate"] == "Bearer"


async def test_a_key_may_come_in_either_header(alpha: Served) -> None:
    for headers in ({"Authorization": f"bearer {READER}"}, {"X-API-Key": READER}):
        assert (await alpha.client.get("/v1/banks/alpha", headers=headers)).status_code == 200


async def test_a_bank_is_made_within_the_keys_pattern_only(alpha: Served) -> None:
    async with alpha.as_key(WRITER) as client:
        assert (await client.post("/v1/banks", json={"name": "alpha-new"})).status_code == 201
        outside = await client.post("/v1/banks", json={"name": "gamma"})
        assert outside.status_code == 404
        assert (await client.post("/v1/banks/alphabet/memories", json={"content": "Likes tea"})).status_code == 404
    async with alpha.as_key(ADMIN_KEY) as admin:
        assert [bank["name"] for bank in (await admin.get("/v1/banks")).json()["items"]] == ["alpha", "alpha-new"]


async def test_a_list_of_banks_shows_those_that_the_key_may_see(alpha: Served) -> None:
    async with alpha.as_key(OTHER) as other:
        await other.post("/v1/banks", json={"name": "beta"})
        listed = (await other.get("/v1/banks")).json()
        assert ([bank["name"] for bank in listed["items"]], listed["total"]) == (["beta"], 1)
    async with alpha.as_key(READER) as reader:
        assert [bank["name"] for bank in (await reader.get("/v1/banks")).json()["items"]] == ["alpha"]


async def test_a_stored_key_opens_and_once_withdrawn_closes(tmp_path: Path) -> None:
    async with serving(tmp_path) as served:
        assert (await served.client.get("/v1/banks")).status_code == 200
        secret = await served.services.keys.add("bot", "write", ["bot-*"])
        assert (await served.client.get("/v1/banks")).status_code == 401
        async with served.as_key(secret) as bot:
            assert (await bot.post("/v1/banks/bot-1/memories", json={"content": "Likes tea"})).status_code == 201
            assert (await bot.get("/v1/banks/other")).status_code == 404
            await served.services.keys.revoke("bot")
            assert (await bot.get("/v1/banks")).status_code == 401
        assert (await served.client.get("/v1/banks")).status_code == 401
