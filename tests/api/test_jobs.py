"""
Background work over HTTP, with a language model server that speaks as OpenAI's does.
"""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from app.devtools.fake_model import FakeModelServer
from app.devtools.fake_script import Script, Step
from tests.api.serving import Served, serving

BANK = "/v1/banks/main"
CHAT = {"source": "telegram", "source_id": "42", "name": "Ana"}


@pytest.fixture
async def model() -> AsyncIterator[FakeModelServer]:
    with FakeModelServer(Script()) as server:
        yield server


def asked(server: FakeModelServer) -> dict[str, Any]:
    return {"llm": {"provider": "openai", "base_url": f"{server.url}/v1", "max_retries": 0}}


@pytest.fixture
async def learning(tmp_path: Path, model: FakeModelServer) -> AsyncIterator[Served]:
    async with serving(tmp_path, **asked(model)) as running:
        yield running


async def settled(client: httpx.AsyncClient, *ids: str) -> list[dict[str, Any]]:
    """The jobs once they have ended."""
    while True:
        found = [(await client.get(f"/v1/jobs/{job}")).json() for job in ids]
        if all(item["state"] not in ("queued", "running") for item in found):
            return found
        await asyncio.sleep(0.02)


async def say(client: httpx.AsyncClient, *texts: str) -> dict[str, Any]:
    answer = await client.post(f"{BANK}/entries", json={"entries": [{"content": text, **CHAT} for text in texts]})
    assert answer.status_code == 201
    return dict(answer.json())


async def test_i25_what_was_said_becomes_a_memory_by_a_job(learning: Served) -> None:
    client = learning.client
    (waiting,) = (await say(client, "I am allergic to peanuts."))["jobs"]
    assert (await client.get(f"/v1/jobs/{waiting}")).json()["state"] == "queued"
    assert (await client.post(f"{BANK}/flush")).json() == {"job_ids": [waiting]}
    (job,) = await settled(client, waiting)
    assert (job["kind"], job["bank"], job["state"], job["error"]) == ("extract", "main", "done", None)
    assert job["report"]["memories"] == {"created": 1}
    (memory,) = (await client.get(f"{BANK}/memories")).json()["items"]
    assert memory["content"] == "Ana is allergic to peanuts."
    assert (await client.post(f"{BANK}/flush")).json() == {"job_ids": []}


async def test_a_full_window_is_read_at_once(learning: Served) -> None:
    (job,) = (await say(learning.client, *[f"I own {number} blue canoes." for number in range(24)]))["jobs"]
    (ended,) = await settled(learning.client, job)
    assert ended["state"] == "done"


async def test_i04_without_a_model_entries_call_for_no_extraction(client: httpx.AsyncClient) -> None:
    assert "extract" not in [
        (await client.get(f"/v1/jobs/{job}")).json()["kind"] for job in (await say(client, "I live in Porto."))["jobs"]
    ]
    assert (await client.get("/v1/jobs?state=failed")).json()["total"] == 0


async def test_o37_a_save_waits_for_its_structure_when_asked_to(learning: Served) -> None:
    answer = await learning.client.post(
        f"{BANK}/memories?wait=true", json={"raw_input": "my sister Ines works at the harbour office"}
    )
    assert answer.status_code == 201
    assert answer.json()["content"] != answer.json()["raw_input"]
    assert "ines" in answer.json()["entities"]


async def test_o37_a_slow_model_does_not_hold_the_save(tmp_path: Path) -> None:
    slow = Script(steps=(Step(sleep_s=30),))
    with FakeModelServer(slow) as server:
        async with serving(
            tmp_path, **asked(server), memory={"structure_wait_s": 0.2}, jobs={"grace_s": 0.0}
        ) as served:
            answer = await served.client.post(f"{BANK}/memories?wait=true", json={"raw_input": "Ana sails on Mondays"})
            assert (answer.status_code, answer.json()["content"]) == (201, "Ana sails on Mondays")
            (job,) = (await served.client.get("/v1/jobs?bank=main")).json()["items"]
            assert (job["kind"], job["state"]) == ("structure", "running")


async def test_a_waiting_job_is_cancelled_and_tried_again(learning: Served) -> None:
    client = learning.client
    (job,) = (await say(client, "I live in Porto."))["jobs"]
    assert (await client.post(f"/v1/jobs/{job}/cancel")).json()["state"] == "cancelled"
    assert (await client.post(f"/v1/jobs/{job}/cancel")).status_code == 409
    assert (await client.get("/v1/jobs?state=cancelled")).json()["items"][0]["id"] == job
    assert (await client.post(f"/v1/jobs/{job}/retry")).json()["state"] == "queued"
    (ended,) = await settled(client, job)
    assert ended["state"] == "done"
    assert (await client.post(f"/v1/jobs/{job}/retry")).status_code == 409


