"""
The command line as a whole: what it lists, what it costs to start, and how faults come out of it.
"""

import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest

from app.cli import options
from app.config import API_KEY_ENV
from tests.cli.conftest import Lamina

COMMANDS = ("serve", "remember", "recall", "context", "import", "eval", "doctor", "models", "db", "keys", "config")


def test_the_program_lists_its_commands(program: Lamina) -> None:
    ended = program("--help")
    assert ended.code == 0
    assert [name for name in COMMANDS if f" {name} " not in ended.out] == []


def test_version_is_that_of_the_package(lamina: Lamina) -> None:
    assert lamina("--version").out.strip() == version("lamina")


def test_python_m_app_is_the_same_program() -> None:
    root = Path(__file__).parents[2]
    done = subprocess.run(
        [sys.executable, "-m", "app", "--version"], cwd=root, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == version("lamina")


def test_listing_the_commands_imports_nothing_heavy() -> None:
    heavy = ("sqlalchemy", "litestar", "numpy", "onnxruntime", "pydantic", "uvicorn", "httpx", "openai", "tiktoken")
    code = f"import sys, app.cli.main; print([name for name in {heavy!r} if name in sys.modules])"
    root = Path(__file__).parents[2]
    done = subprocess.run([sys.executable, "-c", code], cwd=root, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize(
    "args", [("forget",), ("recall",), ("recall", "x", "--limit", "many"), ("recall", "x", "--mode", "odd")]
)
def test_a_wrong_use_ends_with_2_and_says_so_on_standard_error(lamina: Lamina, args: tuple[str, ...]) -> None:
    ended = lamina(*args)
    assert (ended.code, ended.out) == (2, "")
    assert "Usage" in ended.err


def test_a_broken_configuration_names_key_value_and_what_is_allowed(
    lamina: Lamina, data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LAMINA_SERVER__PORT", "70000")
    ended = lamina("remember", "Ana lives in Porto", "--data", data)
    assert (ended.code, ended.out) == (1, "")
    assert "server.port" in ended.err
    assert "70000" in ended.err
    assert "65535" in ended.err
    assert not data.exists()


def test_a_fault_with_json_is_a_problem_document(lamina: Lamina, data: Path) -> None:
    ended = lamina("remember", "no", "--data", data, "--json")
    assert (ended.code, ended.err) == (1, "")
    assert ended.document["type"] == "/problems/invalid-input"
    assert ended.document["status"] == 400
    assert [error["field"] for error in ended.document["errors"]] == ["content"]


def test_i11_a_data_directory_that_cannot_be_made_is_fatal(lamina: Lamina, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    ended = lamina("remember", "Ana lives in Porto", "--data", tmp_path / "file" / "data")
    assert ended.code == 1
    assert "file/data" in ended.err


def test_a_file_that_is_no_database_is_refused_and_left_alone(lamina: Lamina, data: Path) -> None:
    data.mkdir()
    (data / "lamina.db").write_text("these are not the pages of a database " * 100)
    ended = lamina("recall", "anything", "--data", data)
    assert ended.code == 1
    assert "lamina.db" in ended.err
    assert (data / "lamina.db").read_text().startswith("these are not")


def test_a_store_that_another_process_holds_is_named(
    lamina: Lamina, data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from app.storage.driver import choose_driver

    assert lamina("remember", "Ana lives in Porto", "--data", data).code == 0
    monkeypatch.setenv("LAMINA_STORAGE__BUSY_TIMEOUT_MS", "0")
    other = choose_driver().module.connect(str(data / "lamina.db"), isolation_level=None)
    try:
        other.execute("BEGIN IMMEDIATE")
        ended = lamina("remember", "Ana moved to Braga", "--data", data)
    finally:
        other.close()
    assert ended.code == 1
    assert "locked" in ended.err


def test_the_client_reads_its_key_from_the_variable_that_the_configuration_lets_be() -> None:
    assert options.API_KEY_ENV == API_KEY_ENV
