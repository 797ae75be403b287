"""
The semantic signal.
"""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from app.domain.signals.cosine import above_floor, cosine_similarity, unit, unit_cosine

NUMBERS = st.floats(allow_nan=True, allow_infinity=True, width=64)
FINITE = st.floats(allow_nan=False, allow_infinity=False, width=64)


@given(arrays(np.float64, (4, 3), elements=NUMBERS), arrays(np.float64, 3, elements=NUMBERS))
def test_t053_cosine_lies_between_minus_one_and_one_for_any_numbers(
    vectors: np.ndarray[tuple[int, int], np.dtype[np.float64]], query: np.ndarray[tuple[int], np.dtype[np.float64]]
) -> None:
    similarity = cosine_similarity(vectors, query)
    assert np.all(np.abs(similarity) <= 1.0)


@given(arrays(np.float64, (4, 3), elements=FINITE))
def test_t053_unit_vectors_are_of_length_one_or_zero(
    vectors: np.ndarray[tuple[int, int], np.dtype[np.float64]],
) -> None:
    lengths = np.linalg.norm(unit(vectors), axis=1)
    assert lengths == pytest.approx(np.any(vectors != 0.0, axis=1).astype(float))


def test_t053_vectors_of_length_three_compare_by_direction() -> None:
    vectors = np.array([[3.0, 0.0], [0.0, 3.0], [-3.0, 0.0], [2.0, 2.0]])
    assert cosine_similarity(vectors, [3.0, 0.0]) == pytest.approx([1.0, 0.0, -1.0, np.sqrt(0.5)])


@pytest.mark.parametrize("bad", [[0.0, 0.0], [np.nan, 1.0], [np.inf, 1.0]])
def test_t053_what_has_no_direction_is_like_nothing(bad: list[float]) -> None:
    assert cosine_similarity([bad, [1.0, 0.0]], [1.0, 0.0]).tolist() == [0.0, 1.0]
    assert cosine_similarity([[1.0, 0.0]], bad).tolist() == [0.0]


def test_t053_extreme_components_neither_overflow_nor_vanish() -> None:
    assert cosine_similarity([[1e308, 1e308], [5e-324, 0.0]], [1.0, 1.0]) == pytest.approx([1.0, np.sqrt(0.5)])


@given(arrays(np.float64, (4, 3), elements=FINITE), arrays(np.float64, 3, elements=FINITE))
def test_vectors_that_are_of_unit_length_already_compare_alike(
    vectors: np.ndarray[tuple[int, int], np.dtype[np.float64]], query: np.ndarray[tuple[int], np.dtype[np.float64]]
) -> None:
    similarity = unit_cosine(unit(vectors).astype(np.float32), unit(query).astype(np.float32))
    assert similarity == pytest.approx(cosine_similarity(vectors, query), abs=1e-6)
    assert np.all(np.abs(similarity) <= 1.0)


def test_vectors_of_another_dimension_are_never_compared() -> None:
    assert cosine_similarity([[1.0, 0.0, 0.0]], [1.0, 0.0]).tolist() == [0.0]


def test_no_vectors_give_no_similarities() -> None:
    assert cosine_similarity(np.empty((0, 2)), [1.0, 0.0]).shape == (0,)


def test_c19_what_lies_at_the_floor_is_nothing_and_above_it_a_share() -> None:
    assert above_floor([-1.0, 0.25, 0.625, 1.0, np.nan], 0.25) == pytest.approx([0.0, 0.0, 0.5, 1.0, 0.0])
    assert above_floor([0.99, 1.0], 1.0).tolist() == [0.0, 1.0]
