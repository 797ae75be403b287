"""
What goes into a context and what comes out: records as the assembler sees them, and the bill of what became of each.
"""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from app.domain.context.profile import Budget
from app.domain.records import Category, Tier


class Reason(StrEnum):
    """
    Why a record that was read is not in the text.
    """

    BUDGET = "budget"  #: no room was left
    CEILING = "ceiling"  #: the section's own share was used up
    LIMIT = "limit"  #: the section holds as many records as it may
    DUPLICATE = "duplicate"  #: the same record, or the same words, stand elsewhere in the text
    BELOW_MIN_SCORE = "below_min_score"  #: not relevant enough for the section
    EXCLUDED = "excluded"  #: the caller asked to leave it out
    QUERY = "query"  #: it is the very message that is being answered
    EMPTY = "empty"  #: nothing of it can be shown


@dataclass(frozen=True, slots=True)
class ContextItem:
    """
    One record, or one passage of it, that a section may show.

    Times carry the offset of whoever spoke. `score` is None where the record is not there for its relevance.
    `truncated` says that `text` is already a part of a longer text.
    """

    id: str
    tier: Tier
    text: str
    created_at: datetime
    category: Category = Category.GENERAL
    updated_at: datetime | None = None
    occurred_at: datetime | None = None
    speaker: str | None = None
    score: float | None = None
    pinned: bool = False
    truncated: bool = False


@dataclass(frozen=True, slots=True)
class Placed:
    """
    A record in the text. `tokens` are those of its line; `truncated` says that its text was cut.
    """

    id: str
    tier: Tier
    tokens: int
    score: float | None
    truncated: bool


@dataclass(frozen=True, slots=True)
class Dropped:
    """
    A record that was read and is not in the text.
    """

    id: str
    reason: Reason


@dataclass(frozen=True, slots=True)
class SectionBill:
    """
    What one section cost and what became of each record that it read.

    `items` stand in the order of the text. `tokens` is the sum over its lines, heading included, each counted by
    itself; `chars` is the length of its own text. Both are 0 for a section that shows nothing.
    """

    name: str
    tokens: int
    chars: int
    items: tuple[Placed, ...]
    dropped: tuple[Dropped, ...]


@dataclass(frozen=True, slots=True)
class Assembled:
    """
    A finished context.

    `used` measures the whole text in the budget's unit and never exceeds its limit; `tokens` and `chars` measure it in
    both. `prefix` is the beginning of the text that does not change while the stable sections' records do not, and
    `prefix_hash` is the first 16 hex digits of its SHA-256.
    """

    text: str
    prefix: str
    prefix_hash: str
    budget: Budget
    used: int
    tokens: int
    chars: int
    sections: tuple[SectionBill, ...]

    def placed_ids(self) -> tuple[str, ...]:
        """
        The ids of all records in the text.
        """
        return tuple(item.id for section in self.sections for item in section.items)
