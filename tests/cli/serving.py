"""
A real server process for tests to speak to.
"""

import json
import os
import signal
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.cli.conftest import PROGRAM


@dataclass(frozen=True, slots=True)
class Server:
    """
    A running server: its address, the commands that it shows, and its process.
    """

    url: str
    curl: list[str]
    process: subprocess.Popen[str]

    def end(self, how: signal.Signals = signal.SIGTERM) -> tuple[int, str]:
        """
        End it by a signal; returns its exit code and what it wrote to standard error.
        """
        self.process.send_signal(how)
        _, err = self.process.communicate(timeout=60)
        return self.process.returncode, err


@contextmanager
def server(data: Path, *args: str, **environment: str) -> Iterator[Server]:
    """
    Run `lamina serve` on any free port, with nothing configured but `environment`, and no embedder.
    """
    process = subprocess.Popen(
        [PROGRAM, "serve", "--json", "--port", "0", "--data", str(data), *args],
        env=_environment(environment),
        cwd=data.parent,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None
        first = process.stdout.readline()
        if not first:
            _, err = process.communicate(timeout=60)
            raise AssertionError(f"the server ended with {process.returncode}: {err}")
        said = json.loads(first)
        yield Server(said["url"], said["curl"], process)
    finally:
        if process.poll() is None:
            process.kill()
        process.communicate()


def _environment(extra: Mapping[str, str]) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.upper().startswith("LAMINA_")}
    return {**kept, "LAMINA_EMBEDDING__PROVIDER": "none", **extra}
