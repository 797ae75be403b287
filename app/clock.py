"""
The one place that asks what time it is; services receive a clock, so that a run can be frozen.
"""

from datetime import UTC, datetime
from typing import Protocol


class Clock(Protocol):
    """
    Gives the present moment.
    """

    def now(self) -> datetime:
        """
        The present moment, aware, in UTC.
        """
        ...


class SystemClock:
    """
    The machine's clock.
    """

    def now(self) -> datetime:
        return datetime.now(UTC)


class FrozenClock:
    """
    A clock that stands still until it is moved.
    """

    def __init__(self, moment: datetime) -> None:
        self.moment = moment

    def now(self) -> datetime:
        return self.moment
