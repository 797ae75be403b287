"""
Recall inside the process, query vector given: a bank of 10,000 records, and a bank of 1,000 among 1,000 banks.
"""

import asyncio
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
from sqlalchemy import Connection

from app.bootstrap import Container, build
from app.config import load_settings
from app.domain.identity import text_hash
from app.providers.protocols import EmbeddingSpace, ProviderState, Vector
from app.services.query_vectors import QueryMeaning
from app.services.recall_model import RecallRequest
from app.services.remember import NewEntry
from app.storage import banks as bank_rows
from app.storage.protocols import Space
from app.storage.vectors import rows
from bench import texts

SPACE = EmbeddingSpace("synthetic", "", texts.DIMENSIONS, "none", "", "")
AT_ONCE = 1000


class SyntheticEmbedder:
    """
    Stands in for a model: the bench gives every vector itself.
    """

    space = SPACE
    floor = 0.25

    async def embed_documents(self, given: list[str]) -> list[Vector | None]:
        """
        No text has a vector of its own.
        """
        return [None for _ in given]

    async def embed_query(self, text: str) -> Vector | None:
        """
        No question has a vector of its own.
        """
        return None

    async def close(self) -> None:
        """
        Nothing to close.
        """

    def state(self) -> ProviderState:
        """
        Always well.
        """
        return ProviderState("synthetic", True, "vectors of the bench")


@dataclass(frozen=True, slots=True)
class Timing:
    """
    Milliseconds of one case: median, 95th percentile, and the limit for the median.
    """

    name: str
    p50: float
    p95: float
    limit: float
    note: str = ""


async def fill(container: Container, bank: str, source: texts.Synthetic, space_id: int) -> None:
    """
    Store texts with their vectors.
    """
    for start in range(0, len(source.texts), AT_ONCE):
        chunk = source.texts[start : start + AT_ONCE]
        made = [NewEntry(content=text, session_id="s", message_id=f"{start + n}") for n, text in enumerate(chunk)]
        await container.remember.entries(bank, made)
    await container.storage.write(lambda connection: _put_vectors(connection, bank, source, space_id))


def _put_vectors(connection: Connection, bank: str, source: texts.Synthetic, space_id: int) -> None:
    bank_id = bank_rows.require(connection, bank).bank_id
    for start in range(0, len(source.texts), AT_ONCE):
        made = [
            rows.NewVector(bank_id, seq + 1, 0, text_hash(source.texts[seq]), source.vectors[seq])
            for seq in range(start, min(start + AT_ONCE, len(source.texts)))
        ]
        rows.put(connection, space_id, made)
    rows.touch(connection, bank_id, bank_rows.touch(connection, bank_id), range(1, len(source.texts) + 1))


async def measure(
    container: Container, bank: str, source: texts.Synthetic, space_id: int, number: int
) -> npt.NDArray[np.float64]:
    """
    Milliseconds of each of `number` recalls, after a few that warm the caches.
    """
    space = Space(space_id, texts.DIMENSIONS)
    taken = []
    for place, (question, vector) in enumerate(texts.questions(source, number + 10, seed=9)):
        request = RecallRequest(question, limit=10, record_access=False)
        meaning = QueryMeaning(vector, space, SyntheticEmbedder.floor)
        started = time.perf_counter()
        answer = await container.recall.recall_with(bank, request, meaning)
        if place >= 10:
            taken.append((time.perf_counter() - started) * 1000)
        if not answer.results:
            raise RuntimeError("a question made of a record's own words found nothing")
    return np.array(taken)


async def run(number: int, bank_size: int, banks: int, resident_mb: int, limits: tuple[float, float]) -> list[Timing]:
    """
    Fill a store of `banks` banks of 1,000 records and one of `bank_size`, and time recalls in both kinds.
    """
    with tempfile.TemporaryDirectory(prefix="lamina-bench-") as directory:
        settings = load_settings(
            storage={"data_dir": Path(directory)}, resident={"max_mb": resident_mb}, embedding={"provider": "none"}
        )
        container = build(settings, embedder=SyntheticEmbedder())
        await container.indexer.start()
        await container.indexer.stop()
        space_id = container.indexer.space_id
        if space_id is None:
            raise RuntimeError("the bench has no embedding space")
        large = texts.records(bank_size, seed=1)
        await fill(container, "large", large, space_id)
        small = texts.records(1000, seed=2)
        for place in range(banks):
            await fill(container, f"small-{place}", small, space_id)
        index = "resident" if resident_mb else "SQL alone"
        first = await measure(container, "large", large, space_id, number)
        timings = [_timing(f"{bank_size:,} records, {index}", first, limits[0])]
        if banks:
            second = await measure(container, f"small-{banks // 2}", small, space_id, number)
            name = f"1,000 of {banks * 1000 + bank_size:,} records, {index}"
            timings.append(_timing(name, second, limits[1]))
        await container.stop()
    return timings


def _timing(name: str, taken: npt.NDArray[np.float64], limit: float) -> Timing:
    return Timing(name, float(np.median(taken)), float(np.percentile(taken, 95)), limit)


def main(number: int, banks: int) -> list[Timing]:
    """
    Both indexes; the limits are 5 ms at 10,000 records and 3 ms for a bank of 1,000 among many.
    """
    resident = asyncio.run(run(number, 10_000, banks, 512, (5.0, 3.0)))
    return resident + asyncio.run(run(max(20, number // 5), 10_000, 0, 0, (60.0, 60.0)))
