"""
Figures on large sets that are not part of the project; skipped where they are not there.
"""

from collections.abc import Callable
from pathlib import Path

from app.config import Settings
from eval.runner import run


async def test_locomo_by_words_alone(shared_set: Callable[[str], Path], settings: Settings) -> None:
    report = await run(shared_set("locomo"), settings, None, ("lexical",))
    (row,) = report.rows
    assert (report.banks, report.memories, report.queries, row.total.answerable) == (5, 2760, 999, 760)
    assert row.total.figures["recall@10"] >= 0.60
    assert row.total.tallies["leaks"].number == 0
    assert row.categories["adversarial"].answerable == 237


async def test_topodb_needs_no_dates_and_no_roles(shared_set: Callable[[str], Path], settings: Settings) -> None:
    report = await run(shared_set("topodb"), settings, None, ("lexical", "hybrid"))
    for row in report.rows:
        assert row.categories["lexical"].figures["hit@3"] >= 0.9


async def test_longmemeval_tells_abstentions_from_answers(
    shared_set: Callable[[str], Path], settings: Settings
) -> None:
    report = await run(shared_set("longmemeval"), settings, None, ("lexical",))
    (row,) = report.rows
    assert row.total.answerable == 238
    assert row.total.tallies["false_positives"].of == 18
    assert row.total.tallies["newest_first"].of == 35
