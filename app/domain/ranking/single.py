"""
The scorers of one arm alone, for the modes `lexical` and `semantic` and as the yardstick of the fused one.
"""

import numpy as np

from app.domain.ranking.candidates import Candidates, QueryFacts
from app.domain.ranking.scored import Scored
from app.domain.signals.bm25 import coverage


class LexicalScorer:
    """
    BM25 as a share of what the query could reach, in [0, 1]; ordered as BM25 orders.
    """

    def score(self, candidates: Candidates, facts: QueryFacts) -> Scored:
        score = coverage(candidates.bm25, facts.keyword_ceiling)
        return Scored(score, score > 0.0, {"bm25": candidates.bm25, "keyword": score, "fused": score})


class SemanticScorer:
    """
    Cosine similarity, in [0, 1]; what lies below the floor, or has no vector, is left out.
    """

    def score(self, candidates: Candidates, facts: QueryFacts) -> Scored:
        cosine = np.nan_to_num(candidates.cosine, nan=-1.0)
        score = np.clip(cosine, 0.0, 1.0)
        return Scored(score, cosine >= facts.cosine_floor, {"cosine": candidates.cosine, "fused": score})
