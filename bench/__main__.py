"""
`python -m bench`: prints one table of medians and 95th percentiles beside their limits.
"""

import argparse
import asyncio

from rich.console import Console
from rich.table import Table

from bench import hops, recall


def main() -> None:
    """
    Run the benchmarks.
    """
    parser = argparse.ArgumentParser(prog="bench", description=__doc__)
    parser.add_argument("--questions", type=int, default=200, help="recalls timed in each case")
    parser.add_argument("--banks", type=int, default=1000, help="banks of 1,000 records beside the large one")
    given = parser.parse_args()
    table = Table(title="recall inside the process, query vector given")
    for column in ("case", "p50 ms", "p95 ms", "limit ms", "p50 / limit"):
        table.add_column(column, justify="left" if column == "case" else "right")
    for timing in recall.main(given.questions, given.banks):
        table.add_row(
            timing.name,
            f"{timing.p50:.2f}",
            f"{timing.p95:.2f}",
            f"{timing.limit:.1f}",
            f"{timing.p50 / timing.limit:.2f}",
        )
    console = Console()
    console.print(table)
    hops_table = Table(title="a unit of three statements")
    for column in ("way", "alone ms", "a second, 8 callers"):
        hops_table.add_column(column, justify="left" if column == "way" else "right")
    for cost in asyncio.run(hops.main()):
        hops_table.add_row(cost.name, f"{cost.alone_ms:.2f}", f"{cost.per_second:,.0f}")
    console.print(hops_table)


if __name__ == "__main__":
    main()
