"""
Standing instructions that were heard, and what became of each: a rule, a proposal that waits, or neither.
"""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum


class ProposalState(StrEnum):
    """
    What became of an instruction.
    """

    PENDING = "pending"  #: waits for a person
    ACCEPTED = "accepted"  #: a person made it a rule
    REJECTED = "rejected"  #: a person refused it; it is never proposed again
    LEARNED = "learned"  #: somebody who is trusted said it, so that it became a rule at once


@dataclass(frozen=True, slots=True)
class Proposal:
    """
    One instruction. `reason` says why it is no rule yet, or how it became one; `address` is the speaker's channel and
    id there; `observations` counts how often it was heard; `provenance` holds the ids of the records it came from.
    """

    id: str
    text: str
    state: ProposalState
    reason: str
    speaker: str | None
    address: str | None
    provenance: tuple[str, ...]
    observations: int
    created_at: datetime
    updated_at: datetime
