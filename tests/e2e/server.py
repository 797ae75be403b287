"""
A real server process, for faults that need one.
"""

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Self

import httpx

START_PATIENCE_S = 60.0


class ServerProcess:
    """
    `lamina serve` on a data directory and a port that the system chose; used with `with`.
    """

    def __init__(self, data: Path, **environment: str) -> None:
        self._data = data
        self._environment = {
            **{name: value for name, value in os.environ.items() if not name.startswith("LAMINA_")},
            "LAMINA_EMBEDDING__PROVIDER": "none",
            **environment,
        }
        self._log = data.parent / f"{data.name}.log"
        self.address = ""
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.end(signal.SIGTERM)

    def start(self) -> None:
        """
        Start, and wait until it is ready.
        """
        with self._log.open("wb") as log:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "app", "serve", "--data", str(self._data), "--port", "0"],
                stdout=log,
                stderr=log,
                env=self._environment,
            )
        give_up_at = time.monotonic() + START_PATIENCE_S
        while time.monotonic() < give_up_at:
            found = re.search(r"http://127\.0\.0\.1:\d+", self.log)
            if found is not None and self._answers(found.group()):
                self.address = found.group()
                return
            if self._process.poll() is not None:
                break
            time.sleep(0.05)
        raise RuntimeError(f"the server did not start:\n{self.log}")

    def end(self, how: signal.Signals) -> int:
        """
        Send a signal and wait for the end; returns the exit code.
        """
        if self._process is None:
            return 0
        self._process.send_signal(how)
        code = self._process.wait(timeout=60)
        self._process = None
        return code

    @property
    def log(self) -> str:
        """
        What the server has printed.
        """
        return self._log.read_text(errors="replace")

    def _answers(self, address: str) -> bool:
        try:
            return httpx.get(f"{address}/health/ready", timeout=5).status_code == 200
        except httpx.TransportError:
            return False
