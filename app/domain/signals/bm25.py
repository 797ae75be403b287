"""
The keyword signal: Okapi BM25, and the share of the asked words that a record covers.

Statistics are those of one bank: `total` records of `mean_length` terms, a term held by `df` of them.
"""

from collections import Counter
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

K1 = 1.2
"""How slowly repeats of a term saturate."""
B = 0.75
"""How much a record's length counts against it, in [0, 1]."""


def idf(df: npt.ArrayLike, total: int) -> Floats:
    """
    Inverse document frequency, ln((N - df + 0.5) / (df + 0.5) + 1): above 0 for every df in 0..N.
    """
    held = np.asarray(df, np.float64)
    return np.log((total - held + 0.5) / (held + 0.5) + 1.0)


def length_norm(length: npt.ArrayLike, mean_length: float, k1: float = K1, b: float = B) -> Floats:
    """
    What a record's length puts under its repeats, k1 * (1 - b + b * length / mean); a mean below 1 counts as 1.
    """
    return k1 * (1.0 - b + b * np.asarray(length, np.float64) / max(1.0, mean_length))


def normed_score(tf: npt.ArrayLike, term_idf: npt.ArrayLike, norm: npt.ArrayLike, k1: float = K1) -> Floats:
    """
    `term_score` where the records' `length_norm` is known.
    """
    times = np.asarray(tf, np.float64)
    return np.asarray(term_idf, np.float64) * times * (k1 + 1.0) / (times + np.asarray(norm, np.float64))


def term_score(
    tf: npt.ArrayLike, term_idf: npt.ArrayLike, length: npt.ArrayLike, mean_length: float, k1: float = K1, b: float = B
) -> Floats:
    """
    What one query term that occurs `tf` times adds to records of `length` terms; a mean length below 1 counts as 1.
    """
    return normed_score(tf, term_idf, length_norm(length, mean_length, k1, b), k1)


def ceiling(df: npt.ArrayLike, total: int, k1: float = K1) -> float:
    """
    A score that no record of the bank can exceed for a query whose terms have these document frequencies, repeats
    included.

    What was asked and is not there lowers the coverage: a term that no record holds counts like one that a single
    record holds, so that in a bank of few records one unknown word does not outweigh all the known ones.
    """
    frequencies = np.maximum(1.0, np.asarray(df, np.float64))
    return float((k1 + 1.0) * np.sum(idf(frequencies, max(1, total))))


def coverage(score: npt.ArrayLike, score_ceiling: float) -> Floats:
    """
    A BM25 score as a share of its ceiling, in [0, 1]; 0 where the query has no terms.

    Unlike division by the best hit it says how much of the question is here, so that it is comparable between
    questions; unlike s / (s + c) it depends neither on the number of records nor on the length of the question.
    """
    scores = np.asarray(score, np.float64)
    if score_ceiling <= 0.0:
        return np.zeros_like(scores)
    return np.clip(scores, 0.0, score_ceiling) / score_ceiling


def score_documents(documents: Sequence[Sequence[str]], query: Sequence[str], k1: float = K1, b: float = B) -> Floats:
    """
    BM25 of each of `documents` (their terms) for `query`, with these documents as the statistics.

    A repeated query term counts each time. The plain form of the formula, against which an index can be checked.
    """
    total = len(documents)
    counts = [Counter(document) for document in documents]
    lengths = np.array([len(document) for document in documents], np.float64)
    mean_length = float(lengths.mean()) if total else 0.0
    scores = np.zeros(total)
    for term in query:
        tf = np.array([count[term] for count in counts], np.float64)
        scores += term_score(tf, idf(np.count_nonzero(tf), total), lengths, mean_length, k1, b)
    return scores
