"""
Long-term documents and rules over HTTP.
"""

import asyncio
from datetime import UTC, datetime
from pathlib import Path

import httpx
import pytest

from app.clock import FrozenClock
from app.services import idempotency
from tests.api.serving import KEYS, Served, fields_of, serving

BASE = "/v1/banks/a/documents"
ANA = "# Ana\n\n## Food\n\nLikes oat milk\n"
MARKDOWN = {"Content-Type": "text/markdown; charset=utf-8"}


async def put(client: httpx.AsyncClient, path: str, content: str, **headers: str) -> httpx.Response:
    return await client.put(f"{BASE}/{path}", json={"content": content}, headers=headers)


async def test_b17_a_document_is_written_and_shown_as_markdown_or_json(client: httpx.AsyncClient) -> None:
    made = await client.put(f"{BASE}/USER.md", content=ANA.encode(), headers=MARKDOWN)
    assert (made.status_code, made.headers["etag"]) == (201, '"1"')
    assert set(made.json()) == {"path", "revision", "size", "change", "created_at", "updated_at"}
    assert (made.json()["change"], made.json()["size"]) == ("created", len(ANA))
    shown = await client.get(f"{BASE}/USER.md")
    assert (shown.status_code, shown.headers["etag"]) == (200, '"1"')
    assert shown.json() == {
        "path": "USER.md",
        "revision": 1,
        "content": ANA,
        "created_at": made.json()["created_at"],
        "updated_at": made.json()["updated_at"],
    }
    plain = await client.get(f"{BASE}/USER.md", headers={"Accept": "text/markdown"})
    assert (plain.text, plain.headers["content-type"]) == (ANA, "text/markdown; charset=utf-8")
    again = await put(client, "USER.md", ANA)
    assert (again.status_code, again.json()["change"], again.headers["etag"]) == (200, None, '"1"')
    changed = await put(client, "USER.md", "new")
    assert (changed.status_code, changed.json()["change"], changed.headers["etag"]) == (200, "replaced", '"2"')


async def test_documents_are_listed_by_path(client: httpx.AsyncClient) -> None:
    for path in ("WORLD.md", "rules/style.md", "topics/猫 and 犬.md"):
        assert (await put(client, path, "x")).status_code == 201
    page = (await client.get(BASE, params={"limit": 2})).json()
    assert ([item["path"] for item in page["items"]], page["total"], page["next_offset"]) == (
        ["WORLD.md", "rules/style.md"],
        3,
        2,
    )
    assert set(page["items"][0]) == {"path", "revision", "size", "created_at", "updated_at"}
    shown = await client.get(f"{BASE}/topics/%E7%8C%AB%20and%20%E7%8A%AC.md")
    assert shown.json()["path"] == "topics/猫 and 犬.md"
    assert (await client.get("/v1/banks/nowhere/documents")).status_code == 404


async def test_a_lost_race_is_412(client: httpx.AsyncClient) -> None:
    await put(client, "USER.md", "one")
    answers = await asyncio.gather(*(put(client, "USER.md", text, **{"If-Match": '"1"'}) for text in ("two", "three")))
    assert sorted(answer.status_code for answer in answers) == [200, 412]
    (refused,) = (answer for answer in answers if answer.status_code == 412)
    assert refused.json()["type"] == "/problems/precondition-failed"
    assert (await client.get(f"{BASE}/USER.md")).json()["revision"] == 2
    assert (await client.delete(f"{BASE}/USER.md", headers={"If-Match": '"1"'})).status_code == 412
    assert (await client.delete(f"{BASE}/USER.md", headers={"If-Match": '"2"'})).status_code == 204
    assert (await client.get(f"{BASE}/USER.md")).status_code == 404
    assert (await client.delete(f"{BASE}/USER.md")).status_code == 404


@pytest.mark.parametrize(
    ("name", "value", "there", "absent"),
    [
        ("If-Match", '"1"', 200, 412),
        ("If-Match", "1", 200, 412),
        ("If-Match", 'W/"1"', 200, 412),
        ("If-Match", "*", 200, 412),
        ("If-Match", '"7"', 412, 412),
        ("If-Match", '"of another kind"', 412, 412),
        ("If-None-Match", "*", 412, 201),
    ],
)
async def test_what_a_request_may_expect_of_a_revision(
    client: httpx.AsyncClient, name: str, value: str, there: int, absent: int
) -> None:
    await put(client, "USER.md", "one")
    assert (await put(client, "USER.md", "two", **{name: value})).status_code == there
    assert (await put(client, "WORLD.md", "two", **{name: value})).status_code == absent


async def test_t004_twenty_parallel_appends_are_all_there(client: httpx.AsyncClient) -> None:
    answers = await asyncio.gather(
        *(client.post(f"{BASE}/MEMORY.md/append", json={"content": f"- fact n{number}n"}) for number in range(20))
    )
    assert sorted(answer.status_code for answer in answers) == [200] * 19 + [201]
    assert sorted(answer.json()["revision"] for answer in answers) == list(range(1, 21))
    shown = (await client.get(f"{BASE}/MEMORY.md")).json()
    assert shown["revision"] == 20
    assert all(shown["content"].count(f"n{number}n") == 1 for number in range(20))


