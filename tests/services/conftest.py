"""
A whole service on a temporary file, with a clock that stands still.
"""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from app.bootstrap import Container, build
from app.clock import FrozenClock
from app.config import load_settings
from app.providers.protocols import Embedder

NOW = datetime(2026, 6, 30, 12, 0, tzinfo=UTC)

Launch = Callable[..., Awaitable[Container]]


@pytest.fixture
async def launch(tmp_path: Path) -> AsyncIterator[Launch]:
    """
    Starts a service: `await launch(embedder=None, clock=None, **settings)`; all are stopped when the test ends.
    """
    async with AsyncExitStack() as stack:

        async def start(
            embedder: Embedder | None = None, clock: FrozenClock | None = None, **settings: dict[str, Any]
        ) -> Container:
            merged: dict[str, dict[str, Any]] = {
                "storage": {"data_dir": tmp_path / "data"},
                "embedding": {"provider": "none"},
                "recall": {"access_flush_s": 0.0},
            }
            for section, values in settings.items():
                merged[section] = {**merged.get(section, {}), **values}
            container = build(load_settings(**merged), clock or FrozenClock(NOW), embedder)
            stack.push_async_callback(container.stop)
            await container.start()
            return container

        yield start
