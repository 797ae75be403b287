"""
Small sets written for a test, and the large ones that lie beside the project, where there are any.
"""

import json
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from app.config import Settings, load_settings

# Taken out of the environment: the service refuses a variable of its prefix that is none of its keys.
SETS_ENV = "LAMINA_EVAL_DATA"
NAMED = os.environ.pop(SETS_ENV, None)
BESIDE = Path(__file__).resolve().parents[3] / "shared" / "data"

WriteSet = Callable[[Sequence[dict[str, Any]], Sequence[dict[str, Any]]], Path]


@pytest.fixture
def write_set(tmp_path: Path) -> WriteSet:
    """
    Writes a set from rows that may leave out `bank` (`home`), and of a query its `id`; returns its directory.
    """

    def write(memories: Sequence[dict[str, Any]], queries: Sequence[dict[str, Any]]) -> Path:
        directory = tmp_path / "small"
        directory.mkdir(exist_ok=True)
        rows = [{"bank": "home", **row} for row in memories]
        asked = [{"id": f"q{number}", "bank": "home", "relevant": [], **row} for number, row in enumerate(queries)]
        for name, items in (("memories.jsonl", rows), ("queries.jsonl", asked)):
            lines = "".join(json.dumps(item, ensure_ascii=False) + "\n" for item in items)
            (directory / name).write_text(lines, encoding="utf-8")
        return directory

    return write


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    """
    Settings without an embedder, whose data directory must stay untouched.
    """
    return load_settings(storage={"data_dir": tmp_path / "own"}, embedding={"provider": "none"})


@pytest.fixture
def shared_set() -> Callable[[str], Path]:
    """
    The directory of a large set by its name; the test is skipped where it is not there.
    """

    def find(name: str) -> Path:
        directory = (BESIDE if NAMED is None else Path(NAMED)) / name
        if not (directory / "memories.jsonl").is_file():
            pytest.skip(f"no set {name!r} in {directory.parent}; {SETS_ENV} names the directory that holds the sets")
        return directory

    return find
