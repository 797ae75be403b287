"""
Joins what the arms say of each record into one relevance; each way of doing so is a function of the same form.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from app.domain.ranking.candidates import Bools, Floats


@dataclass(frozen=True, slots=True, eq=False)
class Evidence:
    """
    One arm's signal in [0, 1] for each record, its weight, and which records it could judge at all.
    """

    weight: float
    signal: Floats
    judged: Bools


Fusion = Callable[[Sequence[Evidence], float], Floats]
"""From the arms that ran (at least one) and the rank constant to relevance in [0, 1]."""


def weighted(arms: Sequence[Evidence], _: float) -> Floats:
    """
    The weighted mean of the signals, over the arms that could judge the record.

    A record whose vector is still to be made is thus measured by its words alone instead of counting as unrelated.
    """
    weight: Floats = np.sum([arm.weight * arm.judged for arm in arms], axis=0)
    total: Floats = np.sum([arm.weight * np.where(arm.judged, arm.signal, 0.0) for arm in arms], axis=0)
    mean: Floats = np.divide(total, weight, out=np.zeros_like(total), where=weight > 0.0)
    return np.minimum(1.0, mean, out=mean)


def reciprocal_rank(arms: Sequence[Evidence], rank_constant: float) -> Floats:
    """
    sum w / (k + rank) as a share of what first place in every arm gives; an arm that did not find the record adds 0.

    Ranks forget how good a hit was, so that the best of a bad lot looks like a good one.
    """
    best = sum(arm.weight for arm in arms) / (rank_constant + 1.0)
    total: Floats = np.sum([_reciprocal(arm, rank_constant) for arm in arms], axis=0)
    return total / best if best > 0.0 else np.zeros_like(total)


def _reciprocal(arm: Evidence, rank_constant: float) -> Floats:
    # Equal signals share the better rank, so that the order in which records come in decides nothing.
    rank = 1.0 + np.searchsorted(np.sort(-arm.signal), -arm.signal, side="left")
    return np.where(arm.judged & (arm.signal > 0.0), arm.weight / (rank_constant + rank), 0.0)


FUSIONS: Mapping[str, Fusion] = {"weighted": weighted, "rrf": reciprocal_rank}
