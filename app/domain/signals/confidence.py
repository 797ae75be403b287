"""
The confidence signal: how far a record is believed.
"""

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

NAMED = {"stated": 1.0, "extracted": 0.8, "inferred": 0.5}
"""Confidence of records that come with a word for it instead of a number."""


def multiplier(confidence: npt.ArrayLike) -> Floats:
    """
    0.5 + 0.5 * confidence, in [0.5, 1]: doubt halves a score at most. Confidence is taken into [0, 1] first.
    """
    return 0.5 + 0.5 * np.clip(np.asarray(confidence, np.float64), 0.0, 1.0)
