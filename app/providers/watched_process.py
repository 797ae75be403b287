"""
Runs a fetching program beside the service and leaves it when nothing arrives any more.
"""

import os
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from app.errors import Unavailable

POLL_S = 0.05
MESSAGE_CHARS = 300


class SourceFailed(Unavailable):
    """
    A source has not delivered a file; the detail says why.
    """


class SourceSilent(SourceFailed):
    """
    A source has let its time go by without sending anything.
    """


def run_watched(
    command: Sequence[str],
    *,
    arriving: Path,
    env: Mapping[str, str],
    silent_after_s: float,
    on_bytes: Callable[[int], None],
) -> None:
    """
    Run `command` to its end in the directory `arriving`, which is where it has to put what it fetches.

    Progress is what grows there, and what it prints; warnings on stderr are none, or a client that retries a dead
    address would look alive. `on_bytes` is told the bytes that lie there, from time to time.

    Raises:
        SourceSilent: nothing grew for `silent_after_s` seconds; the program and its children are killed.
        SourceFailed: it could not be started or ended with an error; the detail is its last line on stderr.
    """
    with tempfile.TemporaryFile() as printed, tempfile.TemporaryFile() as complaints:
        try:
            process = subprocess.Popen(  # noqa: S603 - the command is built from the manifest, never from a request
                command,
                cwd=arriving,
                env=dict(env),
                stdin=subprocess.DEVNULL,
                stdout=printed,
                stderr=complaints,
                start_new_session=True,
            )
        except OSError as error:
            raise SourceFailed(f"{command[0]} cannot be started: {error}") from error
        try:
            _watch(process, arriving, printed.fileno(), silent_after_s, on_bytes)
        finally:
            _end(process)
        if process.returncode != 0:
            complaints.seek(0)
            raise SourceFailed(_last_line(complaints.read()) or f"ended with status {process.returncode}")


def _watch(
    process: "subprocess.Popen[bytes]",
    arriving: Path,
    printed: int,
    silent_after_s: float,
    on_bytes: Callable[[int], None],
) -> None:
    seen = (-1, -1)
    changed_at = time.monotonic()
    while process.poll() is None:
        here = (_bytes_below(arriving), os.fstat(printed).st_size)
        if here != seen:
            if here[0] != seen[0]:
                on_bytes(here[0])
            seen = here
            changed_at = time.monotonic()
        elif time.monotonic() - changed_at > silent_after_s:
            raise SourceSilent(f"silent for {silent_after_s:g} s")
        time.sleep(POLL_S)


def _bytes_below(directory: Path) -> int:
    total = 0
    for root, _, files in os.walk(directory):
        for name in files:
            try:
                total += os.lstat(os.path.join(root, name)).st_size
            except FileNotFoundError:
                continue  # renamed by the program between the listing and the look
    return total


def _end(process: "subprocess.Popen[bytes]") -> None:
    if process.poll() is None:
        if hasattr(os, "killpg"):
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()
    process.wait()


def _last_line(output: bytes) -> str:
    lines = [line.strip() for line in output.decode("utf-8", "replace").splitlines() if line.strip()]
    errors = [line for line in lines if line.startswith("ERROR")]
    return (errors or lines or [""])[-1][:MESSAGE_CHARS]
