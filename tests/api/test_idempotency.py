"""
The Idempotency-Key header.
"""

import asyncio
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest

from app.clock import FrozenClock
from app.services import idempotency
from tests.api.serving import KEYS, Served, serving

KEY = {"Idempotency-Key": "5f0c7c1e"}
ENTRIES = {"entries": [{"content": "ok"}, {"content": "see you"}]}


async def post(client: httpx.AsyncClient, path: str = "/v1/banks/a/entries", body: object = ENTRIES) -> httpx.Response:
    return await client.post(path, json=body, headers=KEY)


async def test_the_same_request_again_gets_the_first_answer_and_is_not_done_again(client: httpx.AsyncClient) -> None:
    first, second = await post(client), await post(client)
    assert (first.status_code, second.status_code) == (201, 201)
    assert second.content == first.content
    assert second.headers["content-type"] == first.headers["content-type"]
    assert "idempotency-replayed" not in first.headers
    assert second.headers["idempotency-replayed"] == "true"
    assert second.headers["x-request-id"] != first.headers["x-request-id"]
    memory = [await post(client, "/v1/banks/a/memories", {"content": "Likes tea"}) for _ in range(2)]
    assert [answer.status_code for answer in memory] == [201, 201]
    assert (await client.get("/v1/banks/a/memories")).json()["items"][0]["observations"] == 1
    assert (await client.get("/v1/banks/a/entries")).json()["total"] == 2


async def test_another_body_under_the_same_key_is_409(client: httpx.AsyncClient) -> None:
    await post(client)
    other = await post(client, body={"entries": [{"content": "something else"}]})
    assert (other.status_code, other.json()["type"]) == (409, "/problems/conflict")
    assert (await client.get("/v1/banks/a/entries")).json()["total"] == 2


async def test_a_key_belongs_to_its_path_and_its_caller(tmp_path: Path) -> None:
    body = {"rawInput": "Likes tea"}
    async with (
        serving(tmp_path, auth={"keys": KEYS}) as served,
        served.as_key(str(KEYS[1]["key"])) as alpha,
        served.as_key(str(KEYS[0]["key"])) as admin,
    ):
        first = await post(alpha, "/api/profiles/alpha/memories", body)
        other_path = await post(alpha, "/api/profiles/alpha-2/memories", body)
        other_caller = await post(admin, "/api/profiles/alpha/memories", body)
    assert {answer.status_code for answer in (first, other_path, other_caller)} == {201}
    assert "idempotency-replayed" not in other_path.headers
    assert "idempotency-replayed" not in other_caller.headers


async def test_a_refusal_is_kept_too(client: httpx.AsyncClient) -> None:
    holder = await client.post("/v1/banks/a/memories", json={"content": "Lives in Pune", "key": "home"})
    rival = {"content": "Lives in Oslo", "key": "home"}
    first = await post(client, "/v1/banks/a/memories", rival)
    assert (await client.delete(f"/v1/banks/a/memories/{holder.json()['id']}")).status_code == 204
    second = await post(client, "/v1/banks/a/memories", rival)
    assert (first.status_code, second.status_code) == (409, 409)
    assert second.headers["content-type"] == "application/problem+json"
    assert (await client.post("/v1/banks/a/memories", json=rival)).status_code == 201
    bad = [await post(client, "/v1/banks/c/entries", {"entries": 1}) for _ in range(2)]
    assert [answer.status_code for answer in bad] == [400, 400]
    assert bad[1].content == bad[0].content


async def test_an_answer_outlives_a_restart(tmp_path: Path) -> None:
    async with serving(tmp_path) as served:
        first = await post(served.client)
    async with serving(tmp_path) as served:
        second = await post(served.client)
        assert second.content == first.content
        assert second.headers["idempotency-replayed"] == "true"


