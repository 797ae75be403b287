"""
What a handler of jobs is given and what it may raise.
"""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from app.domain.jobs import Job
from app.errors import LaminaError

Report = dict[str, Any]
"""What a finished job did, as plain JSON values."""


class RetryLater(LaminaError):
    """
    The work could not be done now; nothing of it is stored. `after_s` is how long to wait at least, if that is known.
    """

    slug = "retry-later"
    title = "Try again later"

    def __init__(self, detail: str, after_s: float | None = None) -> None:
        super().__init__(detail)
        self.after_s = after_s


class Hopeless(LaminaError):
    """
    The work can never be done as it is asked; trying again would change nothing.
    """

    slug = "hopeless"
    title = "Cannot be done"


class Cancelled(LaminaError):
    """
    A person asked for the job to stop; what it has committed so far stands.
    """

    slug = "cancelled"
    title = "Cancelled"


class JobContext:
    """
    A handler's view of its job. `progress` is called between steps: it keeps the lease, shows how far the work is, and
    raises `Cancelled` when a person has asked for that.
    """

    def __init__(self, job: Job, tell: Callable[[Mapping[str, Any]], Awaitable[None]]) -> None:
        self.job = job
        self._tell = tell

    async def progress(self, **state: Any) -> None:
        """
        Show how far the work is.

        Raises:
            Cancelled: when the job is to stop.
        """
        await self._tell(state)


Handler = Callable[[JobContext], Awaitable[Report]]
