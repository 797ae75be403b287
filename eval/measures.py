"""
Judges what a recall brought: ranking measures by ir-measures, and what they cannot see.

Beside the figures stand tallies: traps, pollution, leaks, false positives, lost answers, and the order of old and new.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import ir_measures

from eval.datasets import Dataset, Qrels, Query

DEPTH = 10
"""Results that are asked for, and judged."""

FIGURES: Mapping[str, str] = {
    "hit@1": "Success@1",
    "hit@3": "Success@3",
    "recall@5": "R@5",
    "recall@10": "R@10",
    "mrr@10": "RR@10",
    "ndcg@10": "nDCG@10",
}
"""Our names of the figures, and ir-measures' own."""

OUTSIDE_TOTALS = frozenset({"adversarial"})
"""Categories whose questions ask for what was never said, though evidence is given: shown, but in no total."""


@dataclass(frozen=True, slots=True)
class Tally:
    """
    How many of how many.
    """

    number: int
    of: int

    @property
    def share(self) -> float | None:
        """
        In [0, 1]; None where there was nothing to count.
        """
        return self.number / self.of if self.of else None


@dataclass(frozen=True, slots=True)
class Judged:
    """
    One answered question. `figures` is empty where nothing is relevant; a remark is None where it does not apply.

    `trapped`: a trap stands above every relevant record. `polluted`: both of two records that say the same are listed.
    `leaked`: a record of another bank is listed. `false_positive`: something was brought though nothing answers.
    `lost`: nothing was brought though something answers. `newest_first`: a current answer is listed above all outdated.
    """

    query: Query
    results: tuple[str, ...]
    figures: Mapping[str, float]
    trapped: bool | None
    polluted: bool | None
    leaked: bool
    false_positive: bool | None
    lost: bool | None
    newest_first: bool | None


TALLIES: Mapping[str, Callable[[Judged], bool | None]] = {
    "traps": lambda item: item.trapped,
    "pollution": lambda item: item.polluted,
    "leaks": lambda item: item.leaked,
    "false_positives": lambda item: item.false_positive,
    "lost": lambda item: item.lost,
    "newest_first": lambda item: item.newest_first,
}
"""What each tally counts; a question of which it is None is not among those that are counted."""


@dataclass(frozen=True, slots=True)
class Group:
    """
    Means over the answerable questions of a group, `answerable` in number, and the tallies over all of its questions.
    """

    answerable: int
    figures: Mapping[str, float]
    tallies: Mapping[str, Tally]


def figures_of(
    qrels: Qrels, run: Mapping[str, Sequence[str]], names: Mapping[str, str] = FIGURES
) -> dict[str, dict[str, float]]:
    """
    Each figure of each query of `qrels`, from ranked ids, best first; a query that is missing from the run scores 0.
    """
    if not qrels:
        return {}
    measures = {ir_measures.parse_measure(notation): name for name, notation in names.items()}
    ranked = {
        query: {item: float(len(items) - place) for place, item in enumerate(items)} for query, items in run.items()
    }
    found: dict[str, dict[str, float]] = {query: dict.fromkeys(names, 0.0) for query in qrels}
    for metric in ir_measures.iter_calc(list(measures), {q: dict(gains) for q, gains in qrels.items()}, ranked):
        found[metric.query_id][measures[metric.measure]] = float(metric.value)
    return found


def judge(dataset: Dataset, answers: Mapping[str, Sequence[str]]) -> list[Judged]:
    """
    Judge the ranked ids of every question of a set; one that is missing counts as answered with nothing.

    Two records that say the same count as one answer: either is right, the second adds nothing and is not missed.
    """
    run = {query.id: tuple(answers.get(query.id, ()))[:DEPTH] for query in dataset.queries}
    twins = {query.id: dataset.twins[query.bank] for query in dataset.queries}
    qrels = {
        query: {twins[query].get(item, item): gain for item, gain in gains.items()}
        for query, gains in dataset.qrels.items()
    }
    figures = figures_of(qrels, {query: _as_answers(results, twins[query]) for query, results in run.items()})
    return [_judged(dataset, query, run[query.id], figures.get(query.id, {})) for query in dataset.queries]


def summarise(judged: Iterable[Judged]) -> Group:
    """
    The figures and tallies of a group.
    """
    items = list(judged)
    scored = [item.figures for item in items if item.figures]
    means = {name: sum(figures[name] for figures in scored) / len(scored) for name in FIGURES} if scored else {}
    tallies = {}
    for name, remark in TALLIES.items():
        remarks = [remark(item) for item in items]
        told = [said for said in remarks if said is not None]
        tallies[name] = Tally(sum(told), len(told))
    return Group(len(scored), means, tallies)


def counted(judged: Iterable[Judged]) -> list[Judged]:
    """
    Those that belong in totals.
    """
    return [item for item in judged if item.query.category not in OUTSIDE_TOTALS]


def by(judged: Iterable[Judged], key: Callable[[Query], str | None]) -> dict[str, Group]:
    """
    A group for each value of `key`, in alphabetical order; questions for which it is None are left out.
    """
    found: defaultdict[str, list[Judged]] = defaultdict(list)
    for item in judged:
        value = key(item.query)
        if value is not None:
            found[value].append(item)
    return {value: summarise(found[value]) for value in sorted(found)}


def _as_answers(results: Sequence[str], twins: Mapping[str, str]) -> list[str]:
    # A second statement of the same keeps its place, so that it costs what any irrelevant result costs.
    seen: set[str] = set()
    answers = []
    for place, item in enumerate(results):
        stands_for = twins.get(item, item)
        answers.append(f"repeats {stands_for} at {place}" if stands_for in seen else stands_for)
        seen.add(stands_for)
    return answers


def _judged(dataset: Dataset, query: Query, results: tuple[str, ...], figures: Mapping[str, float]) -> Judged:
    own, twins = dataset.ids[query.bank], dataset.twins[query.bank]
    said = [twins[item] for item in results if item in twins]
    # A question whose traps lie in another bank asks what only that bank knows: it is judged by the leak alone.
    asks_elsewhere = not query.relevant and not query.traps <= own
    return Judged(
        query=query,
        results=results,
        figures=figures,
        trapped=_above(results, query.traps, query.relevant) if query.traps and query.relevant else None,
        polluted=len(set(said)) < len(said) if twins else None,
        leaked=any(item not in own for item in results),
        false_positive=bool(results) if not query.relevant and not asks_elsewhere else None,
        lost=not results if query.relevant else None,
        newest_first=_newest_first(results, query) if query.newest and query.stale else None,
    )


def _above(results: Sequence[str], these: frozenset[str], those: frozenset[str]) -> bool:
    """Whether one of `these` is listed before the first of `those`."""
    first = next((item for item in results if item in these or item in those), None)
    return first in these


def _newest_first(results: Sequence[str], query: Query) -> bool:
    return any(item in query.newest for item in results) and not _above(results, query.stale, query.newest)
