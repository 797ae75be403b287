"""
The real application on a directory of its own, spoken to over HTTP within the process.
"""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
from litestar import Litestar

from app.api.app import create_app
from app.bootstrap import build
from app.clock import Clock
from app.config import load_settings

ADMIN_KEY = "admin-key-for-tests-0123456789abcdef"
KEYS: list[Mapping[str, Any]] = [
    {"name": "admin", "key": ADMIN_KEY, "role": "admin"},
    {"name": "alpha-writer", "key": "alpha-writer-key-0123456789", "role": "write", "banks": ["alpha", "alpha-*"]},
    {"name": "alpha-reader", "key": "alpha-reader-key-0123456789", "role": "read", "banks": ["alpha"]},
    {"name": "beta-admin", "key": "beta-admin-key-0123456789ab", "role": "admin", "banks": ["beta"]},
]


class Instead:
    """
    A service with some of its parts replaced.
    """

    def __init__(self, services: Any, **parts: Any) -> None:
        self._services = services
        self._parts = parts

    def __getattr__(self, name: str) -> Any:
        return self._parts[name] if name in self._parts else getattr(self._services, name)


@dataclass
class Served:
    """
    A running application: its client, its services, and itself.
    """

    client: httpx.AsyncClient
    services: Any
    app: Litestar

    def as_key(self, key: str) -> httpx.AsyncClient:
        """
        A client that bears the key; the caller closes it.
        """
        headers = {"Authorization": f"Bearer {key}"}
        return httpx.AsyncClient(transport=self.client._transport, base_url="http://test", headers=headers)

    async def settle(self) -> None:
        """
        Write the access counts that are gathered in the background.
        """
        await self.services.access_log.flush()


@asynccontextmanager
async def serving(
    directory: Path,
    *,
    clock: Clock | None = None,
    parts: Mapping[str, Any] | None = None,
    **sections: Mapping[str, Any],
) -> AsyncIterator[Served]:
    """
    Run the application on `directory`, without an embedder. `sections` are settings, `parts` replace services.
    """
    overrides = {"embedding": {"provider": "none"}, **sections, "storage": {"data_dir": directory}}
    services: Any = build(load_settings(**overrides), clock)
    if parts:
        services = Instead(services, **{name: make(services) for name, make in parts.items()})
    app = create_app(services)
    asgi: Any = app
    transport = httpx.ASGITransport(asgi)
    async with _alive(app), httpx.AsyncClient(transport=transport, base_url="http://test") as client:
        yield Served(client, services, app)


@asynccontextmanager
async def _alive(app: Litestar) -> AsyncIterator[None]:
    # In a task of its own, as under a server: fixtures are entered and left in different ones.
    started, over = asyncio.Event(), asyncio.Event()

    async def live() -> None:
        async with app.lifespan():
            started.set()
            await over.wait()

    life = asyncio.create_task(live())
    waiting = asyncio.create_task(started.wait())
    await asyncio.wait({life, waiting}, return_when=asyncio.FIRST_COMPLETED)
    if life.done():
        waiting.cancel()
        await life
    try:
        yield
    finally:
        over.set()
        await life


def fields_of(answer: httpx.Response) -> list[str]:
    """
    The bad fields that a problem document names.
    """
    return [error["field"] for error in answer.json()["errors"]]
