"""
The corroboration signal: how often a statement was made again.
"""

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

FULL_CORROBORATION = 8
"""Repetitions at which the share is full."""


def repetitions(observations: npt.ArrayLike) -> Floats:
    """
    How often a record was stated beyond the first time, at least 0.
    """
    return np.maximum(0.0, np.asarray(observations, np.float64) - 1.0)


def share(observations: npt.ArrayLike) -> Floats:
    """
    ln(1 + repetitions) / ln(1 + FULL_CORROBORATION), in [0, 1].
    """
    filled: Floats = np.log1p(repetitions(observations)) / np.log1p(FULL_CORROBORATION)
    return np.clip(filled, 0.0, 1.0)
