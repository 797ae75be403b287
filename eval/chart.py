"""
Draws a report: bars by category, the rows beside one another, as a PNG file.
"""

from pathlib import Path
from typing import TYPE_CHECKING

from eval.measures import OUTSIDE_TOTALS
from eval.report import Report

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SHOWN = ("recall@10", "ndcg@10")
COLOURS = ("#2a6f97", "#c9c5b1", "#e0a458", "#7d8597", "#84a98c", "#b56576", "#6d597a")
"""The first row stands out; the single arms beside it are paler."""


def write_chart(report: Report, path: Path) -> None:
    """
    Draw recall@10 and nDCG@10 by category, one bar for each row, and write them to `path`.
    """
    # matplotlib takes longer to import than many a run lasts
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    groups = _groups(report)
    width = max(8.0, 1.2 + 1.3 * len(groups))
    figure = Figure(figsize=(width, 7.5), layout="constrained")
    FigureCanvasAgg(figure)
    for number, name in enumerate(SHOWN, 1):
        axes = figure.add_subplot(len(SHOWN), 1, number)
        _draw(axes, report, groups, name)
    figure.axes[0].legend(loc="upper right", ncols=len(report.rows), frameon=False, fontsize=9)
    embedder = report.space or "no embedder"
    figure.suptitle(f"{report.dataset}: {report.memories} memories, {report.queries} queries, {embedder}", fontsize=11)
    figure.savefig(path, dpi=120)


def _groups(report: Report) -> list[str]:
    """`total` and the categories in which something is relevant."""
    found = {name for row in report.rows for name, group in row.categories.items() if group.answerable}
    return ["total", *sorted(found)]


def _draw(axes: "Axes", report: Report, groups: list[str], name: str) -> None:
    bar = 0.8 / max(1, len(report.rows))
    for place, row in enumerate(report.rows):
        values = [(row.total if group == "total" else row.categories[group]).figures.get(name, 0.0) for group in groups]
        left = [at - 0.4 + bar * (place + 0.5) for at in range(len(groups))]
        bars = axes.bar(left, values, bar * 0.92, label=row.name, color=COLOURS[place % len(COLOURS)])
        axes.bar_label(bars, [f"{value:.2f}".lstrip("0") for value in values], fontsize=7, padding=1)
    labels = [f"{group}\n(in no total)" if group in OUTSIDE_TOTALS else group.replace("-", "-\n") for group in groups]
    axes.set_xticks(range(len(groups)), labels, fontsize=8)
    axes.set_ylim(0.0, 1.12)
    axes.set_yticks([0.0, 0.25, 0.5, 0.75, 1.0])
    axes.set_ylabel(name)
    axes.axvline(0.5, color="#999999", linewidth=0.8)
    axes.grid(axis="y", color="#e5e5e5", linewidth=0.6)
    axes.set_axisbelow(True)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
