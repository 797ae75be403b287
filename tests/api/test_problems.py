"""
Errors as problem documents.
"""

import json
from pathlib import Path
from typing import Any

import httpx
import pytest
from sqlalchemy.exc import OperationalError

from tests.api.serving import fields_of, serving

KEYS = {"type", "title", "status", "detail", "errors", "request_id"}


async def check(answer: httpx.Response, status: int, slug: str) -> dict[str, Any]:
    """
    The problem document of an answer, which must be one of that kind.
    """
    assert answer.status_code == status
    assert answer.headers["content-type"] == "application/problem+json"
    problem: dict[str, Any] = answer.json()
    assert set(problem) == KEYS
    assert (problem["status"], problem["type"]) == (status, f"/problems/{slug}")
    assert problem["request_id"] == answer.headers["x-request-id"]
    assert problem["detail"]
    return problem


async def test_what_is_not_there_is_a_problem(client: httpx.AsyncClient) -> None:
    await check(await client.get("/nowhere"), 404, "not-found")
    await check(await client.get("/v1/banks/none"), 404, "not-found")
    await check(await client.get("/schema/nothing"), 404, "not-found")
    await check(await client.get("/schema/nothing/here"), 404, "not-found")


async def test_a_method_that_a_path_does_not_take_is_a_problem_that_says_which_it_takes(
    client: httpx.AsyncClient,
) -> None:
    answer = await client.put("/v1/banks", json={})
    await check(answer, 405, "method-not-allowed")
    assert {"GET", "POST"} <= set(answer.headers["allow"].split(", "))


@pytest.mark.parametrize(
    "body",
    [b"{", b"", b"null", b"[]", b'"x"', b"\xff\xfe", b'{"query": NaN}', b'{"query": "\xff"}', b"[" * 100_000, b"{}x"],
)
async def test_a_body_that_is_no_json_object_is_400(client: httpx.AsyncClient, body: bytes) -> None:
    await client.post("/v1/banks", json={"name": "a"})
    for path in ("/v1/banks/a/recall", "/v1/banks/a/entries", "/v1/banks/a/memories", "/v1/banks"):
        answer = await client.post(path, content=body)
        await check(answer, 400, "invalid-input")
        assert fields_of(answer) == ["body"]


async def test_a_body_nested_beyond_all_sense_is_400(client: httpx.AsyncClient) -> None:
    deep = b'{"a":' * 900 + b"1" + b"}" * 900
    answer = await client.post("/v1/banks/a/memories", content=b'{"content":"Likes tea","metadata":%b}' % deep)
    await check(answer, 400, "invalid-input")
    assert (await client.get("/v1/banks/a")).status_code == 404


async def test_a_body_over_the_limit_is_413(tmp_path: Path) -> None:
    async with serving(tmp_path, server={"max_body_bytes": 2000}) as served:
        body = json.dumps({"content": "x" * 3000}).encode()
        for headers in ({}, {"Idempotency-Key": "k"}):
            answer = await served.client.post("/v1/banks/a/memories", content=body, headers=headers)
            problem = await check(answer, 413, "too-large")
            assert "2000" in problem["detail"]

        async def chunks() -> Any:
            for start in range(0, len(body), 500):
                yield body[start : start + 500]

        await check(await served.client.post("/v1/banks/a/memories", content=chunks()), 413, "too-large")


class Broken:
    """
    A service whose every call fails with a text that nobody outside may see.
    """

    def __init__(self, services: Any) -> None:
        self.error: Exception = ValueError("the user wrote: my secret is quince")

    async def get(self, bank: str) -> Any:
        """
        Fail.
        """
        raise self.error


async def test_a_fault_of_the_service_is_500_and_says_nothing_of_it(tmp_path: Path) -> None:
    async with serving(tmp_path, parts={"banks": Broken}) as served:
        answer = await served.client.get("/v1/banks/a")
        await check(answer, 500, "internal")
        assert "quince" not in answer.text
        assert "ValueError" not in answer.text


async def test_a_store_that_does_not_answer_is_503(tmp_path: Path) -> None:
    async with serving(tmp_path, parts={"banks": Broken}) as served:
        served.services.banks.error = OperationalError("SELECT quince", {}, Exception("database is locked"))
        answer = await served.client.get("/v1/banks/a")
        await check(answer, 503, "unavailable")
        assert "quince" not in answer.text
        assert int(answer.headers["retry-after"]) > 0


async def test_a_sane_request_id_is_kept_and_any_other_replaced(client: httpx.AsyncClient) -> None:
    for given, kept in [("abc-123:x.y_z", True), ("a b", False), ("x" * 129, False), ("", False)]:
        for path in ("/health/live", "/nowhere"):
            answer = await client.get(path, headers={"X-Request-Id": given})
            assert (answer.headers["x-request-id"] == given) is kept
            assert answer.headers["x-request-id"]
    made = {(await client.get("/health/live")).headers["x-request-id"] for _ in range(10)}
    assert len(made) == 10


async def test_every_answer_carries_the_security_headers(client: httpx.AsyncClient) -> None:
    for path in ("/health/live", "/nowhere", "/v1/banks", "/schema", "/metrics"):
        headers = (await client.get(path)).headers
        assert headers["content-security-policy"] == "default-src 'self'"
        assert headers["x-content-type-options"] == "nosniff"


async def test_parameters_are_named_each(client: httpx.AsyncClient) -> None:
    await client.post("/v1/banks", json={"name": "a"})
    for path in ("/v1/banks", "/v1/banks/a/memories", "/v1/banks/a/entries", "/api/profiles/a/memories"):
        for limit, offset in [("0", "-1"), ("501", "x"), ("ten", str(10**30)), ("1.5", "")]:
            answer = await client.get(path, params={"limit": limit, "offset": offset})
            await check(answer, 400, "invalid-input")
            assert sorted(fields_of(answer)) == ["limit", "offset"]
    far = await client.get("/v1/banks/a/memories", params={"offset": 2**53})
    assert (far.status_code, far.json()["items"]) == (200, [])
