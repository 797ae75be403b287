"""
Long text is divided into passages that lose nothing and break nothing.
"""

import pytest
import regex
from hypothesis import given
from hypothesis import strategies as st

from app.domain.text.graphemes import floor_boundary, next_boundary
from app.domain.text.passages import split_passages
from app.errors import InvalidInput
from tests.unit.domain.words import any_text

FAMILY = "👨\u200d👩\u200d👧\u200d👦"


def boundaries(text: str) -> list[int]:
    return [0, *(cluster.end() for cluster in regex.finditer(r"\X", text))]


@given(any_text, st.integers(1, 60), st.integers(0, 80))
def test_passages_cover_every_character_and_cut_no_grapheme(text: str, size: int, overlap: int) -> None:
    passages = split_passages(text, size, overlap)
    whole = set(boundaries(text))
    covered = 0
    for start, end in passages:
        assert start <= covered < end
        assert covered - start <= min(overlap, size // 2)
        assert {start, end} <= whole
        assert end - start <= size or next_boundary(text, start) == end
        covered = end
    assert covered == len(text)


@given(any_text, st.data())
def test_boundaries_are_those_of_the_grapheme_clusters(text: str, data: st.DataObject) -> None:
    whole = boundaries(text)
    start = data.draw(st.sampled_from(whole))
    position = data.draw(st.integers(start, len(text)))
    assert floor_boundary(text, position, start) == max(place for place in whole if place <= position)
    assert next_boundary(text, start) == min((place for place in whole if place > start), default=len(text))


def test_empty_text_has_no_passage_and_short_text_one() -> None:
    assert split_passages("", 100, 10) == []
    assert split_passages("short", 100, 10) == [(0, 5)]
    assert split_passages("12345", 5, 2) == [(0, 5)]


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("aaaa aaaa. Bbb bb\n\ncccc cccc. dddd dddd", "aaaa aaaa. Bbb bb\n\n"),
        ("aaaa aaaa. Bbb bb\ncccc cccc. dddd dddd", "aaaa aaaa. Bbb bb\n"),
        ("aaaa aaaa aaa. Bbb bbbb cccc cccc dddd", "aaaa aaaa aaa. "),
        ("aaaa aaaa aaaa aaaa aaaaaaaaaa", "aaaa aaaa aaaa aaaa "),
        ("一二三四五六七八九十一二。三四五六七八九十", "一二三四五六七八九十一二。"),
        ("a" * 30, "a" * 20),
    ],
)
def test_a_passage_ends_at_the_best_break_of_its_second_half(text: str, first: str) -> None:
    start, end = split_passages(text, 20, 0)[0]
    assert text[start:end] == first


def test_neighbours_share_whole_words() -> None:
    text = "one two three four five six seven eight nine ten"
    passages = [text[start:end] for start, end in split_passages(text, 20, 8)]
    assert passages == ["one two three four ", "four five six seven ", "seven eight nine ten"]


def test_t040_families_of_emoji_stay_whole() -> None:
    text = FAMILY * 100
    passages = split_passages(text, 400, 40)
    assert len(passages) > 1
    assert all(text[start:end].replace(FAMILY, "") == "" for start, end in passages)


def test_a_cluster_longer_than_a_passage_is_a_passage() -> None:
    stacked = "a" + "\u0301" * 50
    text = f"before {stacked} after it"
    passages = [text[start:end] for start, end in split_passages(text, 20, 5)]
    assert stacked in passages
    assert "".join(dict.fromkeys(passages)).endswith("after it")


@pytest.mark.parametrize(("size", "overlap", "field"), [(0, 0, "size"), (10, -1, "overlap")])
def test_impossible_sizes_are_refused_by_name(size: int, overlap: int, field: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        split_passages("text", size, overlap)
    assert caught.value.fields[0].field == field
