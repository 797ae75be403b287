"""
The jobs of structuring, extraction and hygiene: from a job to the use case, and from a model's failure to a retry.
"""

from collections.abc import Awaitable, Callable, Mapping
from typing import Final, TypeVar

from app.domain.consolidation.work import EXTRACT, HYGIENE, STRUCTURE
from app.errors import InvalidInput
from app.jobs.handlers import Handler, Hopeless, JobContext, Report, RetryLater
from app.providers.language_model import ModelError
from app.services.extraction import Extraction
from app.services.hygiene import Hygiene
from app.services.structuring import Structuring

T = TypeVar("T")

UNUSABLE_ATTEMPTS: Final = 3
"""Attempts after which an input that the model cannot answer is given up; an outage is waited out."""


def consolidation_handlers(structuring: Structuring, extraction: Extraction, hygiene: Hygiene) -> Mapping[str, Handler]:
    """
    The handlers by kind of job.
    """

    async def structure(context: JobContext) -> Report:
        job = context.job
        try:
            return await _settled(context, structuring.structure(job.bank or "", job.payload["memory_id"]))
        except InvalidInput as error:
            raise Hopeless(f"the structure cannot be stored: {error.detail}") from error

    async def extract(context: JobContext) -> Report:
        job = context.job
        return await _settled(context, extraction.extract(job.bank or "", job.payload["thread"], _telling(context)))

    async def tidy(context: JobContext) -> Report:
        job = context.job
        dry_run = bool(job.payload.get("dry_run"))
        return await _settled(context, hygiene.run(job.bank or "", _telling(context), dry_run=dry_run))

    return {STRUCTURE: structure, EXTRACT: extract, HYGIENE: tidy}


async def _settled(context: JobContext, work: Awaitable[T]) -> T:
    """
    What the work gives.

    Raises:
        RetryLater: when the model may answer another time.
        Hopeless: when it will not.
    """
    try:
        return await work
    except ModelError as error:
        given_up = error.about_input and context.job.attempts >= UNUSABLE_ATTEMPTS
        if error.retryable and not given_up:
            raise RetryLater(error.detail, error.retry_after_s) from error
        raise Hopeless(error.detail) from error


def _telling(context: JobContext) -> Callable[[Report], Awaitable[None]]:
    async def tell(report: Report) -> None:
        await context.progress(**report)

    return tell
