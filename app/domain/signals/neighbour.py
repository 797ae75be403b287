"""
The neighbour signal: an answer often follows the turn that holds the question's words.
"""

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]


def lift(own: npt.ArrayLike, previous: npt.ArrayLike, share: float) -> Floats:
    """
    `own` relevance raised by `share` of what the previous turn of the same session has beyond it.

    A record that is better than the turn before it is left alone, so that an exact hit keeps its place; a plain sum
    would push what follows a good hit past other good hits.
    """
    itself = np.asarray(own, np.float64)
    return itself + share * np.maximum(0.0, np.asarray(previous, np.float64) - itself)
