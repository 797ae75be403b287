"""
The time signal: how near a record lies to the time that the question speaks of.
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from app.domain.temporal import AgeSpan

Floats = npt.NDArray[np.float64]

HALF_DISTANCE_DAYS = 3.0
"""Distance from a single moment at which nearness halves."""
HALF_DISTANCE_PER_DAY = 0.25
"""How much further that is for each day that the named time is long: "in summer" is vaguer than "on Monday"."""


def nearness(age_days: npt.ArrayLike, spans: Sequence[AgeSpan]) -> Floats:
    """
    2^(-distance / half distance) to the nearest of `spans`, in [0, 1]: 1 inside one, 0 when there is none or no age.
    """
    ages = np.asarray(age_days, np.float64)
    nearest = np.zeros_like(ages)
    for span in spans:
        distance = np.maximum(0.0, np.maximum(ages - span.oldest, span.newest - ages))
        half = HALF_DISTANCE_DAYS + HALF_DISTANCE_PER_DAY * (span.oldest - span.newest)
        nearest = np.fmax(nearest, np.exp2(-distance / half))
    return nearest
