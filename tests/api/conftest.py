"""
Applications to speak to: an open one, and one with keys for two tenants.
"""

from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest

from tests.api.serving import KEYS, Served, serving


@pytest.fixture
async def served(tmp_path: Path) -> AsyncIterator[Served]:
    async with serving(tmp_path) as running:
        yield running


@pytest.fixture
def client(served: Served) -> httpx.AsyncClient:
    return served.client


@pytest.fixture
async def guarded(tmp_path: Path) -> AsyncIterator[Served]:
    async with serving(tmp_path, auth={"keys": KEYS}) as running:
        yield running
