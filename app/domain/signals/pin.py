"""
The pin signal: somebody marked the record as important.
"""

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]


def bonus(pinned: npt.ArrayLike, weight: float) -> Floats:
    """
    `weight` for a pinned record, else 0.
    """
    return weight * np.asarray(pinned, bool)
