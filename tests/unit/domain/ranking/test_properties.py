"""
What holds of every scorer for any candidates.
"""

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.domain.ranking.candidates import Arm, Candidates, QueryFacts
from app.domain.ranking.diversity import marginal_relevance
from app.domain.ranking.fused import FusedParams
from app.domain.ranking.order import ranking
from app.domain.ranking.scored import Scored
from app.domain.ranking.scorers import SCORERS

SHARES = st.floats(0.0, 1.0)
AGES = st.floats(0.0, 5000.0)
COUNTS = st.integers(0, 1000)
COLUMNS: dict[str, st.SearchStrategy[Any]] = {
    "bm25": st.floats(0.0, 60.0),
    "cosine": st.one_of(st.floats(-1.0, 1.0), st.just(float("nan"))),
    "cluster": SHARES,
    "entity": st.integers(0, 5),
    "topic": SHARES,
    "speaker": st.sampled_from([0.0, 1.0]),
    "time": SHARES,
    "previous_bm25": st.floats(0.0, 60.0),
    "previous_cosine": st.one_of(st.floats(-1.0, 1.0), st.just(float("nan"))),
    "created_age_days": AGES,
    "updated_age_days": AGES,
    "accessed_age_days": st.one_of(AGES, st.just(float("nan"))),
    "access_count": COUNTS,
    "confidence": SHARES,
    "pinned": st.booleans(),
    "observations": st.integers(1, 100),
    "category": st.integers(0, 4),
}
NUMBERED = {"cosine": st.floats(-1.0, 1.0), "previous_cosine": st.floats(-1.0, 1.0), "accessed_age_days": AGES}
FACTS = st.builds(
    QueryFacts,
    arms=st.frozensets(st.sampled_from(Arm)),
    cosine_floor=st.floats(-1.0, 1.0),
    keyword_ceiling=st.floats(0.0, 60.0),
    bank_accesses=COUNTS,
    half_life_days=st.floats(0.1, 1000.0),
    limit=st.integers(0, 8),
)
BOUNDED = ["fused", "orca", "orcbot", "lexical", "semantic"]


@st.composite
def candidates(draw: st.DrawFn, most: int = 8) -> Candidates:
    ids = draw(st.lists(st.text("abc", min_size=1, max_size=3), unique=True, max_size=most))
    rows = len(ids)
    columns = {name: draw(st.lists(values, min_size=rows, max_size=rows)) for name, values in COLUMNS.items()}
    return Candidates.of(ids, None, **columns)


def score(name: str, records: Candidates, facts: QueryFacts) -> Scored:
    return SCORERS[name](FusedParams()).score(records, facts)


@pytest.mark.parametrize("name", list(SCORERS))
@given(records=candidates(), facts=FACTS)
def test_scores_are_finite_and_the_same_every_time(name: str, records: Candidates, facts: QueryFacts) -> None:
    scored, again = score(name, records, facts), score(name, records, facts)
    assert scored.score.shape == scored.keep.shape == (len(records),)
    assert np.all(np.isfinite(scored.score))
    assert np.all(scored.score >= 0.0)
    assert np.array_equal(scored.score, again.score)
    assert np.array_equal(ranking(scored, records), ranking(again, records))
    assert all(len(values) == len(records) for values in scored.signals.values())


@pytest.mark.parametrize("name", BOUNDED)
@given(records=candidates(), facts=FACTS)
def test_scores_lie_between_zero_and_one(name: str, records: Candidates, facts: QueryFacts) -> None:
    assert np.all(score(name, records, facts).score <= 1.0)


FALLING = ["created_age_days", "updated_age_days", "accessed_age_days"]
RISING = [column for column in COLUMNS if column not in {*FALLING, "category"}]
PAIRS = st.fixed_dictionaries(
    {column: st.tuples(*[NUMBERED.get(column, COLUMNS[column])] * 2) for column in RISING + FALLING}
)


