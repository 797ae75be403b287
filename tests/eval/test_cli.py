"""
`lamina eval`: what it prints, what it writes, and how it ends.
"""

import json
import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import structlog
from typer.testing import CliRunner

import eval.cli
from app.cli.main import app
from eval import gate
from tests.eval.conftest import WriteSet

MEMORIES: list[dict[str, Any]] = [
    {"id": "cat", "text": "The cat is called Miso."},
    {"id": "boat", "text": "Ana sails a boat."},
]
QUERIES: list[dict[str, Any]] = [
    {"query": "What is the cat called?", "relevant": ["cat"], "category": "plain", "lang": "en"},
    {"query": "Who sails?", "relevant": ["boat"], "category": "adversarial", "lang": "en"},
]


@pytest.fixture(autouse=True)
def _alone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    """
    No embedder, a working directory of its own, and log lines as they were afterwards.
    """
    monkeypatch.setenv("LAMINA_EMBEDDING__PROVIDER", "none")
    monkeypatch.chdir(tmp_path)
    root = logging.getLogger()
    handlers, level = list(root.handlers), root.level
    yield
    root.handlers[:] = handlers
    root.setLevel(level)
    structlog.reset_defaults()


def test_run_prints_tables_and_writes_two_files(write_set: WriteSet) -> None:
    answer = CliRunner().invoke(app, ["eval", "run", "--data", str(write_set(MEMORIES, QUERIES))])
    assert answer.exit_code == 0, answer.output
    for shown in ("2 memories in 1 banks, 2 queries", "hit@1", "nDCG@10", "adversarial (in no total)", "language en"):
        assert shown in answer.stdout
    assert "semantic is left out: there is no embedder" in answer.stdout
    assert sorted(path.name for path in Path("build/eval").iterdir()) == ["small.json", "small.png"]


def test_run_prints_one_json_document(write_set: WriteSet) -> None:
    command = ["eval", "run", "--data", str(write_set(MEMORIES, QUERIES)), "--out", "here", "--rows", "lexical, orca"]
    answer = CliRunner().invoke(app, [*command, "--json"])
    assert answer.exit_code == 0, answer.output
    data = json.loads(answer.stdout)
    assert list(data["rows"]) == ["lexical", "orca"]
    assert data["rows"]["lexical"]["total"]["hit@1"] == 1.0
    assert data["files"] == ["here/small.json", "here/small.png"]


def test_a_set_that_is_not_there_ends_with_one_and_is_named() -> None:
    answer = CliRunner().invoke(app, ["eval", "run", "--data", "nowhere"])
    assert answer.exit_code == 1
    assert "data: nowhere is not a directory" in answer.stderr
    as_json = CliRunner().invoke(app, ["eval", "run", "--data", "nowhere", "--json"])
    assert as_json.exit_code == 1
    assert json.loads(as_json.stdout)["errors"] == [{"field": "data", "message": "nowhere is not a directory"}]


def test_a_library_that_is_not_installed_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(eval.cli, "LIBRARIES", ("ir_measures", "no_such_library"))
    answer = CliRunner().invoke(app, ["eval", "run", "--data", "nowhere"])
    assert answer.exit_code == 1
    assert "eval: no_such_library not installed; `pip install 'lamina[eval]'`" in answer.stderr


def test_i48_update_makes_a_snapshot_and_a_worse_run_ends_with_one(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    path = tmp_path / "snapshots" / "golden.json"
    monkeypatch.setattr(gate, "SNAPSHOT", path)
    first = CliRunner().invoke(app, ["eval", "golden", "--update", "--json"])
    assert first.exit_code == 0, first.output
    assert json.loads(first.stdout)["ok"] is True
    held = json.loads(path.read_text(encoding="utf-8"))
    held["rows"]["hybrid"]["total"]["hit@1"] = 1.0
    path.write_text(json.dumps(held), encoding="utf-8")
    second = CliRunner().invoke(app, ["eval", "golden"])
    assert second.exit_code == 1
    assert "hybrid, total: hit@1 fell to" in second.stderr
    assert "the gate is shut" in second.stderr
