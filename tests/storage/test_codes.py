"""
The scan by bytes leaves every row in view that can be among the nearest.
"""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from app.storage.resident.codes import Codes

DIMENSIONS = 48


@given(
    st.integers(0, 2**32 - 1),
    st.integers(1, 300),
    st.integers(1, 40),
    st.sampled_from([0.0, 0.05, 1.0]),
    st.sampled_from([1.0, 0.3]),
)
def test_none_of_the_nearest_is_lost(seed: int, rows: int, k: int, spread: float, eligible: float) -> None:
    rng = np.random.default_rng(seed)
    vectors = rng.normal(size=DIMENSIONS) + spread * rng.normal(size=(rows, DIMENSIONS))
    vectors[:, rng.integers(0, DIMENSIONS)] *= rng.choice([0.0, 1.0, 50.0])
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    given_rows = vectors.astype(np.float32)
    question = given_rows[rng.integers(0, rows)] + spread * rng.normal(size=DIMENSIONS)
    question = (question / np.linalg.norm(question)).astype(np.float32)
    codes = Codes(DIMENSIONS)
    codes.grow(rows)
    codes.put(list(range(rows)), given_rows)
    wanted = np.flatnonzero(rng.random(rows) <= eligible)

    left = codes.within_reach(question, wanted, k)

    exact = given_rows.astype(np.float64) @ question
    nearest = wanted[np.argsort(-exact[wanted])[:k]]
    assert set(left) <= set(wanted)
    # A row as near as the k-th may stand for it: the exact comparison that follows sees all of them.
    least = exact[nearest].min() if len(nearest) else 0.0
    assert set(wanted[exact[wanted] > least + 1e-9]) <= set(left)


def test_a_scan_leaves_few_rows_to_compare() -> None:
    rng = np.random.default_rng(1)
    vectors = rng.normal(size=(5000, 384)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    codes = Codes(384)
    codes.grow(5000)
    codes.put(list(range(5000)), vectors)
    left = codes.within_reach(vectors[7], np.arange(5000), 100)
    assert 7 in left
    assert 100 <= len(left) < 1000
