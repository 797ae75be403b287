"""
Running commands: in this process, and as the installed program.
"""

import json
import logging
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import structlog
from typer.testing import CliRunner

from app.cli.main import app

PROGRAM = Path(sys.executable).with_name("lamina")


@dataclass(frozen=True, slots=True)
class Ended:
    """
    How a command ended.
    """

    code: int
    out: str
    err: str

    @property
    def document(self) -> Any:
        """
        The one JSON document on standard output.
        """
        return json.loads(self.out)


Lamina = Callable[..., Ended]


@pytest.fixture(autouse=True)
def _alone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    """
    No configuration of this machine, a working directory of its own, no embedder; log lines as they were afterwards.
    """
    for name in list(os.environ):
        if name.upper().startswith("LAMINA_"):
            monkeypatch.delenv(name)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("LAMINA_EMBEDDING__PROVIDER", "none")
    root = logging.getLogger()
    handlers, level = list(root.handlers), root.level
    yield
    root.handlers[:] = handlers
    root.setLevel(level)
    structlog.reset_defaults()


@pytest.fixture
def lamina() -> Lamina:
    """
    Runs a command in this process.
    """

    def run(*args: str | Path, stdin: str | None = None) -> Ended:
        result = CliRunner().invoke(app, [str(arg) for arg in args], input=stdin, catch_exceptions=False)
        return Ended(result.exit_code, result.stdout, result.stderr)

    return run


@pytest.fixture
def program() -> Lamina:
    """
    Runs a command as the installed program, in a process of its own.
    """

    def run(*args: str | Path, stdin: str | None = None) -> Ended:
        done = subprocess.run(
            [PROGRAM, *map(str, args)], input=stdin, capture_output=True, text=True, timeout=120, check=False
        )
        return Ended(done.returncode, done.stdout, done.stderr)

    return run


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """
    A data directory that is not there yet.
    """
    return tmp_path / "data"
