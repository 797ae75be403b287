"""
`python -m bench`: prints one table of medians and 95th percentiles beside their limits.
"""

import argparse
import asyncio
from collections.abc import Iterable

from rich.console import Console
from rich.table import Table

from bench import hops, posting, recall
from bench.peers import compare


def main() -> None:
    """
    Run the benchmarks.
    """
    parser = argparse.ArgumentParser(prog="bench", description=__doc__)
    parser.add_argument("--questions", type=int, default=200, help="recalls timed in each case")
    parser.add_argument("--banks", type=int, default=1000, help="banks of 1,000 records beside the large one")
    parser.add_argument("--posts", type=int, default=400, help="entries posted to a busy server")
    parser.add_argument("--only", choices=["posting", "peers"], help="one part of the benchmarks")
    parser.add_argument("--records", type=int, default=10_000, help="records of the bank that peers hold too")
    given = parser.parse_args()
    console = Console()
    if given.only == "peers":
        console.print(_peers_table(compare.main(given.questions, given.records)))
        return
    console.print(_table("a write beside slow work", [posting.main(given.posts)]))
    if given.only == "posting":
        return
    console.print(_table("recall inside the process, query vector given", recall.main(given.questions, given.banks)))
    hops_table = Table(title="a unit of three statements")
    for column in ("way", "alone ms", "a second, 8 callers"):
        hops_table.add_column(column, justify="left" if column == "way" else "right")
    for cost in asyncio.run(hops.main()):
        hops_table.add_row(cost.name, f"{cost.alone_ms:.2f}", f"{cost.per_second:,.0f}")
    console.print(hops_table)


def _peers_table(rows: list[compare.PeerTiming]) -> Table:
    table = Table(title="one bank, the same texts, vectors and questions")
    for column in ("library", "p50 ms", "p95 ms", "p50 / lamina", "recall@10", "filled in s"):
        table.add_column(column, justify="left" if column == "library" else "right")
    for row in rows:
        if row.problem:
            table.add_row(row.name, row.problem, "", "", "", "")
            continue
        ratio = row.p50 / rows[0].p50
        table.add_row(
            row.name, f"{row.p50:.2f}", f"{row.p95:.2f}", f"{ratio:.1f}", f"{row.recall:.3f}", f"{row.fill_s:.1f}"
        )
    return table


def _table(title: str, timings: Iterable[recall.Timing]) -> Table:
    table = Table(title=title)
    for column in ("case", "p50 ms", "p95 ms", "limit ms", "p50 / limit", "p95 / limit"):
        table.add_column(column, justify="left" if column == "case" else "right")
    for timing in timings:
        table.add_row(
            timing.name,
            f"{timing.p50:.2f}",
            f"{timing.p95:.2f}",
            f"{timing.limit:.1f}",
            f"{timing.p50 / timing.limit:.2f}",
            f"{timing.p95 / timing.limit:.2f}",
        )
    return table


if __name__ == "__main__":
    main()
