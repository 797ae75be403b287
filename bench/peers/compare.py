"""
Lamina beside its peers: one bank, the same texts, vectors and questions, in one run.
"""

import asyncio
import json
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

import numpy as np

from app.bootstrap import build
from app.config import load_settings
from app.services.query_vectors import QueryMeaning
from app.services.recall_model import RecallRequest
from app.storage.protocols import Space
from bench import texts
from bench.peers.stores import LIMIT, PEERS, Data
from bench.recall import SyntheticEmbedder, fill

ENVIRONMENT = Path(".venv-peers")
WARMING = 10


@dataclass(frozen=True, slots=True)
class PeerTiming:
    """
    Milliseconds of a question (median, 95th percentile), the share of questions whose text is among the first ten, and
    seconds to fill. `problem` says why there are no figures.
    """

    name: str
    p50: float = float("nan")
    p95: float = float("nan")
    recall: float = float("nan")
    fill_s: float = float("nan")
    problem: str = ""


def set_up() -> Path:
    """
    The interpreter of the peers' own environment, which is made if it is not there.

    Raises:
        subprocess.CalledProcessError: when it cannot be made.
    """
    python = ENVIRONMENT / "bin" / "python"
    lock = files("bench.peers").joinpath("requirements.lock")
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", str(ENVIRONMENT)], check=True)
    uv = Path(sys.executable).with_name("uv")
    subprocess.run(
        [str(uv), "pip", "sync", "--quiet", "--python", str(python), "--require-hashes", str(lock)], check=True
    )
    return python


def main(number: int, size: int) -> list[PeerTiming]:
    """
    Ask `number` questions of a bank of `size` records, of Lamina first and of each peer then.
    """
    source = texts.records(size, seed=1)
    with tempfile.TemporaryDirectory(prefix="lamina-peers-") as directory:
        path = Path(directory) / "data.npz"
        _write(path, source, number + WARMING)
        rows = [asyncio.run(_lamina(Data(path), source))]
        try:
            python = set_up()
        except (OSError, subprocess.CalledProcessError) as error:
            return [*rows, PeerTiming("peers", problem=f"their environment cannot be made: {error}")]
        return rows + [_peer(python, name, path) for name in PEERS]


def _write(path: Path, source: texts.Synthetic, number: int) -> None:
    asked = list(texts.questions(source, number, seed=9))
    np.savez(
        path,
        texts=json.dumps(source.texts),
        questions=json.dumps([question for question, _ in asked]),
        vectors=source.vectors,
        question_vectors=np.array([vector for _, vector in asked]),
        answers=texts.answers(source, number, seed=9),
    )


async def _lamina(data: Data, source: texts.Synthetic) -> PeerTiming:
    with tempfile.TemporaryDirectory(prefix="lamina-bench-") as directory:
        settings = load_settings(storage={"data_dir": Path(directory)}, embedding={"provider": "none"})
        container = build(settings, embedder=SyntheticEmbedder())
        await container.indexer.start()
        await container.indexer.stop()
        space = Space(container.indexer.space_id or 0, data.dimensions)
        started = time.perf_counter()
        await fill(container, "peers", source, space.space_id)
        filled = time.perf_counter() - started
        taken, found = [], 0
        for question, vector, answer in zip(data.questions, data.question_vectors, data.answers, strict=True):
            request = RecallRequest(question, limit=LIMIT, record_access=False)
            started = time.perf_counter()
            answered = await container.recall.recall_with(
                "peers", request, QueryMeaning(vector, space, SyntheticEmbedder.floor)
            )
            taken.append((time.perf_counter() - started) * 1000)
            found += answer + 1 in [result.record.seq for result in answered.results]
        await container.stop()
    return PeerTiming(
        "lamina (hybrid)",
        float(np.median(taken)),
        float(np.percentile(taken, 95)),
        found / len(taken),
        filled,
    )


def _peer(python: Path, name: str, path: Path) -> PeerTiming:
    script = str(files("bench.peers").joinpath("stores.py"))
    ran = subprocess.run([str(python), script, name, str(path)], capture_output=True, text=True, check=False)
    lines = [line for line in ran.stdout.splitlines() if line.startswith("{")]
    if not lines:
        return PeerTiming(name, problem=(ran.stderr.strip().splitlines() or ["no output"])[-1][:100])
    figures = json.loads(lines[-1])
    return PeerTiming(name, figures["p50"], figures["p95"], figures["recall"], figures["fill_s"])
