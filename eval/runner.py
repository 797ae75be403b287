"""
Runs a set through the service that ships: a fresh database, a clock that stands still, and no access counted.
"""

import asyncio
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from app.bootstrap import Container, build
from app.clock import FrozenClock
from app.config import Settings
from app.domain.ranking.scorers import SCORERS
from app.errors import InvalidInput, Unavailable
from app.providers.factory import build_embedder
from app.providers.model_files import ModelFiles
from app.providers.protocols import Embedder, ProviderState
from app.services.query_vectors import QUERY_CHARS_MAX
from app.services.recall_model import Mode, RecallRequest
from eval.chart import write_chart
from eval.datasets import Dataset, Query, load
from eval.intake import Kept, store
from eval.measures import DEPTH, by, counted, judge, summarise
from eval.report import Ingest, Report, RowReport, Spread, write_json
from eval.vector_cache import TimedEmbedder, VectorCache, cache_file

POLL_S = 0.1
Progress = Callable[[str, int, int], None]
"""Told the stage, and how many of how many are done."""


@dataclass(frozen=True, slots=True)
class Row:
    """
    One way to retrieve; `scorer` None takes the configured one.
    """

    mode: Mode
    scorer: str | None = None


ROWS: dict[str, Row] = {
    "hybrid": Row(Mode.HYBRID),
    "lexical": Row(Mode.LEXICAL),
    "semantic": Row(Mode.SEMANTIC),
    **{name: Row(Mode.HYBRID, name) for name in SCORERS if name not in set(Mode)},
}
"""Rows by name: the three modes, and the hybrid mode with each scorer by its own name."""

DEFAULT_ROWS = ("hybrid", "lexical", "semantic")


def silent(_stage: str, _done: int, _of: int) -> None:
    """
    Progress that nobody watches.
    """


async def run(
    data: Path,
    settings: Settings,
    out: Path | None = None,
    rows: Sequence[str] = DEFAULT_ROWS,
    progress: Progress = silent,
    *,
    use_cache: bool = True,
) -> Report:
    """
    Score the recall over the set in `data`; with `out`, write `<set>.json` and `<set>.png` there.

    Vectors of earlier runs are taken from the user's cache unless `use_cache` is off.

    Raises:
        InvalidInput: the set or a row's name cannot be used.
        Unavailable: the embedder failed, so that the figures would say nothing.
        StorageError: the vector cache or `out` cannot be used.
    """
    _check_rows(rows)
    dataset = load(data)
    provider = build_embedder(settings.embedding, ModelFiles.configured(settings.models))
    if isinstance(provider, ProviderState):
        report = await evaluate(dataset, settings, rows, provider, progress)
    else:
        cache = VectorCache(cache_file()) if use_cache else None
        try:
            embedder = TimedEmbedder(provider, cache, settings.embedding.max_chars)
            report = await evaluate(dataset, settings, rows, embedder, progress)
        finally:
            if cache is not None:
                cache.close()
    if out is not None:
        write(report, out)
    return report


def written(report: Report, out: Path) -> tuple[Path, Path]:
    """
    The files that a report is written to: its JSON and its chart.
    """
    return out / f"{report.dataset}.json", out / f"{report.dataset}.png"


def write(report: Report, out: Path) -> None:
    """
    Write the report as JSON and as a chart into a directory.

    Raises:
        InvalidInput: the directory cannot be written to.
    """
    as_json, as_chart = written(report, out)
    try:
        out.mkdir(parents=True, exist_ok=True)
        write_json(report, as_json)
        write_chart(report, as_chart)
    except OSError as error:
        raise InvalidInput.of("out", f"{out} cannot be written to: {error.strerror or error}") from error


async def evaluate(
    dataset: Dataset,
    settings: Settings,
    rows: Sequence[str],
    embedder: Embedder | ProviderState,
    progress: Progress = silent,
) -> Report:
    """
    Score the recall over a set with a given embedder, or without one; it is closed at the end.

    Raises:
        InvalidInput: a row or a record cannot be taken.
        Unavailable: the embedder failed.
    """
    _check_rows(rows)
    has_vectors = not isinstance(embedder, ProviderState)
    state = embedder if isinstance(embedder, ProviderState) else embedder.state()
    asked = [name for name in rows if has_vectors or ROWS[name].mode is not Mode.SEMANTIC]
    if not asked:
        raise InvalidInput.of("rows", f"nothing is left to run without an embedder ({state.detail})")
    notes = () if asked == list(rows) else (f"semantic is left out: there is no embedder ({state.detail})",)
    with tempfile.TemporaryDirectory(prefix="lamina-eval-") as directory:
        clock = FrozenClock(dataset.clock)
        container = build(_in_directory(settings, Path(directory)), clock, embedder)
        try:
            await container.start()
            kept, ingest = await _take_in(container, clock, dataset, progress)
            dataset = _as_kept(dataset, kept)
            if has_vectors and any(ROWS[name].mode is not Mode.LEXICAL for name in asked):
                await _embed_queries(container, dataset, progress)
            reports = [await _row(container, dataset, name, progress) for name in asked]
        finally:
            await container.stop()
    timed = embedder if isinstance(embedder, TimedEmbedder) else None
    return Report(
        dataset=dataset.name,
        banks=len(dataset.banks),
        memories=dataset.size,
        queries=len(dataset.queries),
        space=None if isinstance(embedder, ProviderState) else embedder.space.identity(),
        embedder=state.detail,
        ingest=ingest,
        query_embedding_ms=None if timed is None else Spread.of(timed.query_ms),
        rows=tuple(reports),
        notes=notes,
    )


