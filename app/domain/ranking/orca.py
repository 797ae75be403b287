"""
The `orca` scorer: recency, usage and topic in fixed shares, times confidence, as the Orca memory bank weighs them.

What the bank's document leaves open is settled here: usage is a logarithmic ramp that is full at 50 accesses, the share
that an immature usage gives up goes to recency and topic in their proportion, and topic is word overlap plus 0.4 of the
clusters in common, at most 1. Every candidate is kept: in this scheme a fresh record needs no topic to count.
"""

from dataclasses import dataclass

import numpy as np

from app.domain.ranking.candidates import Arm, Candidates, QueryFacts
from app.domain.ranking.scored import Scored
from app.domain.signals import confidence, recency, usage


@dataclass(frozen=True, slots=True)
class OrcaParams:
    """
    The constants of the original. Weights sum to 1.
    """

    recency_weight: float = 0.35
    usage_weight: float = 0.30
    topic_weight: float = 0.35
    half_life_days: float = 30.0
    maturity_accesses: int = 50
    cluster_share: float = 0.4


class OrcaScorer:
    """
    (wR * recency + wU * usage + wT * topic) * (0.5 + 0.5 * confidence), in [0, 1].

    Age counts from the later of creation and last access.
    """

    def __init__(self, params: OrcaParams = OrcaParams()) -> None:
        self._params = params

    def score(self, candidates: Candidates, facts: QueryFacts) -> Scored:
        params = self._params
        mature = usage.maturity(facts.bank_accesses, params.maturity_accesses)
        usage_weight = params.usage_weight * mature
        slack = params.usage_weight - usage_weight
        rest = params.recency_weight + params.topic_weight
        recency_weight = params.recency_weight + slack * params.recency_weight / rest
        topic_weight = params.topic_weight + slack * params.topic_weight / rest

        age = np.fmin(candidates.created_age_days, candidates.accessed_age_days)
        fresh = recency.recency(age, params.half_life_days)
        used = usage.usage(candidates.access_count)
        clusters = candidates.cluster if Arm.CLUSTER in facts.arms else np.zeros(len(candidates))
        topic = np.minimum(1.0, candidates.topic + params.cluster_share * clusters)
        trust = confidence.multiplier(candidates.confidence)
        score = (recency_weight * fresh + usage_weight * used + topic_weight * topic) * trust
        signals = {"recency": fresh, "usage": used, "topic": topic, "confidence": trust, "fused": score}
        return Scored(score, np.ones(len(candidates), bool), signals)
