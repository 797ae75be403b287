"""
A request as the route handlers see it: with its caller, the services, and a strictly read body.
"""

from typing import Any

from litestar import Request
from litestar.datastructures import State

from app.api.bodies import read_body
from app.api.services import Services
from app.services.keys import Caller
from app.telemetry.metrics import Metrics

SEED = "idempotency_seed"
"""Where the seed of a request under an Idempotency-Key stands in the connection's state."""


class ApiRequest(Request[Caller, Caller, State]):
    """
    The request class of the whole application.
    """

    async def json(self) -> Any:
        """
        The body as the type that the route handler's `data` asks for.

        Raises:
            InvalidInput: naming every field that is unknown, missing or of the wrong type.
        """
        field = self.route_handler.parsed_data_field
        return read_body(await self.body(), Any if field is None else field.annotation)

    @property
    def caller(self) -> Caller:
        """
        Who asks.
        """
        caller: Caller = self.scope["auth"]
        return caller

    @property
    def services(self) -> Services:
        """
        The use cases.
        """
        services: Services = self.app.state.services
        return services

    @property
    def metrics(self) -> Metrics:
        """
        The service's counters.
        """
        metrics: Metrics = self.app.state.metrics
        return metrics

    @property
    def seed(self) -> str | None:
        """
        What the ids of this request's records are drawn from, where it came under an Idempotency-Key.
        """
        return self.scope["state"].get(SEED)