def _check_rows(rows: Sequence[str]) -> None:
    unknown = [name for name in rows if name not in ROWS]
    if unknown or not rows:
        raise InvalidInput.of("rows", f"must be some of {', '.join(ROWS)}, got {', '.join(unknown) or 'none'}")


def _in_directory(settings: Settings, directory: Path) -> Settings:
    return settings.model_copy(update={"storage": settings.storage.model_copy(update={"data_dir": directory})})


async def _take_in(
    container: Container, clock: FrozenClock, dataset: Dataset, progress: Progress
) -> tuple[Kept, Ingest]:
    started = time.perf_counter()
    kept = await store(container, clock, dataset, lambda done: progress("storing", done, dataset.size))
    stored = time.perf_counter()
    if not isinstance(container.embedder, ProviderState):
        await _indexed(container, progress)
    indexed = time.perf_counter()
    timed = container.embedder if isinstance(container.embedder, TimedEmbedder) else None
    return kept, Ingest(
        stored_s=stored - started,
        indexed_s=indexed - started,
        embedded=0 if timed is None else timed.embedded,
        from_cache=0 if timed is None else timed.from_cache,
    )


async def _indexed(container: Container, progress: Progress) -> None:
    """Wait until every text has its vector, as long as the embedder gets on."""
    embedding = container.settings.embedding
    patience_s = embedding.request_timeout_s * (embedding.max_retries + 1)
    fewest, since = None, time.monotonic()
    while (state := await container.indexer.state()).waiting:
        progress("embedding", state.indexed, state.indexed + state.waiting)
        if fewest is None or state.waiting < fewest:
            fewest, since = state.waiting, time.monotonic()
        if not state.running or time.monotonic() - since > patience_s:
            raise Unavailable(f"{state.waiting} texts have no vector: {state.problem or 'the indexer stands still'}")
        with suppress(TimeoutError):
            async with asyncio.timeout(POLL_S):
                await container.indexer.drained()
    progress("embedding", state.indexed, state.indexed)


def _as_kept(dataset: Dataset, kept: Kept) -> Dataset:
    """What is expected, carried to the ids under which the service knows it."""
    if not any(kept.values()):
        return dataset

    def own(query: Query, ids: frozenset[str]) -> frozenset[str]:
        return frozenset(kept[query.bank].get(item, item) for item in ids)

    queries = (
        replace(
            query,
            relevant=own(query, query.relevant),
            traps=own(query, query.traps),
            newest=own(query, query.newest),
            stale=own(query, query.stale),
        )
        for query in dataset.queries
    )
    return replace(dataset, queries=tuple(queries))


async def _embed_queries(container: Container, dataset: Dataset, progress: Progress) -> None:
    """Let every query have its vector beforehand, so that no deadline and no embedding is part of what is measured."""
    if isinstance(container.embedder, ProviderState):
        return
    for place, query in enumerate(dataset.queries, 1):
        if query.text.strip():
            await container.query_vectors.vector(container.embedder, query.text[:QUERY_CHARS_MAX])
        progress("queries", place, len(dataset.queries))


async def _row(container: Container, dataset: Dataset, name: str, progress: Progress) -> RowReport:
    row = ROWS[name]
    answers: dict[str, tuple[str, ...]] = {}
    times: list[float] = []
    retrieval: Counter[str] = Counter()
    degraded: Counter[str] = Counter()
    for place, query in enumerate(dataset.queries, 1):
        request = RecallRequest(
            query.text, limit=DEPTH, mode=row.mode, scorer=row.scorer, as_of=query.as_of, record_access=False
        )
        answer = await container.recall.recall(query.bank, request)
        answers[query.id] = tuple(result.record.id for result in answer.results)
        times.append(answer.took_ms)
        retrieval[answer.retrieval.value] += 1
        degraded.update(answer.degraded)
        progress(name, place, len(dataset.queries))
    judged = judge(dataset, answers)
    in_total = counted(judged)
    return RowReport(
        name=name,
        total=summarise(in_total),
        categories=by(judged, lambda query: query.category),
        languages=by(in_total, lambda query: query.lang),
        recall_ms=Spread.of(times),
        retrieval=dict(retrieval),
        degraded=dict(degraded),
        judged=tuple(judged),
    )
