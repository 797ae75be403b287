"""
The registry of scorers by the names that configuration and requests use.
"""

from collections.abc import Callable, Mapping

from app.domain.ranking.fused import FusedParams, FusedScorer
from app.domain.ranking.iii import IiiScorer
from app.domain.ranking.orca import OrcaScorer
from app.domain.ranking.orcbot import OrcbotScorer
from app.domain.ranking.scored import Scorer
from app.domain.ranking.single import LexicalScorer, SemanticScorer

SCORERS: Mapping[str, Callable[[FusedParams], Scorer]] = {
    "fused": FusedScorer,
    "orca": lambda _: OrcaScorer(),
    "orcbot": lambda _: OrcbotScorer(),
    "iii": lambda _: IiiScorer(),
    "lexical": lambda _: LexicalScorer(),
    "semantic": lambda _: SemanticScorer(),
}
"""Each makes a scorer; the constants given reach `fused` alone, since the presets keep those of their originals."""
