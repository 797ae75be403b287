"""
The `orcbot` scorer: cosine and BM25 in proportion to the best hit, a mild decay, a spread choice, and recency once
more.
"""

from dataclasses import dataclass

import numpy as np

from app.domain.ranking.candidates import Arm, Bools, Candidates, Floats, QueryFacts
from app.domain.ranking.diversity import marginal_relevance
from app.domain.ranking.scored import Scored


@dataclass(frozen=True, slots=True)
class OrcbotParams:
    """
    The constants of the original. Its decay of 0.099 a day is a half-life of 7.0 days; the boost falls to 1/e in 3
    days.
    """

    semantic_weight: float = 0.60
    keyword_weight: float = 0.40
    decay_floor: float = 0.75
    decay_per_day: float = 0.099
    diversity: float = 0.65
    boost_share: float = 0.20
    boost_days: float = 3.0


class OrcbotScorer:
    """
    hybrid = (0.60 cos + 0.40 bm25 / best bm25) * (0.75 + 0.25 e^(-0.099 days)); score = 0.8 hybrid + 0.2 e^(-days / 3).

    Without vectors the bracket is bm25 / best bm25. Age counts from when the record was stored. With more candidates
    than `limit`, only as many are kept, chosen by maximal marginal relevance of `hybrid` where vectors are at hand. A
    cosine below 0 counts as 0, so that the score lies in [0, 1].
    """

    def __init__(self, params: OrcbotParams = OrcbotParams()) -> None:
        self._params = params

    def score(self, candidates: Candidates, facts: QueryFacts) -> Scored:
        params, nothing = self._params, np.zeros(len(candidates))
        bm25 = candidates.bm25 if Arm.KEYWORD in facts.arms else nothing
        best = float(bm25.max(initial=0.0))
        keyword = bm25 / best if best > 0.0 else nothing
        if Arm.SEMANTIC in facts.arms:
            semantic = np.clip(np.nan_to_num(candidates.cosine, nan=0.0), 0.0, 1.0)
            mixed = params.semantic_weight * semantic + params.keyword_weight * keyword
        else:
            semantic, mixed = nothing, keyword
        age = np.maximum(0.0, candidates.created_age_days)
        fresh = params.decay_floor + (1.0 - params.decay_floor) * np.exp(-params.decay_per_day * age)
        hybrid = mixed * fresh
        score = (1.0 - params.boost_share) * hybrid + params.boost_share * np.exp(-age / params.boost_days)
        signals = {"keyword": keyword, "semantic": semantic, "recency": fresh, "hybrid": hybrid, "fused": score}
        return Scored(score, self._chosen(candidates, facts, hybrid), signals)

    def _chosen(self, candidates: Candidates, facts: QueryFacts, hybrid: Floats) -> Bools:
        keep = hybrid > 0.0
        if candidates.vectors is None or len(candidates) <= facts.limit:
            return keep
        value = marginal_relevance(hybrid, candidates.vectors, facts.limit, self._params.diversity)
        chosen = np.zeros(len(candidates), bool)
        chosen[np.argsort(-value, kind="stable")[: facts.limit]] = True
        return keep & chosen
