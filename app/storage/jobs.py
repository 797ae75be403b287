"""
The queue of jobs: enqueueing inside the caller's transaction, claiming with a lease, and settling behind a fence.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Row, Select, and_, func, insert, or_, select, update

from app.domain.identity import new_id
from app.domain.jobs import Job, JobState, NewJob
from app.storage.job_tables import job, schedule
from app.storage.moments import from_micros
from app.storage.tables import bank

_OPEN = (JobState.QUEUED, JobState.RUNNING)


@dataclass(frozen=True, slots=True)
class Lease:
    """
    A worker's right to a job: void as soon as another worker or another attempt holds it.
    """

    id: str
    worker: str
    attempt: int


def enqueue(connection: Connection, item: NewJob, now: int) -> tuple[str, bool]:
    """
    Add a job in the caller's transaction, unless one with its dedupe key waits or runs. One that runs may have looked
    at its work already, so it is followed by another once it has ended.

    Returns:
        The id of the job that stands for the work, and whether it is new.
    """
    run_at = now + int(item.delay_s * 1_000_000)
    if item.dedupe_key is not None:
        known = connection.execute(
            select(job.c.id, job.c.state, job.c.again_at).where(
                job.c.dedupe_key == item.dedupe_key, job.c.state.in_(_OPEN)
            )
        ).first()
        if known is not None:
            if known.state == JobState.RUNNING and (known.again_at is None or known.again_at > run_at):
                connection.execute(update(job).where(job.c.id == known.id).values(again_at=run_at))
            return known.id, False
    return _insert(connection, item, run_at, now), True


def postpone(connection: Connection, item: NewJob, now: int) -> tuple[str, bool]:
    """
    Add a job as `enqueue` does; where one waits for its time already, its time becomes that of `item`.

    Returns:
        The id of the job that stands for the work, and whether it is new.
    """
    known, is_new = enqueue(connection, item, now)
    if not is_new:
        run_at = now + int(item.delay_s * 1_000_000)
        connection.execute(
            # Once tried, it waits for what made it fail, and not for its time.
            update(job)
            .where(job.c.id == known, job.c.state == JobState.QUEUED, job.c.attempts == 0)
            .values(run_at=run_at)
        )
    return known, is_new


def claim(
    connection: Connection, worker: str, now: int, lease_micros: int, kinds: Collection[str]
) -> tuple[Job, Lease] | None:
    """
    Take the first job that is due, or whose worker let its lease run out, with a lease of its own.
    """
    due = or_(
        and_(job.c.state == JobState.QUEUED, job.c.run_at <= now),
        and_(job.c.state == JobState.RUNNING, job.c.lease_until < now),
    )
    first = (
        select(job.c.job_id)
        .where(due, job.c.kind.in_(sorted(kinds)))
        .order_by(job.c.priority, job.c.run_at, job.c.job_id)
        .limit(1)
        .with_for_update(skip_locked=True)
        .scalar_subquery()
    )
    row = connection.execute(
        update(job)
        .where(job.c.job_id == first)
        .values(
            state=JobState.RUNNING,
            worker=worker,
            attempts=job.c.attempts + 1,
            lease_until=now + lease_micros,
            started_at=func.coalesce(job.c.started_at, now),
            error=None,
        )
        .returning(job.c.id, job.c.attempts)
    ).first()
    if row is None:
        return None
    found = by_id(connection, row.id)
    return None if found is None else (found, Lease(row.id, worker, row.attempts))


def extend(connection: Connection, lease: Lease, until: int, progress: dict[str, Any] | None) -> bool | None:
    """
    Keep a lease alive; returns whether the job is to be cancelled, None when the lease is lost.
    """
    values: dict[str, Any] = {"lease_until": until}
    if progress is not None:
        values["progress"] = progress
    row = connection.execute(update(job).where(_held(lease)).values(**values).returning(job.c.cancel_wanted)).first()
    return None if row is None else bool(row.cancel_wanted)


def finish(connection: Connection, lease: Lease, now: int, report: dict[str, Any]) -> bool:
    """
    Settle a job as done; false when the lease was lost, and nothing is changed then.
    """
    return _end(connection, lease, {"state": JobState.DONE, "report": report, "finished_at": now}, now)


def fail(connection: Connection, lease: Lease, now: int, error: str, report: dict[str, Any] | None = None) -> bool:
    """
    Give a job up; false when the lease was lost.
    """
    values = {"state": JobState.FAILED, "error": error, "report": report, "finished_at": now}
    return _end(connection, lease, values, now)


def cancel_held(connection: Connection, lease: Lease, now: int) -> bool:
    """
    Settle a job as cancelled; false when the lease was lost.
    """
    return _settle(connection, lease, {"state": JobState.CANCELLED, "finished_at": now}) is not None


def release(connection: Connection, lease: Lease, run_at: int, error: str | None, *, counted: bool = True) -> bool:
    """
    Give a job back for another attempt at `run_at`; an attempt that is not `counted` does not use one up.
    """
    attempts = job.c.attempts if counted else job.c.attempts - 1
    values = {"state": JobState.QUEUED, "run_at": run_at, "error": error, "attempts": attempts}
    return _settle(connection, lease, values) is not None


def cancel(connection: Connection, job_id: str, now: int) -> JobState | None:
    """
    Cancel a waiting job, or ask the worker of a running one to stop; returns the state it was in, None if unknown.
    """
    found = by_id(connection, job_id)
    if found is None:
        return None
    if found.state is JobState.QUEUED:
        connection.execute(update(job).where(job.c.id == job_id).values(state=JobState.CANCELLED, finished_at=now))
    elif found.state is JobState.RUNNING:
        connection.execute(update(job).where(job.c.id == job_id).values(cancel_wanted=1))
    return found.state


def retry(connection: Connection, job_id: str, now: int) -> bool:
    """
    Queue a failed or cancelled job anew with all its attempts; false when it is neither, or its work is queued already.
    """
    row = connection.execute(select(job.c.state, job.c.dedupe_key).where(job.c.id == job_id)).first()
    if row is None or JobState(row.state) not in (JobState.FAILED, JobState.CANCELLED):
        return False
    taken = select(job.c.id).where(job.c.dedupe_key == row.dedupe_key, job.c.state.in_(_OPEN))
    if row.dedupe_key is not None and connection.execute(taken).first() is not None:
        return False
    connection.execute(
        update(job)
        .where(job.c.id == job_id)
        .values(state=JobState.QUEUED, run_at=now, attempts=0, error=None, cancel_wanted=0, finished_at=None)
    )
    return True


def by_id(connection: Connection, job_id: str) -> Job | None:
    """
    The job of that id.
    """
    row = connection.execute(_select().where(job.c.id == job_id)).first()
    return None if row is None else _job(row)


def page(
    connection: Connection,
    bank_ids: Collection[int] | None,
    states: Collection[JobState],
    limit: int,
    offset: int,
) -> tuple[list[Job], int]:
    """
    Jobs, newest first, and how many there are; those of the given banks, or with None all.
    """
    where = [job.c.state.in_(sorted(states))]
    if bank_ids is not None:
        where.append(job.c.bank_id.in_(sorted(bank_ids)))
    total = connection.execute(select(func.count()).select_from(job).where(*where)).scalar_one()
    rows = connection.execute(_select().where(*where).order_by(job.c.job_id.desc()).limit(limit).offset(offset))
    return [_job(row) for row in rows], total


def counts(connection: Connection) -> dict[JobState, int]:
    """
    How many jobs stand in each state.
    """
    rows = connection.execute(select(job.c.state, func.count()).group_by(job.c.state))
    return {JobState(state): number for state, number in rows}


def next_due(connection: Connection, kinds: Sequence[str]) -> int | None:
    """
    When the next waiting job of these kinds may start (microseconds); None when none waits.
    """
    return connection.execute(
        select(func.min(job.c.run_at)).where(job.c.state == JobState.QUEUED, job.c.kind.in_(sorted(kinds)))
    ).scalar_one_or_none()


def last_done(connection: Connection, kind: str) -> int | None:
    """
    When scheduled work of that kind was last done without a fault (microseconds).
    """
    return connection.execute(select(schedule.c.last_done_at).where(schedule.c.kind == kind)).scalar_one_or_none()


def note_done(connection: Connection, kind: str, at: int) -> None:
    """
    Note that scheduled work of that kind was done without a fault.
    """
    changed = connection.execute(update(schedule).where(schedule.c.kind == kind).values(last_done_at=at))
    if changed.rowcount == 0:
        connection.execute(insert(schedule).values(kind=kind, last_done_at=at))


def _held(lease: Lease) -> Any:
    return and_(
        job.c.id == lease.id,
        job.c.worker == lease.worker,
        job.c.attempts == lease.attempt,
        job.c.state == JobState.RUNNING,
    )


def _settle(connection: Connection, lease: Lease, values: dict[str, Any]) -> Row[*tuple[Any, ...]] | None:
    """The job as it was held, with when it is to run anew; None when the lease was lost."""
    held = connection.execute(select(job).where(_held(lease))).first()
    if held is not None:
        settled = {"lease_until": None, "worker": None, "again_at": None, **values}
        connection.execute(update(job).where(job.c.job_id == held.job_id).values(**settled))
    return held


def _end(connection: Connection, lease: Lease, values: dict[str, Any], now: int) -> bool:
    held = _settle(connection, lease, values)
    if held is not None and held.again_at is not None:
        again = NewJob(
            held.kind,
            held.bank_id,
            held.payload,
            held.dedupe_key,
            priority=held.priority,
            max_attempts=held.max_attempts,
        )
        _insert(connection, again, held.again_at, now)
    return held is not None


def _insert(connection: Connection, item: NewJob, run_at: int, now: int) -> str:
    made = new_id("job")
    connection.execute(
        insert(job).values(
            id=made,
            kind=item.kind,
            bank_id=item.bank_id,
            payload=item.payload,
            dedupe_key=item.dedupe_key,
            priority=item.priority,
            state=JobState.QUEUED,
            max_attempts=item.max_attempts,
            run_at=run_at,
            created_at=now,
        )
    )
    return made


def _select() -> Select[*tuple[Any, ...]]:
    return select(job, bank.c.name.label("bank")).join(bank, bank.c.bank_id == job.c.bank_id, isouter=True)


def _job(row: Row[*tuple[Any, ...]]) -> Job:
    return Job(
        id=row.id,
        kind=row.kind,
        bank_id=row.bank_id,
        bank=row.bank,
        payload=row.payload,
        state=JobState(row.state),
        attempts=row.attempts,
        max_attempts=row.max_attempts,
        error=row.error,
        progress=row.progress,
        report=row.report,
        created_at=from_micros(row.created_at),
        run_at=from_micros(row.run_at),
        started_at=None if row.started_at is None else from_micros(row.started_at),
        finished_at=None if row.finished_at is None else from_micros(row.finished_at),
        worker=row.worker,
    )