async def test_two_at_once_are_done_once(served: Served) -> None:
    answers = await asyncio.gather(*(post(served.client) for _ in range(5)))
    assert {answer.status_code for answer in answers} == {201}
    assert len({answer.content for answer in answers}) == 1
    assert (await served.client.get("/v1/banks/a/entries")).json()["total"] == 2


class Slow:
    """
    Takes in entries only once its gate is open.
    """

    def __init__(self, services: Any) -> None:
        self.gate = asyncio.Event()
        self.entered = asyncio.Event()
        self._remember = services.remember

    async def entries(self, bank: str, given: Any) -> Any:
        """
        Wait, then store.
        """
        self.entered.set()
        await self.gate.wait()
        return await self._remember.entries(bank, given)


async def test_while_the_first_is_at_work_a_second_is_409(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(idempotency, "PATIENCE_S", 0.1)
    async with serving(tmp_path, parts={"remember": Slow}) as served:
        slow = served.services.remember
        first = asyncio.create_task(post(served.client))
        await slow.entered.wait()
        second = await post(served.client)
        assert second.status_code == 409
        assert "in progress" in second.json()["detail"]
        slow.gate.set()
        assert (await first).status_code == 201
        assert (await post(served.client)).headers["idempotency-replayed"] == "true"


class FailingOnce:
    """
    Stores the entries, and then fails the first time.
    """

    def __init__(self, services: Any) -> None:
        self.calls = 0
        self._remember = services.remember

    def __getattr__(self, name: str) -> Any:
        return getattr(self._remember, name)

    async def entries(self, bank: str, given: Any) -> Any:
        """
        Store, and fail the first time.
        """
        self.calls += 1
        stored = await self._remember.entries(bank, given)
        if self.calls == 1:
            raise RuntimeError("after the write")
        return stored


async def test_a_failure_is_not_kept_and_trying_again_stores_nothing_twice(tmp_path: Path) -> None:
    async with serving(tmp_path, parts={"remember": FailingOnce}, short_term={"dedupe_window_s": 0}) as served:
        first, second, third = [await post(served.client) for _ in range(3)]
        assert [answer.status_code for answer in (first, second, third)] == [500, 201, 201]
        assert third.content == second.content
        assert [item["status"] for item in second.json()["results"]] == ["created", "created"]
        assert (await served.client.get("/v1/banks/a/entries")).json()["total"] == 2


class Dying:
    """
    Dies with every answer, after the work and before the answer is kept.
    """

    def __init__(self, services: Any) -> None:
        self._idempotency = services.idempotency

    def __getattr__(self, name: str) -> Any:
        return getattr(self._idempotency, name)

    async def finish(self, *_: object) -> None:
        """
        Die.
        """
        raise asyncio.CancelledError


@pytest.mark.parametrize(
    ("path", "body", "count"),
    [
        ("/v1/banks/a/entries", ENTRIES, 2),
        ("/v1/banks/a/memories", {"content": "Likes tea"}, 1),
        ("/v1/banks/a/memories", {"memories": [{"content": "Likes tea"}, {"content": "Likes cocoa"}]}, 2),
        ("/api/profiles/a/memories", {"rawInput": "Likes tea"}, 1),
    ],
)
async def test_a_crash_between_the_write_and_the_answer_neither_stores_twice_nor_blocks_the_key(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, path: str, body: object, count: int
) -> None:
    monkeypatch.setattr(idempotency, "PATIENCE_S", 0.0)
    clock = FrozenClock(datetime(2026, 1, 1, tzinfo=UTC))
    sections: dict[str, Any] = {"short_term": {"dedupe_window_s": 0}}
    async with serving(tmp_path, clock=clock, parts={"idempotency": Dying}, **sections) as served:
        with pytest.raises(asyncio.CancelledError):
            await post(served.client, path, body)
    async with serving(tmp_path, clock=clock, **sections) as served:
        clock.moment += timedelta(seconds=30)
        assert (await post(served.client, path, body)).status_code == 409
        clock.moment += timedelta(seconds=31)
        again = await post(served.client, path, body)
        assert again.status_code == 201
        assert (await post(served.client, path, body)).content == again.content
        records = (await served.client.get("/v1/banks/a/stats")).json()["records"]
        assert records["entry"] + records["memory"] == count
        for item in (await served.client.get("/v1/banks/a/memories")).json()["items"]:
            assert item["observations"] == 1


async def test_an_answer_is_forgotten_when_its_time_is_over(tmp_path: Path) -> None:
    clock = FrozenClock(datetime(2026, 1, 1, tzinfo=UTC))
    async with serving(tmp_path, clock=clock, server={"idempotency_hours": 2}) as served:
        await post(served.client)
        clock.moment += timedelta(hours=1, minutes=59)
        assert "idempotency-replayed" in (await post(served.client)).headers
        clock.moment += timedelta(minutes=2)
        late = await post(served.client, body={"entries": [{"content": "a new day"}]})
        assert late.status_code == 201
        assert "idempotency-replayed" not in late.headers


async def test_zero_hours_keep_none(tmp_path: Path) -> None:
    async with serving(tmp_path, server={"idempotency_hours": 0}) as served:
        answers = [await post(served.client, "/v1/banks/a/memories", {"content": "Likes tea"}) for _ in range(2)]
        assert [answer.status_code for answer in answers] == [201, 200]


async def test_an_erased_bank_takes_its_answers_with_it(client: httpx.AsyncClient, tmp_path: Path) -> None:
    word = b"zanzibarquince"
    body = {"query": "codeword"}
    await client.post("/v1/banks/a/memories", json={"content": f"The codeword is {word.decode()}"})
    await post(client, "/v1/banks/a/recall", body)
    await post(client, "/v1/banks", {"name": "b", "description": word.decode()})
    for bank in ("a", "b"):
        await client.delete(f"/v1/banks/{bank}", params={"erase": "true"})
    assert (await post(client, "/v1/banks/a/recall", body)).status_code == 404
    for file in tmp_path.iterdir():
        assert word not in file.read_bytes()


async def test_an_actions_entries_leave_no_kept_answer_either(client: httpx.AsyncClient) -> None:
    body = {"query": "codeword"}
    entry = {"content": "The codeword is zanzibarquince", "action_id": "act"}
    await client.post("/v1/banks/a/entries", json={"entries": [entry]})
    assert "zanzibarquince" in (await post(client, "/v1/banks/a/recall", body)).text
    await client.delete("/v1/banks/a/entries", params={"action_id": "act"})
    assert "zanzibarquince" not in (await post(client, "/v1/banks/a/recall", body)).text


@pytest.mark.parametrize("key", ["", "x" * 256, " "])
async def test_a_key_that_cannot_be_taken_is_400(client: httpx.AsyncClient, key: str) -> None:
    answer = await client.post("/v1/banks", json={"name": "a"}, headers={"Idempotency-Key": key})
    assert answer.status_code == 400
    assert answer.json()["errors"][0]["field"] == "Idempotency-Key"


async def test_a_key_on_anything_but_a_post_means_nothing(client: httpx.AsyncClient) -> None:
    await client.post("/v1/banks/a/memories", json={"content": "Likes tea"})
    for _ in range(2):
        answer = await client.get("/v1/banks/a/memories", headers=KEY)
        assert "idempotency-replayed" not in answer.headers


async def test_who_may_not_write_is_refused_before_a_key_is_looked_at(tmp_path: Path) -> None:
    async with serving(tmp_path, auth={"keys": KEYS}) as served:
        async with served.as_key(str(KEYS[1]["key"])) as writer:
            assert (await post(writer, "/v1/banks/alpha/entries")).status_code == 201
        assert (await post(served.client, "/v1/banks/alpha/entries")).status_code == 401
        async with served.as_key(str(KEYS[2]["key"])) as reader:
            assert (await post(reader, "/v1/banks/alpha/entries")).status_code == 403
