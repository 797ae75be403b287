"""
Isolation: every route of the application, asked by a tenant that may not see the bank.
"""

from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from litestar.handlers import HTTPRouteHandler
from litestar.routes import HTTPRoute

from tests.api.serving import ADMIN_KEY, Served

SECRET = "zanzibarquince"
OTHER = "beta-admin-key-0123456789ab"
WRITER = "alpha-writer-key-0123456789"


@pytest.fixture
async def tenants(guarded: Served) -> Served:
    async with guarded.as_key(WRITER) as alpha:
        for bank in ("alpha", "alpha-2"):
            memory = {"content": f"The codeword is {SECRET}", "tags": [SECRET], "key": SECRET, "entities": [SECRET]}
            await alpha.post(f"/v1/banks/{bank}/memories", json=memory)
            entry = {"content": f"codeword {SECRET}", "action_id": "act", "session_id": "s"}
            entry |= {"source": "telegram", "source_id": SECRET, "name": SECRET}
            await alpha.post(f"/v1/banks/{bank}/entries", json={"entries": [entry]})
    async with guarded.as_key(OTHER) as beta:
        await beta.post("/v1/banks/beta/memories", json={"content": "Beta has a codeword of its own"})
    return guarded


def routes(served: Served) -> Iterator[tuple[str, str, HTTPRouteHandler]]:
    """
    Method and path template of everything that the application answers, but for OPTIONS.
    """
    for route in served.app.routes:
        if isinstance(route, HTTPRoute):
            for handler in route.route_handlers:
                for method in sorted(handler.http_methods - {"OPTIONS"}):
                    yield method, route.path_format, handler


def filled(path: str, bank: str, memory_id: str) -> str:
    """
    A path template with its parameters filled in.
    """
    named = path.replace("{bank}", bank).replace("{name}", bank).replace("{memory_id}", memory_id)
    return named.replace("{jid}", f"telegram:{SECRET}").replace("{alias}", "user-alice")


async def a_memory_of(served: Served, bank: str) -> str:
    """
    The id of the memory that stands in the bank.
    """
    async with served.as_key(ADMIN_KEY) as admin:
        (item,) = (await admin.get(f"/v1/banks/{bank}/memories")).json()["items"]
    memory_id: str = item["id"]
    return memory_id


def without_id(answer: httpx.Response, bank: str) -> dict[str, Any]:
    """
    A problem document without what differs from request to request.
    """
    body: dict[str, Any] = answer.json()
    return {**body, "request_id": "", "detail": body["detail"].replace(bank, "BANK")}


async def test_d44_t074_every_get_route_shows_another_tenant_nothing(tenants: Served) -> None:
    memory_id = await a_memory_of(tenants, "alpha")
    asked = 0
    async with tenants.as_key(OTHER) as beta:
        for method, path, _ in routes(tenants):
            if method != "GET":
                continue
            asked += 1
            answer = await beta.get(filled(path, "alpha", memory_id), params={"q": "codeword", "limit": 100})
            assert SECRET not in answer.text, path
            assert memory_id not in answer.text, path
            if "{bank}" in path or "{name}" in path:
                assert answer.status_code == 404, path
    assert asked >= 15


async def test_t076_every_route_answers_for_anothers_bank_as_for_one_that_does_not_exist(tenants: Served) -> None:
    memory_id = await a_memory_of(tenants, "alpha")
    asked = 0
    async with tenants.as_key(OTHER) as beta:
        for method, path, _ in routes(tenants):
            if "{bank}" not in path and "{name}" not in path:
                continue
            asked += 1
            answers = [
                await beta.request(method, filled(path, bank, memory_id), json={}) for bank in ("alpha", "none-x")
            ]
            assert [answer.status_code for answer in answers] == [404, 404], (method, path)
            assert without_id(answers[0], "alpha") == without_id(answers[1], "none-x"), (method, path)
            assert answers[0].headers.keys() == answers[1].headers.keys()
    assert asked >= 20
    async with tenants.as_key(ADMIN_KEY) as admin:
        stats = (await admin.get("/v1/banks/alpha/stats")).json()
        assert (stats["records"]["memory"], stats["records"]["entry"]) == (1, 1)


async def test_t076_the_answer_is_that_of_a_bank_that_a_seeing_key_does_not_find(tenants: Served) -> None:
    async with tenants.as_key(OTHER) as beta, tenants.as_key(ADMIN_KEY) as admin:
        for path in ("", "/stats", "/tags", "/entries", "/memories", "/memories/mem-1", "/memories/mem-1/history"):
            hidden = await beta.get(f"/v1/banks/alpha{path}")
            absent = await admin.get(f"/v1/banks/nothing{path}")
            assert without_id(hidden, "alpha") == without_id(absent, "nothing"), path


