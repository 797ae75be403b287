"""
The signals of a record's age, use and standing.
"""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.domain.records import Category
from app.domain.signals import confidence, corroboration, neighbour, pin, recency, usage
from app.domain.signals.staleness import staleness
from app.domain.signals.temporal import nearness
from app.domain.temporal import AgeSpan

INDEX = {category: number for number, category in enumerate(Category)}
AGES = st.floats(0.0, 1e5)


@pytest.mark.parametrize(
    ("category", "days", "accesses", "trust", "expected"),
    [
        (Category.PREFERENCE, 10, 4, 0.9, 0.1951),
        (Category.CONTEXT, 10, 0, 0.5, 0.9750),
        (Category.CONTEXT, 20, 0, 0.5, 1.0),
        (Category.FACT, 0, 99, 1.0, 0.0),
        (Category.BEHAVIOR, 14, 9, 0.8, 0.5600),
    ],
)
def test_b5_o29_staleness(category: Category, days: float, accesses: int, trust: float, expected: float) -> None:
    assert staleness(INDEX[category], days, accesses, trust) == pytest.approx(expected, abs=1e-4)


def test_o29_staleness_of_many_is_that_of_each() -> None:
    rows = (list(range(len(Category))), [3.0, 9.0, 1.0, 40.0, 7.0], [0, 5, 2, 1, 0], [1.0, 0.5, 0.9, 0.3, 0.7])
    each = [float(staleness(*row)) for row in zip(*rows, strict=True)]
    assert staleness(*rows) == pytest.approx(each)


@given(st.sampled_from(range(5)), st.floats(-10, 1e4), st.integers(0, 10**6), st.floats(0, 1))
def test_o29_staleness_lies_between_zero_and_one(category: int, days: float, accesses: int, trust: float) -> None:
    assert 0.0 <= staleness(category, days, accesses, trust) <= 1.0


def test_o16_c2_categories_age_at_their_own_pace() -> None:
    lives = recency.half_lives(list(range(len(Category))), False, 60.0)
    assert dict(zip(Category, lives, strict=True)) == {
        Category.PREFERENCE: 240.0,
        Category.FACT: 120.0,
        Category.BEHAVIOR: 60.0,
        Category.CONTEXT: 30.0,
        Category.GENERAL: 60.0,
    }


def test_c2_what_is_pinned_does_not_age() -> None:
    life = recency.half_lives([INDEX[Category.CONTEXT]], [True], 60.0)
    assert recency.recency([36_500.0], life).tolist() == [1.0]


@given(AGES, AGES, st.floats(0.1, 1000), st.floats(0, 1))
def test_c2_recency_falls_with_age_and_stays_above_its_floor(a: float, b: float, life: float, floor: float) -> None:
    older, newer = max(a, b), min(a, b)
    late, early = recency.recency([older, newer], life, floor)
    assert floor <= late <= early <= 1.0


def test_c2_the_floor_keeps_the_order_of_old_records() -> None:
    older, newer = recency.recency([800.0, 400.0], 60.0, 0.35)
    assert older < newer
    assert recency.recency(60.0, 60.0, 0.35) == pytest.approx(0.675)
    assert recency.recency(-3.0, 60.0) == 1.0


def test_o24_usage_rises_from_its_baseline_to_one() -> None:
    assert usage.usage([0, 10, 50, 10_000]) == pytest.approx([0.6, 0.8439, 1.0, 1.0], abs=1e-4)
    assert usage.ramp([0, 50]) == pytest.approx([0.0, 1.0])


def test_o27_a_bank_matures_at_fifty_accesses() -> None:
    assert [usage.maturity(count) for count in (0, 25, 50, 500)] == [0.0, 0.5, 1.0, 1.0]
    assert usage.maturity(10, 100) == 0.1


def test_o26_doubt_halves_a_score_at_most() -> None:
    assert confidence.multiplier([0.0, 0.5, 1.0, 7.0]).tolist() == [0.5, 0.75, 1.0, 1.0]


def test_c13_words_for_confidence_have_numbers() -> None:
    assert confidence.NAMED == {"stated": 1.0, "extracted": 0.8, "inferred": 0.5}


def test_c3_corroboration_counts_repeats_and_is_full_at_eight() -> None:
    assert corroboration.repetitions([0, 1, 5]).tolist() == [0.0, 0.0, 4.0]
    assert corroboration.share([1, 9, 100]) == pytest.approx([0.0, 1.0, 1.0])
    assert corroboration.share(5) == pytest.approx(np.log(5) / np.log(9))


def test_pin_is_all_or_nothing() -> None:
    assert pin.bonus([True, False], 0.1).tolist() == [0.1, 0.0]


@given(st.floats(0, 1), st.floats(0, 1), st.floats(0, 1))
def test_a_neighbour_never_lowers_and_never_passes_on_more_than_it_has(
    own: float, previous: float, share: float
) -> None:
    lifted = float(neighbour.lift(own, previous, share))
    assert own <= lifted <= max(own, previous) + 1e-12


def test_an_exact_hit_keeps_its_place_before_what_follows_it() -> None:
    hit, follower = neighbour.lift([0.5, 0.1], [0.2, 0.5], 0.6)
    assert (hit, follower) == (0.5, pytest.approx(0.34))


def test_nearness_is_full_inside_a_span_and_halves_with_distance() -> None:
    moment = AgeSpan(oldest=10.0, newest=10.0)
    month = AgeSpan(oldest=40.0, newest=12.0)
    assert nearness([10.0, 13.0, 7.0, 16.0], [moment]) == pytest.approx([1.0, 0.5, 0.5, 0.25])
    assert nearness([20.0, 50.0, 2.0], [month]) == pytest.approx([1.0, 0.5, 0.5])
    assert nearness([10.0, 20.0], [moment, month]) == pytest.approx([1.0, 1.0])


def test_nearness_is_nothing_without_a_time_or_an_age() -> None:
    assert nearness([1.0], []).tolist() == [0.0]
    assert nearness([np.nan, 3.0], [AgeSpan(3.0, 3.0)]).tolist() == [0.0, 1.0]