@pytest.mark.parametrize("name", list(SCORERS))
@settings(max_examples=60)
@given(common=st.fixed_dictionaries(COLUMNS), pairs=PAIRS, facts=FACTS)
def test_scores_rise_with_each_signal_and_fall_with_age(
    name: str, common: dict[str, Any], pairs: dict[str, tuple[Any, Any]], facts: QueryFacts
) -> None:
    rows: list[dict[str, Any]] = []
    for column, pair in pairs.items():
        less, more = sorted(pair, reverse=column in FALLING)
        rows += [{**common, column: less}, {**common, column: more}]
    columns = {column: [row[column] for row in rows] for column in COLUMNS}
    records = Candidates.of([str(number) for number in range(len(rows))], None, **columns)
    scores = score(name, records, facts).score
    for column, less, more in zip(pairs, scores[::2], scores[1::2], strict=True):
        assert less <= more + 1e-12, column


@given(candidates(), st.data())
def test_order_is_total_and_does_not_depend_on_the_order_of_arrival(records: Candidates, data: st.DataObject) -> None:
    values = data.draw(st.lists(st.sampled_from([0.1, 0.2, 0.2 + 1e-12]), min_size=len(records), max_size=len(records)))
    shuffled = np.array(data.draw(st.permutations(range(len(records)))), np.int64)
    pick: dict[str, npt.NDArray[Any]] = {column: getattr(records, column)[shuffled] for column in COLUMNS}
    moved = Candidates.of([records.ids[row] for row in shuffled], **pick)

    def named(given_records: Candidates, scores: npt.NDArray[np.float64]) -> list[str]:
        scored = Scored(scores, np.ones(len(given_records), bool), {})
        return [given_records.ids[row] for row in ranking(scored, given_records)]

    scores = np.array(values, np.float64)
    names = named(records, scores)
    assert sorted(names) == sorted(records.ids)
    assert names == named(moved, scores[shuffled])


def test_c38_ties_are_broken_by_pin_then_update_then_id() -> None:
    records = Candidates.of(
        ["d", "c", "b", "a", "e", "f"],
        pinned=[False, False, False, True, False, False],
        updated_age_days=[2.0, 1.0, 1.0, 9.0, 0.0, 0.0],
    )
    scores = np.array([0.5, 0.5, 0.5 + 1e-12, 0.5, 0.4, 0.9])
    scored = Scored(scores, np.array([True, True, True, True, True, False]), {})
    assert [records.ids[row] for row in ranking(scored, records)] == ["a", "b", "c", "d", "e"]


@given(st.integers(1, 8), st.integers(0, 10), st.floats(0.0, 1.0), st.integers(0, 2**32 - 1))
def test_marginal_relevance_chooses_one_by_one(rows: int, limit: int, weight: float, seed: int) -> None:
    random = np.random.default_rng(seed)
    scores = random.random(rows)
    vectors = random.normal(size=(rows, 3)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    value = marginal_relevance(scores, vectors, limit, weight)
    order = np.argsort(-value, kind="stable")
    chosen: list[int] = []
    for row in order[:limit]:
        closest = max((float(vectors[row] @ vectors[other]) for other in chosen), default=0.0)
        assert value[row] == pytest.approx(weight * scores[row] - (1 - weight) * max(0.0, closest), abs=1e-5)
        chosen.append(int(row))
    assert marginal_relevance(scores, vectors, limit, 1.0) == pytest.approx(scores)


def test_unknown_and_ill_fitting_columns_are_refused_by_name() -> None:
    with pytest.raises(ValueError, match="no such columns: bm52"):
        Candidates.of(["a"], bm52=1.0)
    with pytest.raises(ValueError, match="bm25: 2 rows"):
        Candidates.of(["a"], bm25=[1.0, 2.0])
    with pytest.raises(ValueError, match="vectors: 1 rows"):
        Candidates.of([], np.zeros((1, 2), np.float32))
