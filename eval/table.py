"""
Shows a report on a terminal of 80 columns or more.
"""

from collections.abc import Iterator

from rich.box import SIMPLE_HEAD
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from eval.measures import FIGURES, OUTSIDE_TOTALS, TALLIES, Group
from eval.report import Report, RowReport, Spread


def tables(report: Report) -> tuple[RenderableType, ...]:
    """
    The report as tables and lines: figures by group and row, then tallies and times by row.
    """
    heading = f"{report.dataset}: {report.memories} memories in {report.banks} banks, {report.queries} queries"
    return (Text(heading, "bold"), _figures(report), _tallies(report), *_lines(report))


def _figures(report: Report) -> Table:
    table = Table(box=SIMPLE_HEAD, pad_edge=False, collapse_padding=True)
    table.add_column("", no_wrap=True)
    table.add_column("n", justify="right")
    for name in FIGURES:
        table.add_column(name.replace("recall", "R").replace("mrr", "MRR").replace("ndcg", "nDCG"), justify="right")
    for label, groups in _sections(report):
        answered = [(row, group) for row, group in groups if group.answerable]
        if answered:
            table.add_row(Text(label, "bold"))
        for row, group in answered:
            table.add_row(f"  {row.name}", str(group.answerable), *_cells(group, [other for _, other in answered]))
    return table


def _cells(group: Group, beside: list[Group]) -> Iterator[Text]:
    for name in FIGURES:
        is_best = len(beside) > 1 and all(group.figures[name] >= other.figures[name] for other in beside)
        yield Text(f"{group.figures[name]:.3f}", "bold green" if is_best else "")


def _sections(report: Report) -> Iterator[tuple[str, list[tuple[RowReport, Group]]]]:
    yield "total", [(row, row.total) for row in report.rows]
    for name in sorted({name for row in report.rows for name in row.categories}):
        label = f"{name} (in no total)" if name in OUTSIDE_TOTALS else name
        yield label, [(row, row.categories[name]) for row in report.rows if name in row.categories]
    for name in sorted({name for row in report.rows for name in row.languages}):
        yield f"language {name}", [(row, row.languages[name]) for row in report.rows if name in row.languages]


def _tallies(report: Report) -> Table:
    table = Table("", box=SIMPLE_HEAD, pad_edge=False, collapse_padding=True)
    shown = [name for name in TALLIES if any(row.total.tallies[name].of for row in report.rows)]
    for name in (*shown, "p50 ms", "p95 ms"):
        table.add_column(name.replace("_", " "), justify="right")
    for row in report.rows:
        tallies = [row.total.tallies[name] for name in shown]
        table.add_row(row.name, *(f"{tally.number}/{tally.of}" for tally in tallies), *_times(row.recall_ms))
    return table


def _times(spread: Spread | None) -> tuple[str, str]:
    return ("", "") if spread is None else (f"{spread.p50:.1f}", f"{spread.p95:.1f}")


def _lines(report: Report) -> Iterator[Text]:
    ingest = report.ingest
    yield Text(f"embedder: {report.embedder}")
    yield Text(
        f"stored in {ingest.stored_s:.1f} s, with vectors in {ingest.indexed_s:.1f} s"
        f" ({ingest.embedded} embedded, {ingest.from_cache} from the cache)"
    )
    if report.query_embedding_ms is not None:
        spread = report.query_embedding_ms
        yield Text(f"query embedding: p50 {spread.p50:.1f} ms, p95 {spread.p95:.1f} ms over {spread.number} queries")
    for row in report.rows:
        for reason, number in row.degraded.items():
            yield Text(f"{row.name}: {number} answers degraded: {reason}", "yellow")
    for note in report.notes:
        yield Text(note, "yellow")
