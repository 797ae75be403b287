"""
The house keeps its shape: who may import whom, how large a module grows, and where SQL stands.
"""

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
LINES_MAX = 400
SQL = re.compile(r"from sqlalchemy import .*\b(select|insert|update|delete|text)\b|exec_driver_sql")
PACKAGES = ("app", "eval", "bench", "migrations")


def modules(*packages: str) -> list[Path]:
    return [path for package in packages for path in sorted((ROOT / package).rglob("*.py"))]


def test_dependencies_point_inward() -> None:
    command = [str(Path(sys.executable).parent / "lint-imports"), "--no-cache"]
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stdout + result.stderr


@pytest.mark.parametrize("path", modules(*PACKAGES, "tests"), ids=lambda path: str(path.relative_to(ROOT)))
def test_a_module_stays_small(path: Path) -> None:
    assert len(path.read_text(encoding="utf-8").splitlines()) <= LINES_MAX


@pytest.mark.parametrize("path", modules("app", "eval", "bench"), ids=lambda path: str(path.relative_to(ROOT)))
def test_a_module_says_first_what_it_is_for(path: Path) -> None:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    assert ast.get_docstring(tree) or not tree.body


def test_sql_stands_in_the_storage_alone() -> None:
    outside = [
        path
        for path in modules("app")
        if path.relative_to(ROOT / "app").parts[0] != "storage" and SQL.search(path.read_text(encoding="utf-8"))
    ]
    assert outside == []


def test_every_statement_of_a_bank_takes_the_bank() -> None:
    """Functions of the storage that read or write a bank's tables take its number or its state as an argument."""
    exempt = {
        "api_keys.py",
        "banks.py",
        "driver.py",
        "engine.py",
        "idempotency.py",
        "integrity.py",
        "jobs.py",
        "migrate.py",
        "outbox.py",
        "spaces.py",
    }
    whole_store = {"pending", "put", "queue_missing", "waiting"}
    missing = []
    for path in modules("app/storage"):
        if path.name in exempt:
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.FunctionDef) or node.name in whole_store or node.name.startswith("__"):
                continue
            names = [argument.arg for argument in (*node.args.args, *node.args.kwonlyargs)]
            if "connection" in names and not {"bank_id", "bank"} & set(names):
                missing.append(f"{path.name}:{node.name}")
    assert missing == []


def test_no_lock_names_a_registry() -> None:
    for name in ("requirements.lock", "bootstrap.lock"):
        lines = (ROOT / name).read_text(encoding="utf-8").splitlines()
        assert [line for line in lines if "://" in line or line.startswith(("-i", "--index", "--extra"))] == []
        assert all("--hash" in line or not line.startswith("    --") for line in lines)
