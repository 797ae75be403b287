"""
Refusing with a reason while the store is not ready, without asking the store at every request.
"""

import time
from typing import Any

from litestar import Request

from app.api.services import Services
from app.errors import Unavailable

FRESH_S = 2.0
"""Seconds for which a look at the store holds."""


class ReadinessCheck:
    """
    A hook that runs before a route handler.
    """

    def __init__(self) -> None:
        self._fresh_until = 0.0
        self._reasons: dict[str, str] | None = None

    async def __call__(self, request: Request[Any, Any, Any]) -> None:
        """
        Let the request pass when the store is ready.

        Raises:
            Unavailable: with the reason, otherwise.
        """
        if time.monotonic() >= self._fresh_until:
            services: Services = request.app.state.services
            is_ready, reasons = await services.doctor.ready()
            self._reasons = None if is_ready else reasons
            self._fresh_until = time.monotonic() + FRESH_S
        if self._reasons is not None:
            said = "; ".join(f"{name}: {reason}" for name, reason in self._reasons.items())
            raise Unavailable(f"the memory bank is not ready: {said}")
