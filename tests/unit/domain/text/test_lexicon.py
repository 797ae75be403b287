"""
The shipped word lists are what their rules promise.
"""

import pytest

from app.domain.text.lexicon import parse_clusters, parse_stop_words
from app.domain.text.tokenize import split_words
from app.errors import ConfigError
from tests.unit.domain.words import CLUSTER_WORDS, STOP_WORDS


def test_comments_and_white_space_separate_stop_words() -> None:
    assert parse_stop_words("# all\na an\n\n the # rest\n") == {"a", "an", "the"}


@pytest.mark.parametrize("language", ["en", "pt"])
def test_stop_words_are_single_words_as_the_analyzer_sees_them(language: str) -> None:
    words = STOP_WORDS[language]
    assert 60 <= len(words) <= 180
    assert all(split_words(word) == [word] for word in words)


@pytest.mark.parametrize("word", ["not", "never", "always", "before", "after", "não", "sem", "nunca"])
def test_words_that_tell_statements_apart_are_no_stop_words(word: str) -> None:
    assert word not in STOP_WORDS["en"] | STOP_WORDS["pt"]


def test_o28_the_eight_clusters_have_twenty_four_words_each() -> None:
    names = ["food", "health", "work", "tech", "travel", "entertainment", "communication", "shopping"]
    assert list(CLUSTER_WORDS) == names
    assert {len(set(words)) for words in CLUSTER_WORDS.values()} == {24}


def test_o28_a_word_belongs_to_one_cluster_but_for_allergy() -> None:
    all_words = [word for words in CLUSTER_WORDS.values() for word in words]
    assert {word for word in all_words if all_words.count(word) > 1} == {"allergy"}


@pytest.mark.parametrize("text", ["food = [", "food = 'eat'", "food = [1]", "[food]\na = 1"])
def test_clusters_that_are_no_lists_of_words_are_refused(text: str) -> None:
    with pytest.raises(ConfigError, match="clusters"):
        parse_clusters(text)
