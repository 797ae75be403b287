"""
Jobs as people see them: listed, looked at, cancelled, tried again, and asked for.
"""

from collections.abc import Callable, Sequence

from sqlalchemy import Connection

from app.clock import Clock
from app.domain.consolidation.work import EXTRACT, extract_job, hygiene_job
from app.domain.jobs import Job, JobState, NewJob
from app.errors import Conflict, NotFound
from app.storage import banks as bank_rows
from app.storage import cursors
from app.storage import jobs as job_rows
from app.storage.engine import Storage
from app.storage.moments import to_micros


class Jobs:
    """
    The use cases of jobs. `wake` tells the workers that there is one.
    """

    def __init__(self, storage: Storage, clock: Clock, wake: Callable[[], None]) -> None:
        self._storage = storage
        self._clock = clock
        self._wake = wake

    async def page(
        self, sees: Callable[[str], bool], bank: str | None, states: Sequence[JobState], limit: int, offset: int
    ) -> tuple[list[Job], int]:
        """
        Jobs in the given states, newest first, and how many there are: those of one bank, or of all banks that `sees`
        lets through.

        Raises:
            NotFound: when there is no such bank.
        """

        def work(connection: Connection) -> tuple[list[Job], int]:
            if bank is not None:
                wanted = [bank_rows.require(connection, bank).bank_id]
            else:
                wanted = [item.bank_id for item in bank_rows.every(connection) if sees(item.name)]
            return job_rows.page(connection, wanted, states, limit, offset)

        return await self._storage.read(work)

    async def get(self, sees: Callable[[str], bool], job_id: str) -> Job:
        """
        One job of a bank that `sees` lets through.

        Raises:
            NotFound: when there is none.
        """
        return await self._storage.read(lambda connection: _visible(connection, sees, job_id))

    async def cancel(self, sees: Callable[[str], bool], job_id: str) -> Job:
        """
        Cancel a waiting job; a running one is asked to stop after its present step.

        Raises:
            NotFound: when there is none.
            Conflict: when it has ended.
        """

        def work(connection: Connection) -> Job:
            found = _visible(connection, sees, job_id)
            if found.state not in (JobState.QUEUED, JobState.RUNNING):
                raise Conflict(f"job {job_id!r} is {found.state} already")
            job_rows.cancel(connection, job_id, to_micros(self._clock.now()))
            return _visible(connection, sees, job_id)

        return await self._storage.write(work)

    async def retry(self, sees: Callable[[str], bool], job_id: str) -> Job:
        """
        Queue a failed or cancelled job anew.

        Raises:
            NotFound: when there is none.
            Conflict: when it has not ended that way, or its work is queued by another job.
        """

        def work(connection: Connection) -> Job:
            found = _visible(connection, sees, job_id)
            if not job_rows.retry(connection, job_id, to_micros(self._clock.now())):
                ended = found.state in (JobState.FAILED, JobState.CANCELLED)
                reason = "its work is queued by another job" if ended else f"it is {found.state}"
                raise Conflict(f"job {job_id!r} cannot be tried again: {reason}")
            return _visible(connection, sees, job_id)

        again = await self._storage.write(work)
        self._wake()
        return again

    async def tidy(self, bank: str, *, dry_run: bool) -> str:
        """
        Enqueue the hygiene of a bank's memories, and return the job's id.

        Raises:
            NotFound: when there is no such bank.
        """

        def work(connection: Connection) -> list[NewJob]:
            return [hygiene_job(bank_rows.require(connection, bank).bank_id, dry_run=dry_run)]

        return (await self.enqueue(work))[0]

    async def flush(self, bank: str) -> list[str]:
        """
        Enqueue the reading of every thread of a bank that holds unread entries, at once, and return the jobs' ids.

        Raises:
            NotFound: when there is no such bank.
        """

        def work(connection: Connection) -> list[NewJob]:
            bank_id = bank_rows.require(connection, bank).bank_id
            return [extract_job(bank_id, thread) for thread in cursors.behind(connection, bank_id, EXTRACT)]

        return await self.enqueue(work)

    async def enqueue(self, decide: Callable[[Connection], Sequence[NewJob]]) -> list[str]:
        """
        Enqueue what `decide` asks for, in one transaction, due at once, and return the jobs' ids.
        """
        now = to_micros(self._clock.now())

        def work(connection: Connection) -> list[str]:
            return [job_rows.postpone(connection, item, now)[0] for item in decide(connection)]

        made = await self._storage.write(work)
        if made:
            self._wake()
        return made


def _visible(connection: Connection, sees: Callable[[str], bool], job_id: str) -> Job:
    found = job_rows.by_id(connection, job_id)
    if found is None or found.bank is None or not sees(found.bank):
        raise NotFound(f"there is no job {job_id!r}")
    return found