@pytest.mark.parametrize("method", ["GET", "PATCH", "DELETE", "history", "supersede", "purge", "batch"])
async def test_t076_an_id_of_another_bank_names_nothing_in_ones_own(tenants: Served, method: str) -> None:
    memory_id = await a_memory_of(tenants, "alpha")
    own = await a_memory_of(tenants, "beta")
    path = f"/v1/banks/beta/memories/{memory_id}"
    async with tenants.as_key(OTHER) as beta:
        match method:
            case "history":
                answer = await beta.get(f"{path}/history")
            case "supersede":
                answer = await beta.post(f"/v1/banks/beta/memories/{own}/supersede", json={"by": memory_id})
            case "purge":
                answer = await beta.delete(path, params={"purge": "true"})
            case "batch":
                answer = await beta.delete("/v1/banks/beta/memories", params={"ids": memory_id})
                assert answer.json() == {"deleted": 0, "not_found": [memory_id], "failed": []}
            case _:
                answer = await beta.request(method, path, json={"pinned": True} if method == "PATCH" else None)
        assert method == "batch" or answer.status_code == 404
    async with tenants.as_key(ADMIN_KEY) as admin:
        kept = (await admin.get(f"/v1/banks/alpha/memories/{memory_id}")).json()
        assert (kept["revision"], kept["pinned"], kept["is_active"]) == (1, False, True)


@pytest.mark.parametrize("method", ["GET", "PATCH", "DELETE", "merge", "into", "unmerge"])
async def test_t076_an_entity_of_another_bank_names_nothing_in_ones_own(tenants: Served, method: str) -> None:
    async with tenants.as_key(ADMIN_KEY) as admin:
        (foreign,) = (await admin.get("/v1/banks/alpha/entities", params={"q": SECRET})).json()["items"]
        before = (await admin.get(f"/v1/banks/alpha/entities/{foreign['id']}")).json()
    async with tenants.as_key(OTHER) as beta:
        await beta.post("/v1/banks/beta/memories", json={"content": "Betty works at Acme."})
        (own,) = (await beta.get("/v1/banks/beta/entities", params={"q": "betty"})).json()["items"]
        path = f"/v1/banks/beta/entities/{foreign['id']}"
        match method:
            case "merge":
                answer = await beta.post(f"{path}/merge", json={"into": own["id"]})
            case "into":
                answer = await beta.post(f"/v1/banks/beta/entities/{own['id']}/merge", json={"into": foreign["id"]})
            case "unmerge":
                answer = await beta.post(f"{path}/unmerge", json={"alias": SECRET})
            case _:
                answer = await beta.request(method, path, json={"type": "person"} if method == "PATCH" else None)
        assert answer.status_code == 404
    async with tenants.as_key(ADMIN_KEY) as admin:
        assert (await admin.get(f"/v1/banks/alpha/entities/{foreign['id']}")).json() == before


async def test_t076_a_contact_of_another_bank_is_nobody_in_ones_own(tenants: Served) -> None:
    async with tenants.as_key(OTHER) as beta:
        for method, path, body in (
            ("GET", "", None),
            ("POST", "/links", {"alias": "x:1"}),
            ("DELETE", "/links/x:1", None),
        ):
            answer = await beta.request(method, f"/v1/banks/beta/contacts/telegram:{SECRET}{path}", json=body)
            assert answer.status_code == 404
        assert (await beta.get("/v1/banks/beta/contacts")).json()["total"] == 0


@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"filters": {}},
        {"filters": {"session_id": "*"}},
        {"filters": {"session_id": "s"}},
        {"filters": {"tags": [SECRET]}},
        {"filters": {"metadata": {}}},
        {"exclude_ids": []},
        {"include_superseded": True},
        {"as_of": "2999-01-01T00:00:00Z"},
        {"mode": "semantic"},
        {"scorer": "orca"},
    ],
)
async def test_t074_no_filter_of_a_recall_reaches_another_tenant(tenants: Served, fields: dict[str, Any]) -> None:
    async with tenants.as_key(OTHER) as beta:
        for query in (SECRET, "codeword", ""):
            body = {"query": query, "limit": 500, **fields}
            answer = await beta.post("/v1/banks/beta/recall", json=body)
            assert answer.status_code == 200
            assert SECRET not in answer.text
            batch = await beta.post("/v1/banks/beta/recall/batch", json={"queries": [body]})
            assert SECRET not in batch.text
            context = await beta.post("/v1/banks/beta/context", json={"query": query})
            assert SECRET not in context.text


@pytest.mark.parametrize("bank", ["*", "alpha*", "%", "", "a%2C*", '["alpha"]', "alpha,beta"])
async def test_t074_a_wildcard_in_the_place_of_a_bank_names_no_bank(tenants: Served, bank: str) -> None:
    async with tenants.as_key(OTHER) as beta, tenants.as_key(ADMIN_KEY) as admin:
        for client in (beta, admin):
            for answer in (
                await client.get(f"/v1/banks/{bank}/memories"),
                await client.post(f"/v1/banks/{bank}/recall", json={"query": "codeword"}),
            ):
                assert answer.status_code in {400, 404, 405}
                assert SECRET not in answer.text


async def test_d25_two_banks_asked_within_a_second_have_their_own_answers(tenants: Served) -> None:
    async with tenants.as_key(ADMIN_KEY) as admin:
        answers = [
            (await admin.post(f"/v1/banks/{bank}/recall", json={"query": "codeword"})).json()["results"]
            for bank in ("alpha", "beta", "alpha")
        ]
    ids = [{item["id"] for item in found} for found in answers]
    assert ids[0] == ids[2]
    assert ids[0].isdisjoint(ids[1])
    assert ids[0]
    assert ids[1]
