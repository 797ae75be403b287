"""
The usage signal: how often a record was recalled, and how far a bank's counts may be trusted.
"""

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

BASELINE = 0.6
"""Usage of a record that was never recalled, where usage is one of the main terms."""
FULL_ACCESSES = 50
"""Accesses at which the ramp is full."""


def ramp(accesses: npt.ArrayLike) -> Floats:
    """
    ln(1 + n) / ln(1 + FULL_ACCESSES), in [0, 1].
    """
    counts = np.maximum(0.0, np.asarray(accesses, np.float64))
    filled: Floats = np.log1p(counts) / np.log1p(FULL_ACCESSES)
    return np.clip(filled, 0.0, 1.0)


def usage(accesses: npt.ArrayLike) -> Floats:
    """
    The same ramp from BASELINE to 1.
    """
    return BASELINE + (1.0 - BASELINE) * ramp(accesses)


def maturity(bank_accesses: float, full_at: float = FULL_ACCESSES) -> float:
    """
    How far a bank's access counts say anything, in [0, 1]: full at `full_at` accesses of all its records together.
    """
    return min(1.0, max(0.0, bank_accesses) / full_at)
