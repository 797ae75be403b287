"""
What a run found, as one value, and as JSON.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from eval.measures import TALLIES, Group, Judged

DECIMALS = 4


@dataclass(frozen=True, slots=True)
class Spread:
    """
    Median and 95th percentile of `number` times, in milliseconds.
    """

    number: int
    p50: float
    p95: float

    @classmethod
    def of(cls, times: Sequence[float]) -> "Spread | None":
        """
        The spread of some times; None of none.
        """
        if not times:
            return None
        p50, p95 = np.percentile(np.array(times), [50, 95])
        return cls(len(times), float(p50), float(p95))


@dataclass(frozen=True, slots=True)
class Ingest:
    """
    How long it took, in seconds, until all was stored and until all had its vector, and whence the vectors came.
    """

    stored_s: float
    indexed_s: float
    embedded: int
    from_cache: int


@dataclass(frozen=True, slots=True)
class RowReport:
    """
    One retrieval row: its figures in total, by category and by language, and its recall time without query embedding.

    `retrieval` says how often which retrieval really ran, `degraded` how often which reason for less was given.
    """

    name: str
    total: Group
    categories: Mapping[str, Group]
    languages: Mapping[str, Group]
    recall_ms: Spread | None
    retrieval: Mapping[str, int]
    degraded: Mapping[str, int]
    judged: tuple[Judged, ...]


@dataclass(frozen=True, slots=True)
class Report:
    """
    One run over one set. `space` is the identity of the embedder's space, None where there was none: `embedder` says
    why. `query_embedding_ms` covers the queries that the model embedded in this run, not those from the cache.
    """

    dataset: str
    banks: int
    memories: int
    queries: int
    space: str | None
    embedder: str
    ingest: Ingest
    query_embedding_ms: Spread | None
    rows: tuple[RowReport, ...]
    notes: tuple[str, ...] = ()

    def row(self, name: str) -> RowReport | None:
        """
        The row of that name.
        """
        return next((row for row in self.rows if row.name == name), None)


def as_data(report: Report, *, with_queries: bool) -> dict[str, Any]:
    """
    The report as plain data; `with_queries` adds what was found for each question, from which runs can be compared.
    """
    return {
        "dataset": report.dataset,
        "banks": report.banks,
        "memories": report.memories,
        "queries": report.queries,
        "space": report.space,
        "embedder": report.embedder,
        "ingest": {
            "stored_s": round(report.ingest.stored_s, 3),
            "indexed_s": round(report.ingest.indexed_s, 3),
            "embedded": report.ingest.embedded,
            "from_cache": report.ingest.from_cache,
        },
        "query_embedding_ms": _spread(report.query_embedding_ms),
        "notes": list(report.notes),
        "rows": {row.name: _row(row, with_queries=with_queries) for row in report.rows},
    }


def write_json(report: Report, path: Path) -> None:
    """
    Write the whole report, questions included.
    """
    data = as_data(report, with_queries=True)
    path.write_text(json.dumps(data, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


def group_data(group: Group) -> dict[str, Any]:
    """
    A group's figures, and the tallies that counted anything, as plain data.
    """
    return {
        "answerable": group.answerable,
        **{name: round(value, DECIMALS) for name, value in group.figures.items()},
        **{name: {"number": tally.number, "of": tally.of} for name, tally in group.tallies.items() if tally.of},
    }


def _row(row: RowReport, *, with_queries: bool) -> dict[str, Any]:
    data: dict[str, Any] = {
        "total": group_data(row.total),
        "categories": {name: group_data(group) for name, group in row.categories.items()},
        "languages": {name: group_data(group) for name, group in row.languages.items()},
        "recall_ms": _spread(row.recall_ms),
        "retrieval": dict(row.retrieval),
        "degraded": dict(row.degraded),
    }
    if with_queries:
        data["queries"] = [_judged(item) for item in row.judged]
    return data


def _judged(item: Judged) -> dict[str, Any]:
    remarks = {name: remark(item) for name, remark in TALLIES.items()}
    return {
        "id": item.query.id,
        "bank": item.query.bank,
        "category": item.query.category,
        "lang": item.query.lang,
        "results": list(item.results),
        "figures": {name: round(value, DECIMALS) for name, value in item.figures.items()},
        **{name: said for name, said in remarks.items() if said is not None},
    }


def _spread(spread: Spread | None) -> dict[str, Any] | None:
    if spread is None:
        return None
    return {"number": spread.number, "p50": round(spread.p50, 3), "p95": round(spread.p95, 3)}
