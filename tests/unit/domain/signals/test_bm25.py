"""
The keyword signal.
"""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.domain.signals.bm25 import ceiling, coverage, idf, score_documents, term_score
from tests.unit.domain.words import analyzer

DOCUMENTS = [
    ["mike", "prefers", "formal", "writing", "with", "short", "paragraphs"],
    ["the", "deploy", "pipeline", "uses", "nine", "cross", "compile", "targets"],
    ["user", "publishes", "blog", "posts", "on", "tuesday", "mornings"],
]
QUERY = ["formal", "writing", "style"]

TERMS = st.sampled_from("abcdefg")


@pytest.mark.parametrize(("k1", "expected"), [(1.2, 1.998827), (1.5, 2.002621)])
def test_b5_bm25_of_three_documents(k1: float, expected: float) -> None:
    assert score_documents(DOCUMENTS, QUERY, k1, 0.75) == pytest.approx([expected, 0.0, 0.0], abs=1e-4)


def test_b12_a_repeated_query_term_counts_again() -> None:
    once = score_documents(DOCUMENTS, ["formal"])
    assert score_documents(DOCUMENTS, ["formal", "formal"]) == pytest.approx(2 * once)


def test_b12_idf_stays_positive_for_a_term_that_every_record_holds() -> None:
    assert idf([0, 1, 3], 3) == pytest.approx([np.log(8.0), np.log(2.5 / 1.5 + 1), np.log(0.5 / 3.5 + 1)])
    assert idf(3, 3) > 0.0


def test_b12_a_mean_length_below_one_counts_as_one() -> None:
    assert term_score(1, 1.0, 1, 0.2) == pytest.approx(term_score(1, 1.0, 1, 1.0))


def test_b11_the_analyzer_finds_the_golden_document_first() -> None:
    words = analyzer()
    documents = [words.index_terms(" ".join(document)) for document in DOCUMENTS]
    scores = score_documents(documents, words.query_terms("a formal writing style"))
    assert scores.argmax() == 0
    assert np.count_nonzero(scores) == 1


@given(st.lists(st.lists(TERMS, max_size=30), min_size=1, max_size=12), st.lists(TERMS, min_size=1, max_size=8))
def test_no_score_exceeds_the_ceiling(documents: list[list[str]], query: list[str]) -> None:
    frequencies = [sum(term in document for document in documents) for term in query]
    top = ceiling(frequencies, len(documents))
    scores = score_documents(documents, query)
    assert np.all(scores <= top)
    covered = coverage(scores, top)
    assert np.all((covered >= 0.0) & (covered <= 1.0))
    assert np.array_equal(covered > 0.0, scores > 0.0)


def test_coverage_of_what_was_asked_is_the_same_in_small_and_large_banks() -> None:
    for total in (1, 100, 100_000):
        score = term_score(1, idf(1, total), 10, 10.0)
        assert coverage(score, ceiling([1, 0], total)) == pytest.approx(1 / 2.2 / 2)


def test_a_query_without_terms_covers_nothing() -> None:
    assert ceiling([], 10) == 0.0
    assert ceiling([0], 0) >= 0.0
    assert coverage([1.0, 0.0], 0.0).tolist() == [0.0, 0.0]


def test_no_documents_give_no_scores() -> None:
    assert score_documents([], ["a"]).shape == (0,)
