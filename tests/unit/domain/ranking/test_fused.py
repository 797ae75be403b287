"""
The default scorer, stage by stage.
"""

from dataclasses import asdict

import numpy as np
import pytest

from app.config import FusedSettings
from app.domain.ranking.candidates import Arm, Candidates, QueryFacts
from app.domain.ranking.fused import FusedParams, FusedScorer
from app.domain.ranking.order import ranking

HYBRID = QueryFacts(cosine_floor=0.4, keyword_ceiling=10.0)
LEXICAL = QueryFacts(arms=frozenset({Arm.KEYWORD, Arm.CLUSTER}), keyword_ceiling=10.0)
PLAIN = FusedParams(recency_floor=1.0)


def relevance(records: Candidates, facts: QueryFacts = HYBRID, params: FusedParams = PLAIN) -> list[float]:
    return [float(value) for value in FusedScorer(params).score(records, facts).signals["relevance"]]


def test_c3_the_defaults_are_those_of_the_configuration() -> None:
    assert asdict(FusedParams()) == FusedSettings().model_dump()


def test_c3_relevance_is_the_weighted_mean_of_the_arms() -> None:
    records = Candidates.of(["both", "word", "meaning"], bm25=[5.0, 5.0, 0.0], cosine=[0.7, 0.0, 0.7])
    assert relevance(records) == pytest.approx([0.5, 0.3, 0.2])


def test_c3_an_arm_that_did_not_run_has_no_say() -> None:
    records = Candidates.of(["a", "b"], bm25=[5.0, 0.0], cosine=[0.7, 1.0], cluster=[0.0, 1.0])
    assert relevance(records, LEXICAL) == pytest.approx([0.5, 0.1])
    semantic = QueryFacts(arms=frozenset({Arm.SEMANTIC}), cosine_floor=0.4, keyword_ceiling=10.0)
    assert relevance(records, semantic) == pytest.approx([0.5, 1.0])
    nothing = QueryFacts(arms=frozenset())
    assert FusedScorer().score(records, nothing).keep.tolist() == [False, False]


def test_a_record_whose_vector_is_still_to_be_made_is_measured_by_its_words() -> None:
    records = Candidates.of(["new", "unlike"], bm25=[5.0, 5.0], cosine=[np.nan, 0.0])
    assert relevance(records) == pytest.approx([0.5, 0.3])


def test_a_turn_after_a_hit_is_lifted_and_stays_behind_it() -> None:
    records = Candidates.of(
        ["question", "answer", "start"],
        bm25=[5.0, 0.5, 0.5],
        cosine=[0.7, 0.4, 0.4],
        previous_bm25=[0.0, 5.0, 0.0],
        previous_cosine=[0.4, 0.7, np.nan],
    )
    assert relevance(records) == pytest.approx([0.5, 0.03 + 0.6 * 0.47, 0.03])


def test_c3_agreement_is_rewarded_where_it_is_asked_for() -> None:
    records = Candidates.of(["a", "b"], bm25=[5.0, 5.0], cosine=[0.7, 0.0], cluster=[1.0, 0.0])
    assert relevance(records, params=FusedParams(agreement_bonus=0.05)) == pytest.approx([0.6, 0.3])


def test_o28_a_shared_cluster_alone_is_found_behind_all_that_answers() -> None:
    records = Candidates.of(["word", "topic", "none"], bm25=[2.0, 0.0, 0.0], cluster=[0.0, 1.0, 0.0])
    scored = FusedScorer().score(records, LEXICAL)
    assert ranking(scored, records).tolist() == [0, 1]


def test_d16_c3_a_shared_handle_alone_is_found() -> None:
    records = Candidates.of(["user", "other"], entity=[1, 0])
    scored = FusedScorer().score(records, LEXICAL)
    assert ranking(scored, records).tolist() == [0]
    assert scored.signals["entity"].tolist() == [1.0, 0.0]


def test_c3_what_lies_below_the_gate_is_no_answer_whatever_its_standing() -> None:
    records = Candidates.of(["a", "b"], bm25=[0.7, 0.5], pinned=True, observations=50, access_count=99, speaker=1.0)
    scored = FusedScorer(FusedParams(gate=0.06)).score(records, QueryFacts(LEXICAL.arms, keyword_ceiling=10.0))
    assert scored.keep.tolist() == [True, False]


def test_c3_a_gate_of_zero_lets_all_through() -> None:
    assert FusedScorer(FusedParams(gate=0.0)).score(Candidates.of(["a"]), HYBRID).keep.tolist() == [True]


def test_time_admits_what_it_names_and_a_speaker_only_lifts() -> None:
    records = Candidates.of(["then", "said"], time=[1.0, 0.0], speaker=[0.0, 1.0])
    scored = FusedScorer(PLAIN).score(records, HYBRID)
    assert scored.keep.tolist() == [True, False]
    assert scored.signals["relevance"] == pytest.approx([0.15, 0.12])


