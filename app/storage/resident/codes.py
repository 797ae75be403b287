"""
Vectors as signed bytes: a quarter of the memory to read, for a scan that leaves few rows to compare exactly.
"""

from collections.abc import Sequence

import numkong
import numpy as np
import numpy.typing as npt

from app.storage.resident.columns import Growing

Singles = npt.NDArray[np.float32]
Bools = npt.NDArray[np.bool_]
Ints = npt.NDArray[np.int64]

LEVELS = 127
# Rounding errors of the components are independent and uniform in half a step, so that their sum over a vector of
# unit length has a standard deviation of step / sqrt(12). Six of them are passed once in a thousand million rows.
MARGIN = 6.0 / 12.0**0.5


class Codes:
    """
    One row of bytes for each vector, with its step: component = byte * step. A row that was never put is all zero.
    """

    def __init__(self, dimensions: int) -> None:
        self._codes = Growing(np.int8, dimensions)
        self._step = Growing(np.float32)

    @property
    def nbytes(self) -> int:
        """
        Bytes taken, the spare room included.
        """
        return self._codes.nbytes + self._step.nbytes

    def grow(self, rows: int) -> None:
        """
        Add rows that hold no vector yet.
        """
        self._codes.append(np.zeros((rows, self._codes.view.shape[1]), np.int8))
        self._step.append(np.zeros(rows, np.float32))

    def put(self, rows: Sequence[int], vectors: Singles) -> None:
        """
        Set the vectors of rows.
        """
        codes, step = _coded(vectors)
        self._codes.view[rows] = codes
        self._step.view[rows] = step

    def within_reach(self, vector: Singles, rows: Ints, k: int) -> Ints:
        """
        Those of the rows that can be among the `k` nearest to a vector of unit length, by what rounding leaves open.
        """
        if len(rows) <= k:
            return rows
        codes, step = _coded(vector[None])
        dots = np.asarray(numkong.cdist(codes, self._codes.view, "dot"))[0]
        steps = self._step.view
        if len(rows) < len(steps):
            dots, steps = dots[rows], steps[rows]
        near = dots * steps * float(step[0])
        reach = near + MARGIN * steps
        least = near - MARGIN * steps
        threshold = np.partition(least, len(least) - k)[len(least) - k] - 2.0 * MARGIN * float(step[0])
        found: Ints = rows[reach >= threshold]
        return found


def _coded(vectors: Singles) -> tuple[npt.NDArray[np.int8], Singles]:
    step = np.max(np.abs(vectors), axis=1) / LEVELS
    scaled = np.divide(vectors, step[:, None], out=np.zeros_like(vectors), where=step[:, None] > 0.0)
    return np.rint(scaled).astype(np.int8), step.astype(np.float32)
