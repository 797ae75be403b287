"""
What a context is made of: its sections, their shares of the budget, and how it is written out.
"""

from collections.abc import Collection
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Protocol

from app.domain.records import Tier
from app.errors import InvalidInput


class SectionSource(StrEnum):
    """
    What fills a section.
    """

    CORE = "core"  #: what always applies
    MEMORIES = "memories"  #: recalled by the query
    EPISODES = "episodes"  #: summaries recalled by the query
    RECENT = "recent"  #: the newest messages


class SectionOrder(StrEnum):
    """
    The order in which a section's records are written. Its room is always given in the order of its source.
    """

    RANKED = "ranked"  #: as the source gave them, best first
    CHRONOLOGICAL = "chronological"  #: oldest first


class Unit(StrEnum):
    """
    What a budget is counted in.
    """

    TOKENS = "tokens"
    CHARS = "chars"


class TokenCounter(Protocol):
    """
    Counts the tokens of a text for one family of models.
    """

    @property
    def name(self) -> str:
        """
        What is counted with.
        """
        ...

    def count(self, text: str) -> int:
        """
        Tokens of any text, 0 for the empty one.
        """
        ...


@dataclass(frozen=True, slots=True)
class Budget:
    """
    The most that the whole text may measure, wrapper, headings and bullets included.

    Raises:
        InvalidInput: when the limit is negative.
    """

    limit: int
    unit: Unit

    def __post_init__(self) -> None:
        if self.limit < 0:
            raise InvalidInput.of(f"budget.{self.unit}", f"must not be negative, got {self.limit}")


@dataclass(frozen=True, slots=True)
class SectionSpec:
    """
    One section.

    `floor` and `ceiling` are shares of the whole budget in [0, 1]: the first is kept for the section while others want
    it, the second is the most it takes, its heading included. `limit` counts records, `min_score` is the least recall
    score, `item_max` the most characters of one record. Of the sections, the one with the smallest `drop` is trimmed
    first. `tiers` are those that a recalled section draws from. A `stable` section keeps its text while its own records
    do not change, so that a model's prompt cache holds.
    """

    name: str
    source: SectionSource
    title: str
    floor: float = 0.0
    ceiling: float = 1.0
    limit: int = 8
    min_score: float = 0.0
    drop: int = 1
    order: SectionOrder = SectionOrder.RANKED
    item_max: int = 1500
    tiers: frozenset[Tier] = frozenset()
    stable: bool = False


@dataclass(frozen=True, slots=True)
class Profile:
    """
    A named way to build a context: sections in the order in which they are written, a layout, a budget to fall back on,
    and the scorer of its recall (None for the usual one).
    """

    name: str
    layout: str
    sections: tuple[SectionSpec, ...]
    budget: Budget
    scorer: str | None = None

    def keeping(self, names: Collection[str]) -> "Profile":
        """
        The same profile with only the named sections.

        Raises:
            InvalidInput: when it has no section of one of the names.
        """
        known = [section.name for section in self.sections]
        unknown = sorted(set(names).difference(known))
        if unknown:
            raise InvalidInput.of(
                "sections",
                f"profile {self.name!r} has no section {', '.join(map(repr, unknown))} (it has: {', '.join(known)})",
            )
        return replace(self, sections=tuple(section for section in self.sections if section.name in names))
