"""
The recency signal: how much of a score age leaves.
"""

import numpy as np
import numpy.typing as npt

from app.domain.records import Category

Floats = npt.NDArray[np.float64]

HALF_LIFE_FACTORS = {
    Category.PREFERENCE: 4.0,
    Category.FACT: 2.0,
    Category.BEHAVIOR: 1.0,
    Category.GENERAL: 1.0,
    Category.CONTEXT: 0.5,
}
"""How many times the usual half-life each category has: taste outlives plans."""

_FACTORS = np.array([HALF_LIFE_FACTORS[category] for category in Category])


def half_lives(category: npt.ArrayLike, pinned: npt.ArrayLike, half_life_days: float) -> Floats:
    """
    Half-life in days of each record; `category` indexes `tuple(Category)`. What is pinned does not age.
    """
    factors = _FACTORS[np.asarray(category, np.int64)]
    return np.where(np.asarray(pinned, bool), np.inf, half_life_days * factors)


def recency(age_days: npt.ArrayLike, half_life_days: npt.ArrayLike, floor: float = 0.0) -> Floats:
    """
    floor + (1 - floor) * 2^(-age / half-life), in [floor, 1].

    The floor is approached, not met, so that of two old records the newer stays ahead. An age below 0 counts as 0.
    """
    ages = np.maximum(0.0, np.asarray(age_days, np.float64))
    return floor + (1.0 - floor) * np.exp2(-ages / np.asarray(half_life_days, np.float64))
