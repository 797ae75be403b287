"""
Health, metrics, the doctor and the OpenAPI document.
"""

import re
from pathlib import Path
from typing import Any

import httpx
from prometheus_client.parser import text_string_to_metric_families

from tests.api.serving import ADMIN_KEY, Served, serving
from tests.api.test_orca import NotReady


def sample(text: str, name: str, **labels: str) -> float:
    """
    The value of one counter; 0 where there is none.
    """
    for family in text_string_to_metric_families(text):
        for item in family.samples:
            if item.name == name and item.labels.items() >= labels.items():
                return item.value
    return 0.0


async def test_health_needs_no_key(guarded: Served) -> None:
    live = await guarded.client.get("/health/live")
    assert (live.status_code, live.json()) == (200, {"status": "alive"})
    ready = await guarded.client.get("/health/ready")
    assert ready.status_code == 200
    assert ready.json()["ready"] is True


async def test_c23_a_store_that_is_not_ready_is_503_with_its_reason(tmp_path: Path) -> None:
    async with serving(tmp_path, parts={"doctor": NotReady}) as served:
        answer = await served.client.get("/health/ready")
        assert (answer.status_code, answer.json()["ready"]) == (503, False)
        assert "schema revision" in answer.json()["degraded"]["store"]


async def test_the_doctor_makes_a_round_trip_and_leaves_nothing(client: httpx.AsyncClient) -> None:
    report = (await client.post("/v1/doctor")).json()
    assert report["ok"] is True
    checks = {check["name"]: check for check in report["checks"]}
    assert checks["store"]["state"] == "ok"
    assert checks["round_trip"]["state"] == "ok"
    assert checks["round_trip"]["ms"] > 0
    assert (await client.get("/v1/banks")).json()["total"] == 0


async def test_metrics_are_labelled_by_route_and_never_by_path(client: httpx.AsyncClient) -> None:
    await client.post("/v1/banks/secret-name/memories", json={"content": "Likes quinces"})
    for _ in range(3):
        await client.get("/v1/banks/secret-name/memories")
    await client.post("/v1/banks/secret-name/recall", json={"query": "quinces"})
    await client.get("/no/such/path/secret-name")
    answer = await client.get("/metrics")
    assert answer.headers["content-type"].startswith("text/plain")
    text = answer.text
    assert "secret-name" not in text
    labels = {"method": "GET", "route": "/v1/banks/{bank}/memories", "status": "200"}
    assert sample(text, "lamina_requests_total", **labels) == 3
    assert sample(text, "lamina_requests_total", route="(none)", status="404") == 1
    assert sample(text, "lamina_recalls_total", retrieval="lexical") == 1
    assert sample(text, "lamina_indexer_waiting") == 1
    assert sample(text, "lamina_request_duration_seconds_count", route="/v1/banks/{bank}/recall") == 1


async def test_two_services_in_one_process_count_for_themselves(tmp_path: Path) -> None:
    async with serving(tmp_path / "a") as first, serving(tmp_path / "b") as second:
        await first.client.get("/v1/banks")
        counts = [
            sample((await served.client.get("/metrics")).text, "lamina_requests_total", route="/v1/banks")
            for served in (first, second)
        ]
        assert counts == [1, 0]


async def test_metrics_and_the_document_need_a_key_where_there_are_keys(guarded: Served) -> None:
    for path in ("/metrics", "/schema", "/schema/openapi.json"):
        assert (await guarded.client.get(path)).status_code == 401
        for key in (ADMIN_KEY, "alpha-reader-key-0123456789"):
            async with guarded.as_key(key) as client:
                assert (await client.get(path)).status_code == 200


async def document(client: httpx.AsyncClient) -> dict[str, Any]:
    answer = await client.get("/schema/openapi.json")
    assert answer.status_code == 200
    found: dict[str, Any] = answer.json()
    return found


async def test_the_document_names_every_path_and_closes_every_request(client: httpx.AsyncClient) -> None:
    found = await document(client)
    assert found["openapi"].startswith("3.1")
    assert found["paths"].keys() >= {
        "/v1/banks", "/v1/banks/{bank}", "/v1/banks/{bank}/restore", "/v1/banks/{bank}/stats", "/v1/banks/{bank}/tags",
        "/v1/banks/{bank}/entries", "/v1/banks/{bank}/memories", "/v1/banks/{bank}/memories/{memory_id}",
        "/v1/banks/{bank}/memories/{memory_id}/history", "/v1/banks/{bank}/memories/{memory_id}/supersede",
        "/v1/banks/{bank}/memories/delete", "/v1/banks/{bank}/recall", "/v1/banks/{bank}/recall/batch",
        "/v1/banks/{bank}/context", "/v1/doctor", "/health/live", "/health/ready", "/metrics",
        "/api/profiles/{name}/memories", "/api/profiles/{name}/memories/search",
        "/api/profiles/{name}/memories/{memory_id}", "/api/memory-bank", "/api/memory-bank/stats",
    }  # fmt: skip
    shapes = found["components"]["schemas"]
    for name in ("NewBank", "NewEntries", "EntryIn", "NewMemories", "MemoryIn", "Question", "Filters", "ContextIn"):
        assert shapes[name]["additionalProperties"] is False
    assert "additionalProperties" not in shapes["MemoryOut"]
    problem = found["paths"]["/v1/banks/{bank}"]["get"]["responses"]["404"]["content"]
    assert list(problem) == ["application/problem+json"]


async def test_the_document_holds_only_references_that_lead_somewhere(client: httpx.AsyncClient) -> None:
    text = (await client.get("/schema/openapi.json")).text
    shapes = (await document(client))["components"]["schemas"]
    names = set(re.findall(r'"#/components/schemas/([^"]+)"', text))
    assert names
    assert names <= shapes.keys()


async def test_the_reference_page_loads_nothing_from_another_host(client: httpx.AsyncClient) -> None:
    page = await client.get("/schema")
    assert page.status_code == 200
    assert page.headers["content-type"].startswith("text/html")
    assert page.headers["content-security-policy"] == "default-src 'self'"
    assert re.findall(r"https?://|//[a-z]|<script|<style|<link", page.text) == []
    assert "/v1/banks/{bank}/recall" in page.text
