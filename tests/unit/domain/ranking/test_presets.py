"""
The presets give the numbers of the systems that they stand for.
"""

import numpy as np
import pytest

from app.domain.ranking.candidates import Arm, Candidates, QueryFacts
from app.domain.ranking.fused import FusedParams
from app.domain.ranking.iii import IiiParams, IiiScorer
from app.domain.ranking.orca import OrcaScorer
from app.domain.ranking.orcbot import OrcbotScorer
from app.domain.ranking.order import ranking
from app.domain.ranking.scorers import SCORERS
from app.domain.ranking.single import LexicalScorer, SemanticScorer

TOLERANCE = 1e-4


@pytest.mark.parametrize(
    ("age", "accesses", "topic", "trust", "total", "expected"),
    [
        (0.0, 0, 0.0, 1.0, 0, 0.5000),
        (30.0, 0, 0.5, 0.8, 0, 0.4500),
        (30.0, 10, 0.5, 0.8, 25, 0.4964),
        (30.0, 50, 1.0, 1.0, 50, 0.8250),
    ],
)
def test_b5_o21_orca(age: float, accesses: int, topic: float, trust: float, total: int, expected: float) -> None:
    record = Candidates.of(
        ["a"], created_age_days=age, access_count=accesses, topic=topic, confidence=trust, accessed_age_days=np.nan
    )
    scored = OrcaScorer().score(record, QueryFacts(bank_accesses=total))
    assert scored.score[0] == pytest.approx(expected, abs=TOLERANCE)
    assert scored.keep[0]


def test_b5_o24_orca_usage_at_ten_accesses() -> None:
    scored = OrcaScorer().score(Candidates.of(["a"], access_count=10), QueryFacts())
    assert scored.signals["usage"][0] == pytest.approx(0.8439, abs=TOLERANCE)


def test_o23_orca_counts_age_from_the_later_of_creation_and_access() -> None:
    records = Candidates.of(["a", "b"], created_age_days=[90.0, 90.0], accessed_age_days=[30.0, np.nan])
    recency = OrcaScorer().score(records, QueryFacts()).signals["recency"]
    assert recency == pytest.approx([0.5, 0.125])


def test_o25_orca_topic_is_overlap_and_clusters_up_to_one() -> None:
    records = Candidates.of(["a", "b", "c"], topic=[0.0, 0.5, 0.9], cluster=[1.0, 0.5, 1.0])
    assert OrcaScorer().score(records, QueryFacts()).signals["topic"] == pytest.approx([0.4, 0.7, 1.0])
    without = OrcaScorer().score(records, QueryFacts(arms=frozenset({Arm.KEYWORD}))).signals["topic"]
    assert without == pytest.approx([0.0, 0.5, 0.9])


def test_b5_iii_all_bonuses_together() -> None:
    record = Candidates.of(["a"], bm25=1.0, entity=1, observations=5, pinned=True)
    scored = IiiScorer().score(record, QueryFacts())
    assert scored.score[0] == pytest.approx(2.8328, abs=TOLERANCE)


@pytest.mark.parametrize(
    ("age", "half_life", "expected"),
    [(30.0, 30.0, 0.5), (30.0, 60.0, 0.7071), (400.0, 30.0, 0.35), (400.0, 60.0, 0.35)],
)
def test_b5_iii_decay_and_its_floor(age: float, half_life: float, expected: float) -> None:
    record = Candidates.of(["a"], bm25=1.0, updated_age_days=age)
    scored = IiiScorer(IiiParams(half_life_days=half_life)).score(record, QueryFacts())
    assert scored.score[0] == pytest.approx(expected, abs=TOLERANCE)


def test_b5_iii_a_pin_beats_far_better_meaning() -> None:
    records = Candidates.of(["pinned", "meant"], cosine=[0.26, 0.60], pinned=[True, False])
    scored = IiiScorer().score(records, QueryFacts())
    assert scored.score == pytest.approx([1.3220, 1.3200], abs=TOLERANCE)
    assert ranking(scored, records).tolist() == [0, 1]


def test_b13_iii_counts_a_cosine_strictly_above_its_floor() -> None:
    records = Candidates.of(["a", "b", "c", "d"], cosine=[0.25, 0.2501, np.nan, 0.0], bm25=[0.0, 0.0, 0.0, 1.0])
    scored = IiiScorer().score(records, QueryFacts())
    assert scored.keep.tolist() == [False, True, False, True]
    assert scored.score[0] == 0.0


def test_b13_iii_meaning_does_not_age() -> None:
    records = Candidates.of(["a", "b"], cosine=[0.5, 0.5], updated_age_days=[0.0, 1000.0])
    scored = IiiScorer().score(records, QueryFacts())
    assert scored.score[0] == scored.score[1]


def test_b5_orcbot_hybrid_and_boost() -> None:
    record = Candidates.of(["a"], cosine=0.5, bm25=3.0, created_age_days=7.0)
    scored = OrcbotScorer().score(record, QueryFacts())
    assert scored.signals["hybrid"][0] == pytest.approx(0.6125, abs=TOLERANCE)
    assert scored.score[0] == pytest.approx(0.5094, abs=TOLERANCE)


def test_b5_orcbot_fresh_noise_beats_an_older_match() -> None:
    records = Candidates.of(["fresh", "old"], cosine=[0.1, 0.45], created_age_days=[0.0, 30.0])
    scored = OrcbotScorer().score(records, QueryFacts())
    assert scored.score == pytest.approx([0.2480, 0.1648], abs=TOLERANCE)


def test_b23_orcbot_without_vectors_is_keywords_alone() -> None:
    records = Candidates.of(["a", "b"], bm25=[4.0, 1.0])
    scored = OrcbotScorer().score(records, QueryFacts(arms=frozenset({Arm.KEYWORD})))
    assert scored.signals["hybrid"] == pytest.approx([1.0, 0.25])


def test_b23_orcbot_spreads_its_choice() -> None:
    vectors = np.array([[1, 0], [1, 0], [0, 1]], np.float32)
    records = Candidates.of(["best", "copy", "other"], vectors, cosine=[0.9, 0.89, 0.6])
    scored = OrcbotScorer().score(records, QueryFacts(limit=2))
    assert scored.keep.tolist() == [True, False, True]
    assert OrcbotScorer().score(records, QueryFacts(limit=3)).keep.all()


def test_lexical_orders_as_bm25_and_drops_what_has_no_word() -> None:
    records = Candidates.of(["a", "b", "c"], bm25=[1.0, 3.0, 0.0], cosine=[0.9, 0.1, 1.0])
    scored = LexicalScorer().score(records, QueryFacts(keyword_ceiling=6.0))
    assert scored.score == pytest.approx([1 / 6, 0.5, 0.0])
    assert ranking(scored, records).tolist() == [1, 0]


def test_semantic_orders_as_cosine_and_drops_what_lies_below_the_floor() -> None:
    records = Candidates.of(["a", "b", "c", "d"], bm25=5.0, cosine=[0.3, 0.8, np.nan, 0.2])
    scored = SemanticScorer().score(records, QueryFacts(cosine_floor=0.3))
    assert ranking(scored, records).tolist() == [1, 0]


def test_every_name_of_the_configuration_has_a_scorer() -> None:
    assert list(SCORERS) == ["fused", "orca", "orcbot", "iii", "lexical", "semantic"]
    empty = Candidates.of([])
    for make in SCORERS.values():
        scored = make(FusedParams()).score(empty, QueryFacts())
        assert ranking(scored, empty).tolist() == []
