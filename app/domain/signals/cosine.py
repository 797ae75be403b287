"""
The semantic signal: cosine similarity that is safe for any vector, and what of it lies above a model's floor.
"""

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]


def unit(vectors: npt.ArrayLike) -> Floats:
    """
    Vectors (the last axis) scaled to length 1; one that is zero or holds a NaN or an infinity becomes zero.
    """
    given = np.asarray(vectors, np.float64)
    if given.size == 0:
        return given.copy()
    largest = np.max(np.abs(given), axis=-1, keepdims=True)
    usable = np.isfinite(largest) & (largest > 0.0)
    # Dividing by the largest component first keeps the squares from overflowing or vanishing.
    scaled = np.divide(given, largest, out=np.zeros_like(given), where=usable)
    norm = np.sqrt(np.sum(scaled * scaled, axis=-1, keepdims=True))
    units: Floats = np.divide(scaled, norm, out=np.zeros_like(scaled), where=norm > 0.0)
    return units


def cosine_similarity(vectors: npt.ArrayLike, query: npt.ArrayLike) -> Floats:
    """
    Cosine similarity in [-1, 1] of each row of `vectors` with one query vector; 0 where either side has no direction.

    Vectors of another dimension than the query's have nothing in common with it: 0.
    """
    many, one = np.atleast_2d(np.asarray(vectors, np.float64)), np.asarray(query, np.float64)
    if one.shape[-1] != many.shape[-1]:
        return np.zeros(len(many))
    return np.clip(unit(many) @ unit(one), -1.0, 1.0)


def unit_cosine(vectors: npt.ArrayLike, query: npt.ArrayLike) -> Floats:
    """
    `cosine_similarity` for vectors that are of unit length already, or zero, as stored ones are; in double precision.
    """
    return np.clip(np.asarray(vectors, np.float64) @ np.asarray(query, np.float64), -1.0, 1.0)


def above_floor(similarity: npt.ArrayLike, floor: float) -> Floats:
    """
    (cosine - floor) / (1 - floor) in [0, 1]: 0 at the cosine below which texts are unrelated, and where it is NaN.
    """
    values = np.nan_to_num(np.asarray(similarity, np.float64), nan=-1.0)
    if floor >= 1.0:
        return (values >= 1.0).astype(np.float64)
    return np.clip((values - floor) / (1.0 - floor), 0.0, 1.0)