def test_d17_a_pinned_record_of_weak_meaning_stays_behind_one_of_strong_meaning() -> None:
    records = Candidates.of(["pinned", "meant"], cosine=[0.26, 0.60], pinned=[True, False])
    for arms in (frozenset(Arm), frozenset({Arm.SEMANTIC})):
        scored = FusedScorer().score(records, QueryFacts(arms, cosine_floor=0.25, keyword_ceiling=10.0))
        assert ranking(scored, records)[0] == 1


def test_d17_standing_settles_between_close_records_only() -> None:
    def first(pinned: float, other: float) -> str:
        records = Candidates.of(
            ["pinned", "other"], bm25=[pinned, other], pinned=[True, False], observations=[99, 1], access_count=[99, 0]
        )
        facts = QueryFacts(LEXICAL.arms, keyword_ceiling=10.0, bank_accesses=99)
        return records.ids[int(ranking(FusedScorer().score(records, facts), records)[0])]

    assert first(5.0, 5.1) == "pinned"
    assert first(5.0, 6.5) == "other"


def test_c3_score_is_relevance_and_bonus_times_recency_times_confidence() -> None:
    records = Candidates.of(
        ["a"],
        bm25=5.0,
        confidence=0.5,
        observations=9,
        access_count=50,
        updated_age_days=60.0,
        created_age_days=80.0,
    )
    facts = QueryFacts(LEXICAL.arms, keyword_ceiling=10.0, bank_accesses=25, half_life_days=60.0, maturity_accesses=50)
    scored = FusedScorer(FusedParams(recency_floor=0.6)).score(records, facts)
    assert scored.score[0] == pytest.approx(0.5 * (1 + 0.05 + 0.05 * 0.5) * 0.8 * 0.75)
    assert scored.signals["recency"][0] == pytest.approx(0.8)
    assert scored.signals["bonus"][0] == pytest.approx(0.075)


def test_c12_age_counts_from_the_later_of_creation_and_update() -> None:
    records = Candidates.of(["a", "b"], bm25=5.0, created_age_days=[5.0, 90.0], updated_age_days=[90.0, 5.0])
    fresh = FusedScorer().score(records, HYBRID).signals["recency"]
    assert fresh[0] == fresh[1]


def test_d53_an_old_exact_answer_comes_before_fresh_weak_ones() -> None:
    records = Candidates.of(
        ["old", *"abcde"],
        bm25=[5.0, 1.0, 1.1, 0.9, 1.0, 1.0],
        updated_age_days=[400.0, 0, 0, 1, 2, 0],
        created_age_days=400,
    )
    assert ranking(FusedScorer().score(records, LEXICAL), records)[0] == 0


def test_of_two_equal_statements_the_newer_leads() -> None:
    records = Candidates.of(["a", "b"], bm25=5.0, created_age_days=[200.0, 20.0], updated_age_days=[200.0, 20.0])
    assert ranking(FusedScorer().score(records, LEXICAL), records).tolist() == [1, 0]


def test_d52_one_strong_meaning_enters_the_top_beside_weak_words() -> None:
    records = Candidates.of(["a", "b", "c", "d", "e", "meant"], bm25=[0.8] * 5 + [0.0], cosine=[0.4] * 5 + [0.8])
    assert ranking(FusedScorer().score(records, HYBRID), records)[0] == 5


def test_c3_reciprocal_ranks_can_be_chosen() -> None:
    records = Candidates.of(["a", "b", "c"], bm25=[5.0, 1.0, 0.0], cosine=[0.7, 0.9, 0.3])
    params = FusedParams(fusion="rrf", rank_constant=60.0, keyword_weight=0.5, semantic_weight=0.5, neighbour_share=0.0)
    even = 0.5 * (1 + 61 / 62)
    assert relevance(records, params=params) == pytest.approx([even, even, 0.0])


def test_c3_near_identical_records_can_be_spread() -> None:
    vectors = np.array([[1, 0], [1, 0], [0, 1]], np.float32)
    records = Candidates.of(["best", "copy", "other"], vectors, bm25=[6.0, 5.9, 4.0])
    facts = QueryFacts(LEXICAL.arms, keyword_ceiling=10.0, limit=3)
    plain, spread = FusedScorer(), FusedScorer(FusedParams(diversity=0.65))
    assert ranking(plain.score(records, facts), records).tolist() == [0, 1, 2]
    scored = spread.score(records, facts)
    assert ranking(scored, records).tolist() == [0, 2, 1]
    assert scored.score == pytest.approx(plain.score(records, facts).score)


def test_c3_explanation_names_every_signal() -> None:
    signals = FusedScorer().score(Candidates.of(["a"], bm25=1.0), HYBRID).signals
    named = "bm25 cosine cluster entity recency usage confidence pinned relevance bonus keyword semantic arms_hit fused"
    assert set(named.split()) <= set(signals)
