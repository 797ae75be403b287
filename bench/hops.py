"""
What a unit of work costs by the way it reaches SQLite: one function in a thread, or awaited statements over aiosqlite.

The unit is a recall's shape: three look-ups by key that follow one another.
"""

import asyncio
import tempfile
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from sqlalchemy import Connection, insert, select
from sqlalchemy.ext.asyncio import AsyncEngine, create_async_engine

from app.config import StorageSettings
from app.storage import migrate
from app.storage.engine import Storage
from app.storage.tables import meta

ROUNDS = 400
CLIENTS = 8


@dataclass(frozen=True, slots=True)
class Cost:
    """
    Median milliseconds of one unit alone, and units a second with eight callers at once.
    """

    name: str
    alone_ms: float
    per_second: float


async def main() -> list[Cost]:
    """
    Both ways on the same file.
    """
    with tempfile.TemporaryDirectory(prefix="lamina-bench-") as directory:
        storage = Storage(StorageSettings(data_dir=Path(directory)))
        migrate.upgrade(storage.writer_engine)
        await storage.write(_fill)
        engine = create_async_engine(f"sqlite+aiosqlite:///{storage.path}", pool_size=CLIENTS)
        try:
            one_hop = await _cost("one function in a reader thread", lambda: storage.read(_three))
            awaited = await _cost("three awaited statements over aiosqlite", lambda: _three_awaited(engine))
        finally:
            await engine.dispose()
            storage.close()
    return [one_hop, awaited]


def _fill(connection: Connection) -> None:
    connection.execute(insert(meta), [{"name": f"n{number}", "value": f"n{number + 1}"} for number in range(1000)])


def _three(connection: Connection) -> str:
    name = "n1"
    for _ in range(3):
        name = connection.execute(select(meta.c.value).where(meta.c.name == name)).scalar_one()
    return name


async def _three_awaited(engine: AsyncEngine) -> str:
    name = "n1"
    async with engine.connect() as connection:
        for _ in range(3):
            name = (await connection.execute(select(meta.c.value).where(meta.c.name == name))).scalar_one()
    return name


async def _cost(name: str, unit: Callable[[], Awaitable[str]]) -> Cost:
    for _ in range(20):
        await unit()
    taken = []
    for _ in range(ROUNDS):
        started = time.perf_counter()
        await unit()
        taken.append(time.perf_counter() - started)

    async def client() -> None:
        for _ in range(ROUNDS // CLIENTS):
            await unit()

    started = time.perf_counter()
    await asyncio.gather(*(client() for _ in range(CLIENTS)))
    return Cost(name, median(taken) * 1000, ROUNDS / (time.perf_counter() - started))
