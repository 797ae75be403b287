"""
Figures against numbers computed by hand, and what stands beside them: traps, pollution, leaks, false positives.
"""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eval.datasets import load
from eval.measures import FIGURES, Group, Judged, by, counted, figures_of, judge, summarise
from tests.eval.conftest import WriteSet

Rows = list[dict[str, Any]]


def told(*ids: str, **more: Any) -> Rows:
    return [{"id": item, "text": f"text of {item}", **more} for item in ids]


def test_b5_two_relevant_at_ranks_two_and_four() -> None:
    figures = figures_of({"q": {"a": 1, "b": 1}}, {"q": ["x", "a", "y", "b"]})["q"]
    assert figures["ndcg@10"] == pytest.approx(0.6509, abs=1e-4)
    assert figures["mrr@10"] == 0.5
    assert figures["recall@5"] == figures["recall@10"] == 1.0
    assert figures["hit@1"] == 0.0
    assert figures["hit@3"] == 1.0


def test_d40_precision_divides_by_k_and_not_by_what_came_back() -> None:
    figures = figures_of({"q": {"gold": 1}}, {"q": ["gold", "other"]}, {"p@5": "P@5"})
    assert figures == {"q": {"p@5": pytest.approx(0.2)}}


def test_ndcg_is_ideal_over_the_first_ten_relevant_alone() -> None:
    relevant = {f"r{number}": 1 for number in range(12)}
    figures = figures_of({"q": relevant}, {"q": list(relevant)[:10]})["q"]
    assert figures["ndcg@10"] == pytest.approx(1.0)
    assert figures["recall@10"] == pytest.approx(10 / 12)


def test_what_stands_below_the_tenth_place_counts_for_nothing() -> None:
    figures = figures_of({"q": {"a": 1}}, {"q": [*(f"x{number}" for number in range(10)), "a"]})["q"]
    assert set(figures.values()) == {0.0}


def test_a_query_that_is_missing_from_the_run_scores_zero() -> None:
    figures = figures_of({"q": {"a": 1}, "missing": {"b": 1}, "empty": {"c": 1}}, {"q": ["a"], "empty": []})
    assert set(figures["q"].values()) == {1.0}
    assert figures["missing"] == figures["empty"] == dict.fromkeys(FIGURES, 0.0)


@given(
    ranked=st.lists(st.sampled_from([f"m{number}" for number in range(15)]), unique=True, max_size=12),
    relevant=st.sets(st.sampled_from([f"m{number}" for number in range(15)]), min_size=1),
)
def test_figures_agree_with_their_definitions(ranked: list[str], relevant: set[str]) -> None:
    figures = figures_of({"q": dict.fromkeys(relevant, 1)}, {"q": ranked})["q"]
    first = next((place for place, item in enumerate(ranked[:10], 1) if item in relevant), None)
    assert figures["mrr@10"] == pytest.approx(0.0 if first is None else 1 / first)
    assert figures["recall@5"] == pytest.approx(len(relevant & set(ranked[:5])) / len(relevant))
    assert figures["recall@10"] == pytest.approx(len(relevant & set(ranked[:10])) / len(relevant))
    assert figures["hit@1"] == float(ranked[:1] != [] and ranked[0] in relevant)
    assert figures["hit@3"] == float(bool(relevant & set(ranked[:3])))
    assert 0.0 <= figures["ndcg@10"] <= 1.0


def judged_one(write_set: WriteSet, memories: Rows, query: dict[str, Any], results: list[str]) -> Judged:
    dataset = load(write_set(memories, [{"query": "what?", **query}]))
    return judge(dataset, {"q0": results})[0]


@pytest.mark.parametrize(
    ("results", "is_trapped"),
    [
        (["new", "old"], False),
        (["old", "new"], True),
        (["other", "old"], True),
        (["other", "new", "old"], False),
        (["other"], False),
        ([], False),
    ],
)
def test_i47_a_trap_above_every_relevant_record(write_set: WriteSet, results: list[str], is_trapped: bool) -> None:
    item = judged_one(write_set, told("new", "old", "other"), {"relevant": ["new"], "traps": ["old"]}, results)
    assert item.trapped is is_trapped


def test_i47_a_query_without_traps_is_not_counted_among_those_that_could_fall(write_set: WriteSet) -> None:
    assert judged_one(write_set, told("a"), {"relevant": ["a"]}, ["a"]).trapped is None


TWINS = [*told("one", "other"), *told("again", dup_of="one")]


