"""
Applications to speak to: an open one, and one with keys for two tenants.
"""

import io
import logging
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import httpx
import pytest
import structlog

from app.config import LogSettings
from app.telemetry import logging as telemetry
from tests.api.serving import KEYS, Served, serving


@pytest.fixture(autouse=True)
def stream() -> Iterator[io.StringIO]:
    """
    The log lines of the test, as a service writes them.
    """
    out = io.StringIO()
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    telemetry.configure(LogSettings(), out)
    yield out
    structlog.reset_defaults()
    root.handlers[:] = handlers
    root.setLevel(level)


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
