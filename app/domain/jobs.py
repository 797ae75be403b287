"""
Background work as values: what a job is, which states it passes through, and when a failed one is tried again.
"""

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any


class JobState(StrEnum):
    """
    Where a job stands.
    """

    QUEUED = "queued"  #: waits for its time and for a worker
    RUNNING = "running"  #: a worker holds its lease
    DONE = "done"  #: its effects are stored
    FAILED = "failed"  #: given up; only a person tries it again
    CANCELLED = "cancelled"  #: stopped by a person


@dataclass(frozen=True, slots=True)
class NewJob:
    """
    Work to be done. Of jobs with the same `dedupe_key` only one waits or runs at a time.

    `delay_s` seconds pass before it may start; smaller `priority` goes first.
    """

    kind: str
    bank_id: int | None = None
    payload: dict[str, Any] = field(default_factory=dict)
    dedupe_key: str | None = None
    priority: int = 0
    delay_s: float = 0.0
    max_attempts: int = 5


@dataclass(frozen=True, slots=True)
class Job:
    """
    A stored job. `attempts` counts the starts; `report` says what a finished one did.
    """

    id: str
    kind: str
    bank_id: int | None
    bank: str | None
    payload: dict[str, Any]
    state: JobState
    attempts: int
    max_attempts: int
    error: str | None
    progress: dict[str, Any] | None
    report: dict[str, Any] | None
    created_at: datetime
    run_at: datetime
    started_at: datetime | None
    finished_at: datetime | None
    worker: str | None = None


def retry_delay_s(attempts: int, first_s: float, longest_s: float, spread: float) -> float:
    """
    Seconds to wait after the `attempts`-th failure (1 for the first): doubling from `first_s` up to `longest_s`.

    `spread` in [0, 1) is a random number; it takes off up to half, so that jobs that failed together do not come back
    together.
    """
    whole = min(longest_s, first_s * 2.0 ** min(attempts - 1, 60))
    return whole * (1.0 - 0.5 * spread)


def is_due(last_done_s: float | None, now_s: float, interval_s: float, slack_max_s: float = 300.0) -> bool:
    """
    Whether work of that interval is due: never done, or done an interval ago less a little slack, so that a tick that
    comes early does not skip a turn.
    """
    if last_done_s is None:
        return True
    return now_s - last_done_s + min(slack_max_s, interval_s / 10) >= interval_s
