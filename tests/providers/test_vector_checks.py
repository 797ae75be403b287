import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.providers.vector_checks import prepare, split_ready, unit_vector


@pytest.mark.parametrize("text", ["", "   ", "\n", ".", "?!…", "—", "\x00", "\u200b", "\ud800", "。、", "\t \r\n"])
def test_t055_text_with_nothing_in_it_is_not_sent(text: str) -> None:
    assert prepare(text, 100) is None


@pytest.mark.parametrize("text", ["a", "7", "é", "你", "😀", "C#", "  a  ", "(x)", "½"])
def test_t055_text_with_anything_in_it_is(text: str) -> None:
    assert prepare(text, 100) == text.strip()


@given(st.text(alphabet=st.characters(), max_size=40), st.integers(1, 20))
def test_t041_any_text_becomes_legal_and_short(text: str, limit: int) -> None:
    ready = prepare(text, limit)
    if ready is not None:
        ready.encode("utf-8")
        assert len(ready) <= limit
        assert "\x00" not in ready


def test_t055_positions_of_what_is_left_are_kept() -> None:
    assert split_ready(["a", " ", "b", ""], 10) == ([0, 2], ["a", "b"])


def test_t053_a_long_vector_is_brought_to_unit_length() -> None:
    vector = unit_vector([2.0, 2.0, 1.0], 3)
    assert vector is not None
    assert vector.dtype == np.float32
    assert vector.tolist() == pytest.approx([2 / 3, 2 / 3, 1 / 3])
    assert not vector.flags.writeable


@pytest.mark.parametrize(
    "values",
    [[0.0] * 3, [1.0, math.nan, 0.0], [math.inf, 0.0, 0.0], [1.0, 0.0], [1.0] * 4, [], [[1.0, 0.0, 0.0]], [1e-300] * 3],
)
def test_t053_a_vector_without_direction_or_of_another_length_is_refused(values: list[float]) -> None:
    assert unit_vector(values, 3) is None


@given(st.lists(st.floats(-1e30, 1e30), min_size=3, max_size=3).filter(lambda v: max(map(abs, v)) > 1e-6))
def test_t053_cosine_stays_within_one(values: list[float]) -> None:
    vector = unit_vector(values, 3)
    assert vector is not None
    assert abs(float(vector @ vector) - 1.0) < 1e-5
