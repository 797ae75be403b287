"""
What was acknowledged survives a killed server, and nothing is there twice.
"""

import asyncio
import signal
from pathlib import Path

import httpx

from tests.e2e.server import ServerProcess

WRITES = 2000
CLIENTS = 8


async def _write(address: str, acknowledged: dict[str, int], stop_after: int, reached: asyncio.Event) -> None:
    numbers = iter(range(WRITES))

    async def client(http: httpx.AsyncClient) -> None:
        for number in numbers:
            entry = {"content": f"statement q{number}q stands", "message_id": number, "session_id": "s"}
            try:
                answer = await http.post(f"{address}/v1/banks/main/entries", json={"entries": [entry]})
            except httpx.TransportError:
                return
            if answer.status_code == 201:
                acknowledged[answer.json()["results"][0]["id"]] = number
            if len(acknowledged) >= stop_after:
                reached.set()

    async with httpx.AsyncClient(timeout=30) as http:
        await asyncio.gather(*(client(http) for _ in range(CLIENTS)))


async def test_d47_every_acknowledged_write_survives_kill_9(tmp_path: Path) -> None:
    server = ServerProcess(tmp_path / "data")
    acknowledged: dict[str, int] = {}
    reached = asyncio.Event()
    with server:
        writing = asyncio.create_task(_write(server.address, acknowledged, WRITES // 3, reached))
        await reached.wait()
        server.end(signal.SIGKILL)
        await writing
        assert WRITES // 3 <= len(acknowledged) < WRITES
        server.start()
        async with httpx.AsyncClient(base_url=f"{server.address}/v1/banks/main", timeout=30) as http:
            stored = await _everything(http)
            assert len(stored) == len(set(stored.values())) == len(stored.keys())
            assert {record: stored.get(record) for record in acknowledged} == {
                record: f"statement q{number}q stands" for record, number in acknowledged.items()
            }
            for record, number in list(acknowledged.items())[:: len(acknowledged) // 40]:
                asked = {"query": f"q{number}q", "mode": "lexical", "record_access": False}
                found = (await http.post("/recall", json=asked)).json()["results"]
                assert [result["id"] for result in found] == [record]
            again = {"entries": [{"content": "x", "message_id": 0, "session_id": "s"}]}
            assert (await http.post("/entries", json=again)).json()["results"][0]["status"] == "duplicate"


async def test_d47_sigterm_loses_nothing_either(tmp_path: Path) -> None:
    server = ServerProcess(tmp_path / "data")
    acknowledged: dict[str, int] = {}
    reached = asyncio.Event()
    with server:
        writing = asyncio.create_task(_write(server.address, acknowledged, 100, reached))
        await reached.wait()
        assert server.end(signal.SIGTERM) == 0
        await writing
        server.start()
        async with httpx.AsyncClient(base_url=f"{server.address}/v1/banks/main", timeout=30) as http:
            assert set(acknowledged) <= set(await _everything(http))


async def _everything(http: httpx.AsyncClient) -> dict[str, str]:
    stored: dict[str, str] = {}
    offset: int | None = 0
    while offset is not None:
        page = (await http.get("/entries", params={"limit": 500, "offset": offset})).json()
        stored |= {item["id"]: item["content"] for item in page["items"]}
        offset = page["next_offset"]
    return stored