async def test_b27_t005_a_daily_log_only_grows(tmp_path: Path) -> None:
    clock = FrozenClock(datetime(2026, 11, 30, 9, 15, tzinfo=UTC))
    async with serving(tmp_path, clock=clock) as served:
        path = f"{BASE}/daily/2026-11-30.md"
        for text, heading in (("Read a paper", "research"), ("Wrote back", None)):
            answer = await served.client.post(f"{path}/append", json={"content": text, "heading": heading})
            assert answer.status_code in (200, 201)
        shown = (await served.client.get(path)).json()["content"]
        assert shown == "# 2026-11-30\n\n## 09:15 - Research\n\nRead a paper\n\n## 09:15 - System\n\nWrote back\n"
        refused = await served.client.put(path, json={"content": "# 2026-11-30\n"})
        assert (refused.status_code, refused.json()["type"]) == (409, "/problems/conflict")
        assert (await served.client.put(path, json={"content": f"{shown}\nby hand\n"})).json()["change"] == "appended"


async def test_every_state_is_in_the_history(client: httpx.AsyncClient) -> None:
    await client.put(f"{BASE}/topics/USER.md", json={"content": "one\n", "reason": "by hand"})
    await client.post(f"{BASE}/topics/USER.md/append", json={"content": "two", "heading": "Later", "reason": "why"})
    await client.delete(f"{BASE}/topics/USER.md")
    page = (await client.get(f"{BASE}/topics/USER.md/history", params={"limit": 2})).json()
    assert [(item["revision"], item["change"], item["reason"], item["content"]) for item in page["items"]] == [
        (1, "created", "by hand", "one\n"),
        (2, "appended", "why", "one\n\n## Later\n\ntwo\n"),
    ]
    assert (page["total"], page["next_offset"]) == (3, 2)
    assert (await client.get(f"{BASE}/WORLD.md/history")).status_code == 404


async def test_recall_finds_a_passage_with_its_titles(client: httpx.AsyncClient) -> None:
    await put(client, "USER.md", ANA)
    asked = {"query": "what milk does she like", "tiers": ["document"], "filters": {"metadata": {"path": "USER.md"}}}
    (found,) = (await client.post("/v1/banks/a/recall", json=asked)).json()["results"]
    assert (found["tier"], found["text"]) == ("document", "Ana > Food\nLikes oat milk")
    assert found["metadata"] == {"path": "USER.md", "heading": ["Ana", "Food"], "lines": [5, 5]}
    context = await client.post("/v1/banks/a/context", json={"query": "oat milk", "budget": {"tokens": 500}})
    assert "Likes oat milk" in context.json()["text"]


async def test_i37_rules_are_set_listed_and_removed(client: httpx.AsyncClient) -> None:
    rules = "/v1/banks/a/rules"
    made = await client.put(f"{rules}/style", json={"content": "Be brief.\n"})
    assert (made.status_code, made.json()["path"]) == (201, "rules/style.md")
    assert (await client.put(f"{rules}/tone.md", content=b"Be kind.", headers=MARKDOWN)).status_code == 201
    page = (await client.get(rules)).json()
    assert [(item["name"], item["path"], item["content"]) for item in page["items"]] == [
        ("style", "rules/style.md", "Be brief.\n"),
        ("tone", "rules/tone.md", "Be kind."),
    ]
    assert (await client.put(f"{rules}/style", json={"content": "x"}, headers={"If-Match": '"9"'})).status_code == 412
    assert (await client.put(f"{rules}/style", json={"content": ""})).status_code == 204
    assert [item["name"] for item in (await client.get(rules)).json()["items"]] == ["tone"]
    assert (await client.get(f"{BASE}/rules/style.md")).status_code == 404
    assert (await client.put(f"{rules}/style", json={"content": ""})).status_code == 404


async def test_i49_rules_are_written_by_administrators_only(guarded: Served) -> None:
    async with guarded.as_key("alpha-writer-key-0123456789") as writer:
        base = "/v1/banks/alpha"
        body = {"content": "Obey me"}
        for method, path in (
            ("PUT", "rules/style"),
            ("PUT", "documents/rules/style.md"),
            ("PUT", "documents/rules%2Fstyle.md"),
            ("POST", "documents/rules/style.md/append"),
            ("DELETE", "documents/rules/style.md"),
        ):
            assert (await writer.request(method, f"{base}/{path}", json=body)).status_code == 403, path
        assert (await writer.put(f"{base}/documents/USER.md", json=body)).status_code == 201
        assert (await writer.get(f"{base}/rules")).json()["items"] == []
    async with guarded.as_key("alpha-reader-key-0123456789") as reader:
        assert (await reader.get(f"{base}/documents/USER.md")).status_code == 200
        assert (await reader.put(f"{base}/documents/USER.md", json=body)).status_code == 403
        assert (await reader.post(f"{base}/documents/USER.md/append", json=body)).status_code == 403
        assert (await reader.delete(f"{base}/documents/USER.md")).status_code == 403


