"""
A queue for each test.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.jobs.working import Queue


@pytest.fixture
def queue(tmp_path: Path) -> Iterator[Queue]:
    made = Queue(tmp_path / "data")
    yield made
    made.storage.close()
