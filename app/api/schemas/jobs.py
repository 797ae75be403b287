"""
Jobs and proposals, as they are shown.
"""

from datetime import datetime
from typing import Any

from msgspec import Struct

from app.domain.consolidation.proposals import Proposal
from app.domain.jobs import Job


class JobOut(Struct, frozen=True):
    """
    One piece of background work. `report` says what a finished one did, `progress` how far a running one is, `error`
    what its last attempt failed with; it is not tried before `run_at`.
    """

    id: str
    kind: str
    bank: str | None
    state: str
    attempts: int
    max_attempts: int
    error: str | None
    created_at: datetime
    run_at: datetime
    started_at: datetime | None
    finished_at: datetime | None
    progress: dict[str, Any] | None
    report: dict[str, Any] | None


class Enqueued(Struct, frozen=True):
    """
    The job that stands for what was asked.
    """

    job_id: str


class AllEnqueued(Struct, frozen=True):
    """
    The jobs that stand for what was asked; none where there is nothing to do.
    """

    job_ids: list[str]


class ProposalOut(Struct, frozen=True):
    """
    An instruction that was heard: `pending` until a person accepts or rejects it; `learned` ones became rules at once.
    """

    id: str
    text: str
    state: str
    reason: str
    speaker: str | None
    address: str | None
    provenance: tuple[str, ...]
    observations: int
    created_at: datetime
    updated_at: datetime


def job_out(item: Job) -> JobOut:
    """
    A job as it is shown.
    """
    return JobOut(
        id=item.id,
        kind=item.kind,
        bank=item.bank,
        state=item.state,
        attempts=item.attempts,
        max_attempts=item.max_attempts,
        error=item.error,
        created_at=item.created_at,
        run_at=item.run_at,
        started_at=item.started_at,
        finished_at=item.finished_at,
        progress=item.progress,
        report=item.report,
    )


def proposal_out(item: Proposal) -> ProposalOut:
    """
    A proposal as it is shown.
    """
    return ProposalOut(
        id=item.id,
        text=item.text,
        state=item.state,
        reason=item.reason,
        speaker=item.speaker,
        address=item.address,
        provenance=item.provenance,
        observations=item.observations,
        created_at=item.created_at,
        updated_at=item.updated_at,
    )
