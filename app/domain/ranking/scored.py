"""
What a scorer answers, and the protocol by which it is asked.
"""

from dataclasses import dataclass
from typing import Protocol

from app.domain.ranking.candidates import Bools, Candidates, Floats, QueryFacts


@dataclass(frozen=True, slots=True, eq=False)
class Scored:
    """
    One value for each candidate.

    `keep` is false for a record that is no answer, however few the answers are. `signals` name what the score was made
    of. `preference` orders the records where the scorer chose each in view of those before it; else the score does.
    """

    score: Floats
    keep: Bools
    signals: dict[str, Floats]
    preference: Floats | None = None

    @property
    def order_by(self) -> Floats:
        """
        The values by which the candidates are ordered, greatest first.
        """
        return self.score if self.preference is None else self.preference


class Scorer(Protocol):
    """
    Gives candidates their scores.
    """

    def score(self, candidates: Candidates, facts: QueryFacts) -> Scored:
        """
        Score all candidates of one query; depends on nothing but its arguments.
        """
        ...
