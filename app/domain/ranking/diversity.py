"""
Maximal marginal relevance: chooses results one by one, each for its score and for what it adds to those before it.
"""

import numpy as np
import numpy.typing as npt

from app.domain.ranking.candidates import Floats


def marginal_relevance(
    score: Floats, vectors: npt.NDArray[np.float32], limit: int, weight: float, similar_above: float = 0.0
) -> Floats:
    """
    weight * score - (1 - weight) * the greatest cosine to a record chosen earlier, at the time each record is chosen.

    Sorted by it, the first `limit` records are the choice; the others follow with what they would add to it. `vectors`
    are of unit length or zero. A cosine up to `similar_above` counts as 0, so that only closer records stand in each
    other's way. `weight` lies in [0, 1]; 1 leaves the scores as they are.
    """
    closest = np.zeros(len(score))
    value = weight * score
    chosen = np.zeros(len(score), bool)
    for _ in range(min(limit, len(score))):
        best = int(np.argmax(np.where(chosen, -np.inf, value)))
        chosen[best] = True
        similarity = np.clip((vectors @ vectors[best]).astype(np.float64), -1.0, 1.0)
        similarity[similarity <= similar_above] = 0.0
        closest = np.maximum(closest, similarity)
        value = np.where(chosen, value, weight * score - (1.0 - weight) * closest)
    return value
