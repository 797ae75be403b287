"""
Text is cut to a length with a mark and never inside a character.
"""

import pytest
import regex
from hypothesis import given
from hypothesis import strategies as st

from app.domain.text.shorten import MARKER, SUMMARY_MAX, shorten, summarise
from app.errors import InvalidInput
from tests.unit.domain.words import any_text


@given(any_text, st.integers(0, 80), st.sampled_from([MARKER, "", " [cut]"]))
def test_a_shortened_text_never_exceeds_its_limit(text: str, limit: int, marker: str) -> None:
    result, was_cut = shorten(text, limit, marker)
    assert len(result) <= limit
    assert was_cut == (len(text) > limit)
    if not was_cut:
        assert result == text


@given(any_text, st.integers(2, 80))
def test_a_cut_falls_between_graphemes(text: str, limit: int) -> None:
    result, was_cut = shorten(text, limit)
    if was_cut:
        kept = result.removesuffix(MARKER)
        ends = [0, *(cluster.end() for cluster in regex.finditer(r"\X", text))]
        assert text.startswith(kept)
        assert len(kept) in ends


@pytest.mark.parametrize(
    ("text", "limit", "result"),
    [
        ("alpha beta gamma delta", 14, "alpha beta…"),
        ("alpha beta gamma delta", 11, "alpha beta…"),
        ("alpha beta gamma delta", 22, "alpha beta gamma delta"),
        ("abcdefghijklmnop", 8, "abcdefg…"),
        ("ab cdefghijklmnop", 12, "ab cdefghij…"),
        ("今天玩成语接龙游戏", 5, "今天玩成…"),
        ("a👨\u200d👩\u200d👧\u200d👦b", 6, "a…"),
        ("abc", 1, "a"),
        ("abc", 0, ""),
    ],
)
def test_words_stay_whole_where_the_second_half_has_a_space(text: str, limit: int, result: str) -> None:
    assert shorten(text, limit)[0] == result


def test_a_negative_limit_is_refused() -> None:
    with pytest.raises(InvalidInput, match="limit"):
        shorten("text", -1)


@given(any_text)
def test_o14_c35_a_summary_is_one_line_of_fewer_than_fifty_characters(text: str) -> None:
    summary = summarise(text)
    assert len(summary) <= SUMMARY_MAX < 50
    assert "\n" not in summary


def test_o38_the_preview_of_a_long_raw_input_is_its_beginning() -> None:
    raw = "Prefers   short answers\nin formal German, without any greeting or closing words"
    assert summarise(raw) == "Prefers short answers in formal German, without…"
    assert summarise("Likes  tea\n") == "Likes tea"