def test_i47_pollution_is_both_of_a_pair_in_the_list(write_set: WriteSet) -> None:
    assert judged_one(write_set, TWINS, {"relevant": ["other"]}, ["one", "other", "again"]).polluted is True
    assert judged_one(write_set, TWINS, {"relevant": ["other"]}, ["again", "other"]).polluted is False
    assert judged_one(write_set, told("one"), {"relevant": ["one"]}, ["one"]).polluted is None


def test_a_pair_that_says_the_same_is_one_answer(write_set: WriteSet) -> None:
    query = {"relevant": ["one", "again"]}
    for either in ("one", "again"):
        figures = judged_one(write_set, TWINS, query, [either]).figures
        assert set(figures.values()) == {1.0}


def test_the_second_of_a_pair_costs_its_place(write_set: WriteSet) -> None:
    query = {"relevant": ["one", "again", "other"]}
    figures = judged_one(write_set, TWINS, query, ["again", "one", "other"]).figures
    assert figures["recall@5"] == 1.0
    # relevant at ranks 1 and 3 of two answers: (1 + 1/2) / (1 + 1/log2(3))
    assert figures["ndcg@10"] == pytest.approx(1.5 / (1 + 0.630930), abs=1e-5)


def test_a_chain_of_repetitions_stands_for_its_first(write_set: WriteSet) -> None:
    chain = [*TWINS, *told("third", dup_of="again")]
    item = judged_one(write_set, chain, {"relevant": ["one"]}, ["third"])
    assert item.figures["hit@1"] == 1.0


ELSEWHERE = [*told("mine"), *told("theirs", bank="away")]


def test_a_record_of_another_bank_is_a_leak(write_set: WriteSet) -> None:
    assert judged_one(write_set, ELSEWHERE, {"relevant": ["mine"]}, ["mine", "theirs"]).leaked is True
    assert judged_one(write_set, ELSEWHERE, {"relevant": ["mine"]}, ["mine"]).leaked is False


def test_a_question_for_what_another_bank_knows_is_judged_by_the_leak_alone(write_set: WriteSet) -> None:
    item = judged_one(write_set, ELSEWHERE, {"traps": ["theirs"]}, ["mine"])
    assert (item.leaked, item.false_positive, item.trapped) == (False, None, None)


def test_false_positives_and_lost_answers(write_set: WriteSet) -> None:
    unanswerable = judged_one(write_set, told("a"), {}, ["a"])
    assert (unanswerable.false_positive, unanswerable.lost, unanswerable.figures) == (True, None, {})
    assert judged_one(write_set, told("a"), {}, []).false_positive is False
    assert judged_one(write_set, told("a"), {"relevant": ["a"]}, []).lost is True
    assert judged_one(write_set, told("a"), {"relevant": ["a"]}, ["a"]).lost is False


@pytest.mark.parametrize(
    ("results", "expected"),
    [(["new", "old"], True), (["old", "new"], False), (["new"], True), (["old"], False), ([], False)],
)
def test_the_newest_answer_stands_first(write_set: WriteSet, results: list[str], expected: bool) -> None:
    query = {"relevant": ["new", "old"], "meta": {"newest": ["new"], "stale": ["old"]}}
    assert judged_one(write_set, told("new", "old"), query, results).newest_first is expected


def test_i46_figures_by_category_and_language_and_adversarial_in_no_total(write_set: WriteSet) -> None:
    queries: Rows = [
        {"query": "a", "relevant": ["a"], "category": "plain", "lang": "en"},
        {"query": "b", "relevant": ["a"], "category": "plain", "lang": "de"},
        {"query": "c", "relevant": ["a"], "category": "adversarial", "lang": "en"},
        {"query": "d", "category": "no-answer"},
    ]
    judged = judge(load(write_set(told("a", "b"), queries)), {"q0": ["a"], "q1": ["b", "a"], "q2": ["b"], "q3": ["b"]})
    total = summarise(counted(judged))
    assert total.answerable == 2
    assert total.figures["hit@1"] == 0.5
    assert total.tallies["false_positives"].share == 1.0
    assert total.tallies["traps"].share is None
    categories = by(judged, lambda query: query.category)
    assert list(categories) == ["adversarial", "no-answer", "plain"]
    assert categories["adversarial"].figures["hit@1"] == 0.0
    assert categories["no-answer"] == Group(0, {}, categories["no-answer"].tallies)
    languages = by(counted(judged), lambda query: query.lang)
    assert {name: group.figures["mrr@10"] for name, group in languages.items()} == {"de": 0.5, "en": 1.0}
