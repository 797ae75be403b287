"""
What all questions to one version of a bank have in common, made once a version: who is alive, and the lengths' part in
BM25.
"""

import numpy as np
import numpy.typing as npt

from app.domain.signals.bm25 import length_norm

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]

NEVER = np.iinfo(np.int64).max


class Standing:
    """
    Masks over the rows and units of a bank; `expires`, `retired` and `deleted` are of rows, the others of units.

    `present` are the rows that are neither deleted nor superseded, whatever the clock says of their expiry, and
    `unit_present` their units that are in use. `unit_indexed` are all units in use, `unit_counted` those that the
    statistics of the bank count, None where that is every one.
    """

    def __init__(
        self,
        expires: Ints,
        retired: Ints,
        deleted: Bools,
        unit_row: Ints,
        unit_gone: Bools,
        unit_length: Ints,
    ) -> None:
        is_current = retired == NEVER
        self.first_expiry = int(expires.min()) if len(expires) else NEVER
        self.present = is_current & ~deleted
        self.unit_indexed = ~unit_gone
        self.unit_present = self.present[unit_row] & self.unit_indexed
        counted = is_current[unit_row] & self.unit_indexed
        self.unit_counted: Bools | None = None if counted.all() else counted
        self._lengths = unit_length
        self._mean = -1.0
        self._norm = np.zeros(0)

    def norm(self, mean: float) -> Floats:
        """
        The `length_norm` of every unit where the mean length is `mean`.
        """
        if self._mean != mean:
            self._mean, self._norm = mean, length_norm(self._lengths, mean)
        return self._norm
