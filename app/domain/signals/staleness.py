"""
Staleness: how likely a memory is to be out of date. It is shown to people and does not gate recall.
"""

import numpy as np
import numpy.typing as npt

from app.domain.records import Category

Floats = npt.NDArray[np.float64]

CATEGORY_WEIGHTS = {
    Category.PREFERENCE: 0.5,
    Category.FACT: 0.7,
    Category.BEHAVIOR: 1.0,
    Category.CONTEXT: 1.5,
    Category.GENERAL: 1.0,
}
"""How fast each category goes stale."""

_WEIGHTS = np.array([CATEGORY_WEIGHTS[category] for category in Category])
_PER_DAY, _PER_DECADE_OF_ACCESSES, _PER_DOUBT = 0.05, 0.2, 0.3


def staleness(
    category: npt.ArrayLike, days_since_access: npt.ArrayLike, access_count: npt.ArrayLike, confidence: npt.ArrayLike
) -> Floats:
    """
    (days * 0.05 - log10(accesses + 1) * 0.2 + (1 - confidence) * 0.3) * category weight, cut to [0, 1].

    `category` indexes `tuple(Category)`; a record that was never accessed counts its days from its creation.
    """
    days = np.maximum(0.0, np.asarray(days_since_access, np.float64))
    accesses = np.maximum(0.0, np.asarray(access_count, np.float64))
    doubt = 1.0 - np.clip(np.asarray(confidence, np.float64), 0.0, 1.0)
    raw = days * _PER_DAY - np.log10(accesses + 1.0) * _PER_DECADE_OF_ACCESSES + doubt * _PER_DOUBT
    weighted: Floats = raw * _WEIGHTS[np.asarray(category, np.int64)]
    return np.clip(weighted, 0.0, 1.0)
