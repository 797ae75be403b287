"""
Leaves a failing model alone for a while, then lets one call try whether it is back.
"""

from datetime import datetime, timedelta
from enum import StrEnum

from app.clock import Clock
from app.providers.language_model import ModelError


class BreakerState(StrEnum):
    """
    Whether calls get through.
    """

    CLOSED = "closed"  #: all do
    OPEN = "open"  #: none does
    HALF_OPEN = "half_open"  #: the cool-down is over: one does, and decides


class CircuitBreaker:
    """
    Counts failures in a row; from `failures` of them on, no call passes for `cool_down_s` seconds.

    A server that says how long it wants to be left alone is left alone that long at once, at most `cool_down_max_s`.
    Use: `permit`, then exactly one of `succeeded`, `failed` and `dropped`. For one event loop.
    """

    def __init__(self, clock: Clock, failures: int, cool_down_s: float, cool_down_max_s: float) -> None:
        self._clock = clock
        self._limit = failures
        self._cool_down = timedelta(seconds=cool_down_s)
        self._longest_s = cool_down_max_s
        self._failed = 0
        self._until: datetime | None = None
        self._trying = False
        self.last_error = ""

    @property
    def state(self) -> BreakerState:
        """
        The present state.
        """
        if self._until is None:
            return BreakerState.CLOSED
        return BreakerState.OPEN if self._clock.now() < self._until else BreakerState.HALF_OPEN

    @property
    def detail(self) -> str:
        """
        The state in words, with what led to it.
        """
        if self._until is None:
            return (
                "circuit closed" if self._failed == 0 else f"circuit closed, {self._failed} failed: {self.last_error}"
            )
        return f"circuit {self.state} until {self._until.isoformat(timespec='seconds')}: {self.last_error}"

    def permit(self) -> None:
        """
        Let a call through.

        Raises:
            ModelError: `model_circuit_open`, with the seconds until a call may try.
        """
        if self._until is None:
            return
        wait = (self._until - self._clock.now()).total_seconds()
        if wait > 0 or self._trying:
            raise ModelError("model_circuit_open", self.detail, retryable=True, retry_after_s=max(wait, 1.0))
        self._trying = True

    def succeeded(self) -> None:
        """
        The server answered.
        """
        self._failed = 0
        self._until = None
        self._trying = False
        self.last_error = ""

    def failed(self, error: ModelError) -> None:
        """
        The call failed for a reason that the next one would meet as well.
        """
        self._failed += 1
        self._trying = False
        self.last_error = error.detail
        now = self._clock.now()
        if self._until is not None or self._failed >= self._limit:
            self._until = now + self._cool_down
        if error.retry_after_s is not None:
            asked = now + timedelta(seconds=min(error.retry_after_s, self._longest_s))
            self._until = asked if self._until is None else max(asked, self._until)

    def dropped(self) -> None:
        """
        The call ended without telling anything of the server: it was never made, or its caller went away.
        """
        self._trying = False
