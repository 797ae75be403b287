"""
The signals that compare words, names and topics.
"""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.domain.signals import cluster, entity, overlap
from app.domain.signals.speaker import named_speakers
from tests.unit.domain.words import analyzer, any_text, clusters

WORDS = analyzer()
CLUSTERS = clusters()


def touched(text: str) -> frozenset[str]:
    return CLUSTERS.of(WORDS.words(text))


def test_o28_diet_reaches_a_peanut_allergy_through_food() -> None:
    asked, stored = touched("which diet suits me"), touched("Severe peanut allergy since childhood")
    assert cluster.overlap(asked, stored) == 1.0
    assert cluster.overlap(asked, touched("Uses Docker on Linux")) == 0.0


def test_o28_a_cluster_must_occur_on_both_sides() -> None:
    food, none = touched("vegan recipes"), touched("hello there")
    assert food == {"food"}
    assert cluster.overlap(food, none) == cluster.overlap(none, food) == cluster.overlap(none, none) == 0.0


def test_o28_each_cluster_of_the_query_that_is_missing_lowers_the_share() -> None:
    assert cluster.overlap({"food", "health"}, {"food", "work"}) == 0.5


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("Allergies!", {"food", "health"}),
        ("two dishes of bread", {"food"}),
        ("movies and series", {"entertainment"}),
        ("a shoe", {"shopping"}),
        ("clothes", {"shopping"}),
        ("my boss's", {"work"}),
        ("a road trip", {"travel"}),
        ("video calls", {"communication"}),
        ("a video without sound", set()),
        ("party, workaholics, steak", set()),
        ("", set()),
    ],
)
def test_b3_words_count_whole_with_or_without_a_plural_ending(text: str, names: set[str]) -> None:
    assert touched(text) == names


def test_clusters_can_be_extended_with_words_of_any_script() -> None:
    wider = cluster.Clusters(
        {"food": ["寿司", "pão de queijo", ""], "game": ["成语接龙", "棋"], "music": ["violoncelo"]}
    )
    assert wider.of(WORDS.words("今日は寿司を食べた")) == {"food"}
    assert wider.of(WORDS.words("今天玩成语接龙游戏")) == wider.of(WORDS.words("下棋")) == {"game"}
    assert wider.of(WORDS.words("成语的接龙")) == frozenset()
    assert wider.of(WORDS.words("um pão de queijo quente")) == {"food"}
    assert wider.of(WORDS.words("pão quente")) == frozenset()
    assert wider.of(WORDS.words("dois violoncelos")) == {"music"}


@given(any_text, any_text)
def test_shares_lie_between_zero_and_one(first: str, second: str) -> None:
    words = WORDS.content_words(first), WORDS.words(second)
    assert 0.0 <= cluster.overlap(CLUSTERS.of(words[0]), CLUSTERS.of(words[1])) <= 1.0
    assert 0.0 <= overlap.overlap(*words) <= 1.0


def test_o25_overlap_is_the_share_of_distinct_words_asked() -> None:
    assert overlap.overlap(["blue", "car", "blue"], ["a", "blue", "bus"]) == 0.5
    assert overlap.overlap([], ["a"]) == 0.0


def test_b13_words_of_the_handles_count_one_by_one() -> None:
    assert entity.token_hits(["ana", "maria", "lisbon"], ["ana maria", "porto"]) == 2
    assert entity.hits(entity.standing_for(["ana maria", "lisbon"], {}), ["ana maria", "porto"]) == 1


def test_t04_two_names_of_one_person_count_as_one() -> None:
    synonyms = {"bob": "robert", "robert": "robert", "bobby": "robert"}
    asked = entity.standing_for(["bob", "lisbon"], synonyms)
    assert asked == {"bob": "robert", "robert": "robert", "bobby": "robert", "lisbon": "lisbon"}
    assert entity.hits(asked, ["robert", "bobby"]) == 1
    assert entity.hits(asked, ["robert", "lisbon", "porto"]) == 2
    assert entity.hits(entity.standing_for(["lisbon"], synonyms), ["robert"]) == 0


def test_c3_entity_evidence_counts_so_many_handles_and_no_more() -> None:
    assert entity.evidence([0, 1, 2, 9], 0.06, 2) == pytest.approx([0.0, 0.06, 0.12, 0.12])


@given(st.sets(st.sampled_from(["Ana", "Bob Lee", "user", "Céline"])), any_text)
def test_named_speakers_are_speakers(speakers: set[str], text: str) -> None:
    assert named_speakers(WORDS.words(text), speakers) <= speakers


@pytest.mark.parametrize(
    ("query", "named"),
    [
        ("What did Ana's sister say?", {"Ana"}),
        ("does bob like it", set()),
        ("does bob lee like it", {"Bob Lee"}),
        ("what did the user or the assistant say", set()),
        ("Ana and Bob Lee", {"Ana", "Bob Lee"}),
        ("nobody", set()),
    ],
)
def test_a_question_names_a_speaker_by_the_whole_name(query: str, named: set[str]) -> None:
    assert named_speakers(WORDS.words(query), {"Ana", "Bob Lee", "user", "assistant"}) == named


def test_a_question_that_names_all_speakers_prefers_none() -> None:
    assert named_speakers(WORDS.words("Ana and Bob Lee"), {"Ana", "Bob Lee"}) == frozenset()
