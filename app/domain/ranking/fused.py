"""
The default scorer: how much of the question a record answers by word, topic and meaning, with what else speaks for it.

Stages, each a line of `FusedScorer.score`: what the arms say (`fusion`), what the previous turn adds, further evidence,
the gate, and what of a record itself raises or lowers its score.
"""

from dataclasses import dataclass

import numpy as np

from app.domain.ranking.candidates import Arm, Candidates, Floats, QueryFacts
from app.domain.ranking.diversity import marginal_relevance
from app.domain.ranking.fusion import FUSIONS, Evidence
from app.domain.ranking.scored import Scored
from app.domain.signals import bm25, confidence, corroboration, cosine, entity, neighbour, pin, recency, usage


@dataclass(frozen=True, slots=True)
class FusedParams:
    """
    The constants of the fused score. Relevance lies in [0, 1]; a bonus or a reach is on its scale.
    """

    fusion: str = "weighted"
    """Name in `FUSIONS`. The weighted mean keeps how good each hit is, by which unrelated records can be told."""
    rank_constant: float = 60.0
    """k of reciprocal rank fusion."""
    keyword_weight: float = 0.60
    """Words found again say more of a record than closeness in meaning does."""
    semantic_weight: float = 0.40
    neighbour_share: float = 0.60
    """Share of the previous turn's excess that passes on to its answer."""
    agreement_bonus: float = 0.0
    """For each further arm that found the record. The mean rewards agreement already, and more moves no measure up."""
    cluster_reach: float = 0.10
    """Relevance to which sharing all topics lifts: enough to be found, never enough to pass a record that answers."""
    entity_reach: float = 0.06
    """Relevance to which each shared handle lifts; as a bonus to all that bear a name it drowns what is asked of it."""
    entity_reach_max: int = 2
    """Most handles that count."""
    time_bonus: float = 0.15
    """For lying in the time asked for."""
    gate: float = 0.04
    """Relevance below which a record is no answer: less than one word in ten, where words are all there is."""
    speaker_bonus: float = 0.12
    """For being said by the person asked about. It comes after the gate: who speaks does not make a record relevant."""
    pinned_bonus: float = 0.10
    """Share of its own relevance that a record gains, as from the next two: standing settles between close records."""
    corroboration_bonus: float = 0.05
    usage_bonus: float = 0.05
    recency_floor: float = 0.98
    """Least that age leaves: of two records as relevant the newer leads, and an old answer still beats new chatter."""
    diversity: float = 1.0
    """Weight of the score in maximal marginal relevance; 1 leaves the order to the score."""
    near_identical: float = 0.95
    """Cosine above which two records stand in each other's way."""


class FusedScorer:
    """
    min(1, relevance * (1 + bonuses)) * recency * (0.5 + 0.5 * confidence), in [0, 1].

    It rises with every signal and falls with age. An arm that did not run has no say.
    """

    def __init__(self, params: FusedParams = FusedParams()) -> None:
        self._params = params
        self._fuse = FUSIONS[params.fusion]

    def score(self, candidates: Candidates, facts: QueryFacts) -> Scored:
        params = self._params
        keyword = bm25.coverage(candidates.bm25, facts.keyword_ceiling)
        semantic = cosine.above_floor(candidates.cosine, facts.cosine_floor)
        clusters = candidates.cluster if Arm.CLUSTER in facts.arms else np.zeros(len(candidates))
        own = self._own(keyword, semantic, candidates.cosine, facts)
        lifted = neighbour.lift(own, self._previous(candidates, facts), params.neighbour_share)
        found = _arms_hit(keyword, semantic, clusters, facts)
        agreement = params.agreement_bonus * np.maximum(0, found - 1)
        reach = np.maximum(
            params.cluster_reach * clusters,
            entity.evidence(candidates.entity, params.entity_reach, params.entity_reach_max),
        )
        relevance = np.maximum(lifted + agreement, reach) + params.time_bonus * candidates.time
        keep = relevance >= params.gate
        relevance = np.minimum(1.0, relevance + params.speaker_bonus * candidates.speaker)

        used = usage.ramp(candidates.access_count) * usage.maturity(facts.bank_accesses, facts.maturity_accesses)
        bonus = (
            pin.bonus(candidates.pinned, params.pinned_bonus)
            + params.corroboration_bonus * corroboration.share(candidates.observations)
            + params.usage_bonus * used
        )
        half_lives = recency.half_lives(candidates.category, candidates.pinned, facts.half_life_days)
        age = np.minimum(candidates.created_age_days, candidates.updated_age_days)
        fresh = recency.recency(age, half_lives, params.recency_floor)
        trust = confidence.multiplier(candidates.confidence)
        score = np.minimum(1.0, relevance * (1.0 + bonus)) * fresh * trust
        signals = {
            "bm25": candidates.bm25,
            "cosine": candidates.cosine,
            "keyword": keyword,
            "semantic": semantic,
            "cluster": clusters,
            "entity": candidates.entity.astype(np.float64),
            "neighbour": lifted - own,
            "agreement": agreement,
            "time": candidates.time,
            "speaker": candidates.speaker,
            "relevance": relevance,
            "usage": used,
            "pinned": candidates.pinned.astype(np.float64),
            "bonus": bonus,
            "recency": fresh,
            "confidence": trust,
            "arms_hit": found.astype(np.float64),
            "fused": score,
        }
        return Scored(score, keep, signals, self._preference(candidates, facts, score))

    def _own(self, keyword: Floats, semantic: Floats, cosines: Floats, facts: QueryFacts) -> Floats:
        arms = []
        if Arm.KEYWORD in facts.arms:
            arms.append(Evidence(self._params.keyword_weight, keyword, np.ones(len(keyword), bool)))
        if Arm.SEMANTIC in facts.arms:
            arms.append(Evidence(self._params.semantic_weight, semantic, ~np.isnan(cosines)))
        return self._fuse(arms, self._params.rank_constant) if arms else np.zeros(len(keyword))

    def _previous(self, candidates: Candidates, facts: QueryFacts) -> Floats:
        keyword = bm25.coverage(candidates.previous_bm25, facts.keyword_ceiling)
        semantic = cosine.above_floor(candidates.previous_cosine, facts.cosine_floor)
        return self._own(keyword, semantic, candidates.previous_cosine, facts)

    def _preference(self, candidates: Candidates, facts: QueryFacts, score: Floats) -> Floats | None:
        params = self._params
        if params.diversity >= 1.0 or candidates.vectors is None:
            return None
        return marginal_relevance(score, candidates.vectors, facts.limit, params.diversity, params.near_identical)


def _arms_hit(keyword: Floats, semantic: Floats, clusters: Floats, facts: QueryFacts) -> Floats:
    signals = {Arm.KEYWORD: keyword, Arm.SEMANTIC: semantic, Arm.CLUSTER: clusters}
    hits = np.zeros(len(keyword))
    for arm in signals.keys() & facts.arms:
        hits += signals[arm] > 0.0
    return hits
