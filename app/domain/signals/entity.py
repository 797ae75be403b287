"""
The entity signal: which named people, places and things a query and a record share.
"""

from collections.abc import Collection

import numpy as np
import numpy.typing as npt

from app.domain.text.tokenize import split_words

Floats = npt.NDArray[np.float64]


def hits(query: Collection[str], record: Collection[str]) -> int:
    """
    How many of the query's handles the record bears.
    """
    return len(set(query) & set(record))


def token_hits(query_words: Collection[str], record: Collection[str]) -> int:
    """
    How many words of the record's handles the query holds; a handle of two words can count twice (the `iii` preset).
    """
    asked = set(query_words)
    return sum(word in asked for handle in record for word in split_words(handle))


def evidence(handle_hits: npt.ArrayLike, each: float, most: int) -> Floats:
    """
    `each` for every handle that is shared, up to `most` of them.
    """
    return each * np.clip(np.asarray(handle_hits, np.float64), 0.0, most)