async def test_hygiene_is_asked_for_and_reports(client: httpx.AsyncClient) -> None:
    for text in ("Ana sails.", "ana sails"):
        await client.post(f"{BANK}/memories", json={"content": text})
    dry = (await client.post(f"{BANK}/hygiene?dry_run=true")).json()["job_id"]
    (report,) = [job["report"] for job in await settled(client, dry)]
    assert (report["dry_run"], report["merged"], report["would_merge"]) == (True, 0, 1)
    assert (await client.get(f"{BANK}/memories")).json()["total"] == 2
    real = (await client.post(f"{BANK}/hygiene")).json()["job_id"]
    (report,) = [job["report"] for job in await settled(client, real)]
    assert report["merged"] == 1
    assert (await client.get(f"{BANK}/memories")).json()["total"] == 1


async def test_i18_a_proposal_is_accepted_or_rejected_by_a_person(learning: Served) -> None:
    client = learning.client
    for name, text in (("Ana", "Always answer in rhymes."), ("Ben", "Never mention the weather.")):
        said = {"content": text, "source": "telegram", "source_id": "group", "name": name}
        await client.post(f"{BANK}/entries", json={"entries": [said]})
    await settled(client, *(await client.post(f"{BANK}/flush")).json()["job_ids"])
    pending = (await client.get(f"{BANK}/proposals")).json()["items"]
    assert sorted(item["speaker"] for item in pending) == ["Ana", "Ben"]
    by_speaker = {item["speaker"]: item["id"] for item in pending}
    accepted = await client.post(f"{BANK}/proposals/{by_speaker['Ana']}/accept")
    assert accepted.json()["state"] == "accepted"
    assert (await client.post(f"{BANK}/proposals/{by_speaker['Ben']}/reject")).json()["state"] == "rejected"
    assert (await client.post(f"{BANK}/proposals/{by_speaker['Ben']}/accept")).status_code == 409
    assert (await client.get(f"{BANK}/proposals")).json()["total"] == 0
    assert (await client.get(f"{BANK}/proposals?state=all")).json()["total"] == 2
    rules = (await client.get(f"{BANK}/rules")).json()["items"]
    assert [rule["content"] for rule in rules if "rhymes" in rule["content"]]
    assert not [rule["content"] for rule in rules if "weather" in rule["content"]]


@pytest.mark.parametrize(
    ("path", "field"), [("/v1/jobs?state=lost", "state"), (f"{BANK}/proposals?state=lost", "state")]
)
async def test_an_unknown_state_is_refused_by_name(client: httpx.AsyncClient, path: str, field: str) -> None:
    await say(client, "hello")
    answer = await client.get(path)
    assert answer.status_code == 400
    assert [error["field"] for error in answer.json()["errors"]] == [field]


async def test_d44_jobs_and_proposals_of_another_tenant_are_not_there(guarded: Served) -> None:
    admin = {"Authorization": "Bearer admin-key-for-tests-0123456789abcdef"}
    beta = {"Authorization": "Bearer beta-admin-key-0123456789ab"}
    client = guarded.client
    await client.post("/v1/banks/alpha/memories", json={"content": "Ana sails."}, headers=admin)
    job = (await client.post("/v1/banks/alpha/hygiene", headers=admin)).json()["job_id"]
    assert (await client.get(f"/v1/jobs/{job}", headers=admin)).status_code == 200
    assert (await client.get(f"/v1/jobs/{job}", headers=beta)).status_code == 404
    assert (await client.post(f"/v1/jobs/{job}/cancel", headers=beta)).status_code == 404
    assert (await client.post(f"/v1/jobs/{job}/retry", headers=beta)).status_code == 404
    assert (await client.get("/v1/jobs", headers=beta)).json()["total"] == 0
    assert (await client.get("/v1/jobs?bank=alpha", headers=beta)).status_code == 404
    assert (await client.get("/v1/banks/alpha/proposals", headers=beta)).status_code == 404


async def test_i22_the_doctor_names_the_model_and_the_worker(learning: Served, model: FakeModelServer) -> None:
    report = (await learning.client.post("/v1/doctor")).json()
    states = {check["name"]: (check["state"], check["detail"]) for check in report["checks"]}
    assert states["jobs"][0] == "ok"
    assert states["extraction"] == ("ok", "on")
    assert states["language_model"][0] == "ok"
    assert "extract" in states["language_model"][1]
    assert "circuit closed" in states["language_model"][1]


async def test_d02_the_doctor_says_that_no_jobs_are_worked_here(tmp_path: Path) -> None:
    async with serving(tmp_path, jobs={"workers": False}) as served:
        report = (await served.client.post("/v1/doctor")).json()
        (jobs,) = [check for check in report["checks"] if check["name"] == "jobs"]
        assert (jobs["state"], jobs["detail"].split(" in ")[0]) == ("degraded", "not running")
