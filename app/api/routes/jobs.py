"""
Background work over HTTP: listed, looked at, cancelled, tried again, and asked for by a person.
"""

from typing import Annotated

from litestar import Controller, get, post
from litestar.params import FromPath, QueryParameter

from app.api.auth import WRITE
from app.api.openapi import PROBLEMS
from app.api.request import ApiRequest
from app.api.schemas.jobs import AllEnqueued, Enqueued, JobOut, job_out
from app.api.schemas.paging import Limit, Offset, Page, page_of
from app.domain.jobs import JobState
from app.errors import InvalidInput

OfBank = Annotated[str | None, QueryParameter(description="Only jobs of this bank.")]
DryRun = Annotated[bool, QueryParameter(description="Only report what would be done.")]


class JobController(Controller):
    """
    The queue as a resource.
    """

    path = "/v1/jobs"
    tags = ("jobs",)

    @get(responses=PROBLEMS, summary="List jobs, newest first")
    async def page(
        self,
        request: ApiRequest,
        bank: OfBank = None,
        job_state: Annotated[str | None, QueryParameter(name="state", description="States, apart by commas.")] = None,
        limit: Limit = 50,
        offset: Offset = 0,
    ) -> Page[JobOut]:
        if bank is not None:
            request.caller.require_bank(bank)
        found, total = await request.services.jobs.page(request.caller.sees, bank, _states(job_state), limit, offset)
        return page_of([job_out(item) for item in found], total, offset)

    @get("/{job_id:str}", responses=PROBLEMS, summary="Show a job")
    async def show(self, request: ApiRequest, job_id: FromPath[str]) -> JobOut:
        return job_out(await request.services.jobs.get(request.caller.sees, job_id))

    @post("/{job_id:str}/cancel", opt=WRITE, status_code=200, responses=PROBLEMS, summary="Stop a job")
    async def cancel(self, request: ApiRequest, job_id: FromPath[str]) -> JobOut:
        return job_out(await request.services.jobs.cancel(request.caller.sees, job_id))

    @post("/{job_id:str}/retry", opt=WRITE, status_code=200, responses=PROBLEMS, summary="Try a job again")
    async def retry(self, request: ApiRequest, job_id: FromPath[str]) -> JobOut:
        return job_out(await request.services.jobs.retry(request.caller.sees, job_id))


class WorkController(Controller):
    """
    Work on a bank that a person asks for.
    """

    path = "/v1/banks/{bank:str}"
    tags = ("jobs",)

    @post("/flush", opt=WRITE, status_code=202, responses=PROBLEMS, summary="Read all unread entries now")
    async def flush(self, request: ApiRequest, bank: FromPath[str]) -> AllEnqueued:
        return AllEnqueued(await request.services.jobs.flush(bank))

    @post("/hygiene", opt=WRITE, status_code=202, responses=PROBLEMS, summary="Tidy the memories of a bank")
    async def tidy(self, request: ApiRequest, bank: FromPath[str], dry_run: DryRun = False) -> Enqueued:
        return Enqueued(await request.services.jobs.tidy(bank, dry_run=dry_run))


def _states(given: str | None) -> list[JobState]:
    if given is None:
        return list(JobState)
    known = {state.value: state for state in JobState}
    wanted = [name.strip() for name in given.split(",") if name.strip()]
    odd = [name for name in wanted if name not in known]
    if odd or not wanted:
        raise InvalidInput.of("state", f"must be of {', '.join(known)}, got {given!r}")
    return [known[name] for name in wanted]
