"""
The `iii` scorer: BM25, entities, corroboration and pin aged together, with meaning added on top, as the iii worker
does.

Its score has no upper bound. The pin, entity and corroboration terms reach any candidate, so that a pinned record of
weak meaning passes an unpinned one of strong meaning; that is kept, since the preset exists for comparison.
"""

from dataclasses import dataclass

import numpy as np

from app.domain.ranking.candidates import Arm, Candidates, QueryFacts
from app.domain.ranking.scored import Scored
from app.domain.signals import corroboration, pin


@dataclass(frozen=True, slots=True)
class IiiParams:
    """
    The constants of the original.
    """

    entity_weight: float = 0.6
    corroboration_weight: float = 0.3
    pinned_bonus: float = 0.75
    recency_floor: float = 0.35
    half_life_days: float = 60.0
    semantic_weight: float = 2.2
    cosine_floor: float = 0.25


class IiiScorer:
    """
    (bm25 + 0.6 E + 0.3 ln(1 + corroboration) + 0.75 if pinned) * max(0.35, 0.5^(age / half-life)) + 2.2 cos above 0.25.

    Age counts from the last update, the half-life is at least a day. A record needs a keyword hit or a cosine above the
    floor to be kept.
    """

    def __init__(self, params: IiiParams = IiiParams()) -> None:
        self._params = params

    def score(self, candidates: Candidates, facts: QueryFacts) -> Scored:
        params, nothing = self._params, np.zeros(len(candidates))
        bm25 = candidates.bm25 if Arm.KEYWORD in facts.arms else nothing
        cosine = np.nan_to_num(candidates.cosine, nan=-1.0) if Arm.SEMANTIC in facts.arms else nothing - 1.0
        means = cosine > params.cosine_floor
        base = (
            bm25
            + params.entity_weight * candidates.entity
            + params.corroboration_weight * np.log1p(corroboration.repetitions(candidates.observations))
            + pin.bonus(candidates.pinned, params.pinned_bonus)
        )
        age = np.maximum(0.0, candidates.updated_age_days)
        fresh = np.maximum(params.recency_floor, np.exp2(-age / max(1.0, params.half_life_days)))
        semantic = np.where(means, params.semantic_weight * cosine, 0.0)
        score = base * fresh + semantic
        signals = {
            "bm25": bm25,
            "cosine": candidates.cosine,
            "entity": candidates.entity.astype(np.float64),
            "pinned": candidates.pinned.astype(np.float64),
            "recency": fresh,
            "semantic": semantic,
            "fused": score,
        }
        return Scored(score, (bm25 > 0.0) | means, signals)
