"""
How long the posting of an entry takes while everything behind it is slow: a model that sleeps, an embedder at work.
"""

import asyncio
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import quantiles

import httpx

from app.devtools.fake_model import FakeModelServer
from app.devtools.fake_script import Script, Step
from bench.recall import Timing
from bench.texts import records

LIMIT_MS = 20.0
MODEL_SLEEPS_S = 30.0
BACKLOG = 3000
"""Texts that wait for their vectors when the posting begins."""
PATIENCE_S = 60.0


def main(posts: int) -> Timing:
    """
    Post entries one after another to a server of its own, and tell the median and the 95th percentile in ms.
    """
    with FakeModelServer(Script(steps=(Step(sleep_s=MODEL_SLEEPS_S),))) as model, tempfile.TemporaryDirectory() as made:
        environment = {
            "LAMINA_LLM__PROVIDER": "openai",
            "LAMINA_LLM__BASE_URL": f"{model.url}/v1",
            "LAMINA_EXTRACTION__QUIET_S": "0",
            "LAMINA_JOBS__GRACE_S": "0",
        }
        with _server(Path(made), environment) as address:
            return asyncio.run(_post(address, posts))


async def _post(address: str, posts: int) -> Timing:
    texts = records(BACKLOG + posts, seed=5).texts
    took = []
    async with httpx.AsyncClient(base_url=address, timeout=PATIENCE_S) as client:
        backlog = [{"content": text, "session_id": str(place % 50)} for place, text in enumerate(texts[:BACKLOG])]
        for first in range(0, BACKLOG, 200):
            posted = {"entries": backlog[first : first + 200]}
            (await client.post("/v1/banks/main/entries", json=posted)).raise_for_status()
        for place, text in enumerate(texts[BACKLOG:]):
            entry = {"content": text, "session_id": str(place % 50)}
            begun = time.perf_counter()
            (await client.post("/v1/banks/main/entries", json={"entries": [entry]})).raise_for_status()
            took.append((time.perf_counter() - begun) * 1000)
        running = (await client.get("/v1/jobs?state=running")).json()["total"]
        waiting = (await client.get("/v1/banks/main/stats")).json()["pending_vectors"]
    cuts = quantiles(took, n=20)
    name = f"an entry posted; {running} jobs wait for a model, {waiting} texts for vectors"
    return Timing(name, cuts[9], cuts[18], LIMIT_MS)


@contextmanager
def _server(data: Path, environment: dict[str, str]) -> Iterator[str]:
    command = [sys.executable, "-m", "app", "serve", "--data", str(data / "data"), "--port", "0"]
    log = data / "log"
    with log.open("wb") as out:
        process = subprocess.Popen(command, stdout=out, stderr=out, env={**os.environ, **environment})  # noqa: S603
    try:
        give_up_at = time.monotonic() + PATIENCE_S
        found = None
        while found is None and time.monotonic() < give_up_at and process.poll() is None:
            time.sleep(0.05)
            found = re.search(r"http://127\.0\.0\.1:\d+", log.read_text(errors="replace"))
        if found is None:
            raise RuntimeError(f"the server did not start:\n{log.read_text(errors='replace')}")
        yield found.group()
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(timeout=PATIENCE_S)