@pytest.mark.parametrize(
    "path",
    [
        "a/%2e%2e/b.md",
        "a//b.md",
        "%2Fa.md",
        "a%5Cb.md",
        "a%00.md",
        "notes.txt",
        "daily/today.md",
        "rules/a/b.md",
        ".md",
    ],
)
async def test_a_path_that_cannot_be_taken_is_named(client: httpx.AsyncClient, path: str) -> None:
    answer = await put(client, path, "x")
    assert (answer.status_code, fields_of(answer)) == (400, ["path"])
    assert (await client.get(f"{BASE}/{path}")).status_code == 400
    assert (await client.get("/v1/banks")).json()["total"] == 0


async def test_a_body_that_cannot_be_taken_is_named(client: httpx.AsyncClient) -> None:
    answer = await client.put(f"{BASE}/USER.md", content=b"ab\xff", headers=MARKDOWN)
    assert (answer.status_code, fields_of(answer)) == (400, ["body"])
    answer = await client.put(f"{BASE}/USER.md", json={"text": "x"})
    assert (answer.status_code, fields_of(answer)) == (400, ["text", "content"])
    answer = await client.post(f"{BASE}/USER.md/append", json={"content": " ", "heading": "A"})
    assert (answer.status_code, fields_of(answer)) == (400, ["content"])
    answer = await client.post(f"{BASE}/USER.md/append", json={"content": "x", "heading": "h" * 300})
    assert (answer.status_code, fields_of(answer)) == (400, ["heading"])
    answer = await client.post(f"{BASE}/USER.md", json={"content": "x"})
    assert (answer.status_code, answer.headers["allow"]) == (405, "GET, PUT, DELETE")
    assert (await client.get("/v1/banks")).json()["total"] == 0


async def test_a_document_beyond_its_size_is_413(tmp_path: Path) -> None:
    async with serving(tmp_path, documents={"max_bytes": 1024}) as served:
        assert (await put(served.client, "USER.md", "x" * 1024)).status_code == 201
        answer = await served.client.post(f"{BASE}/USER.md/append", json={"content": "y"})
        assert (answer.status_code, fields_of(answer)) == (413, ["content"])
        assert (await served.client.get(f"{BASE}/USER.md")).json()["revision"] == 1


async def test_an_append_that_is_sent_again_after_a_crash_is_not_done_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(idempotency, "ABANDONED_S", 0.0)
    key = {"Idempotency-Key": "append-1"}
    body = {"content": "once"}
    async with serving(tmp_path, auth={"keys": KEYS}) as served, served.as_key(str(KEYS[0]["key"])) as client:
        await client.post(f"{BASE}/MEMORY.md/append", json=body, headers=key)

        # What a process leaves that died after the write and before its answer was kept.
        def forget_answer() -> None:
            with served.services.storage.writer_engine.begin() as connection:
                connection.exec_driver_sql("UPDATE idempotency SET status = NULL, body = NULL")

        await asyncio.to_thread(forget_answer)
        again = await client.post(f"{BASE}/MEMORY.md/append", json=body, headers=key)
        assert (again.status_code, again.json()["revision"]) == (201, 1)
        assert (await client.get(f"{BASE}/MEMORY.md")).json()["content"] == "once\n"


async def test_t076_a_document_of_another_tenant_is_not_there(guarded: Served) -> None:
    async with guarded.as_key(str(KEYS[0]["key"])) as admin:
        await admin.put("/v1/banks/alpha/documents/USER.md", json={"content": "zanzibar"})
        await admin.put("/v1/banks/alpha/rules/style", json={"content": "zanzibar"})
    async with guarded.as_key("beta-admin-key-0123456789ab") as beta:
        for method, path in (
            ("GET", "documents"),
            ("GET", "documents/USER.md"),
            ("GET", "documents/USER.md/history"),
            ("PUT", "documents/USER.md"),
            ("POST", "documents/USER.md/append"),
            ("DELETE", "documents/USER.md"),
            ("GET", "rules"),
            ("PUT", "rules/style"),
        ):
            answer = await beta.request(method, f"/v1/banks/alpha/{path}", json={"content": "mine"})
            assert (answer.status_code, "zanzibar" in answer.text) == (404, False), path


async def test_the_openapi_document_says_how_documents_are_written(client: httpx.AsyncClient) -> None:
    paths = (await client.get("/schema/openapi.json")).json()["paths"]
    written = paths["/v1/banks/{bank}/documents/{path}"]["put"]
    assert set(written["requestBody"]["content"]) == {"text/markdown", "application/json"}
    assert {"If-Match", "If-None-Match"} <= {parameter["name"] for parameter in written["parameters"]}
    assert {"200", "201", "412"} <= set(written["responses"])
