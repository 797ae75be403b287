"""
The postings of one bank in memory: for each term, which units hold it and how often.
"""

from array import array
from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

Ints32 = npt.NDArray[np.int32]


class Terms:
    """
    Postings by term. Units are given by their row; rows are only ever added, in growing order.
    """

    def __init__(self) -> None:
        self._postings: dict[str, tuple[array[int], array[int]]] = {}
        self._numbers = 0

    @property
    def nbytes(self) -> int:
        """
        Bytes taken, about: eight for each posting, and some 300 for each term's own objects.
        """
        return 8 * self._numbers + 300 * len(self._postings)

    def add(self, row: int, terms: Mapping[str, int]) -> None:
        """
        Add one unit's terms.
        """
        for term, tf in terms.items():
            known = self._postings.get(term)
            if known is None:
                known = self._postings[term] = (array("i"), array("i"))
            known[0].append(row)
            known[1].append(tf)
        self._numbers += len(terms)

    def of(self, term: str) -> tuple[Ints32, Ints32] | None:
        """
        The rows that hold a term, and how often each does; None when no unit ever held it.

        The arrays share memory with the postings: they must be let go before the next `add`.
        """
        known = self._postings.get(term)
        if known is None:
            return None
        return np.frombuffer(known[0], np.int32), np.frombuffer(known[1], np.int32)
