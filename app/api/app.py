"""
The HTTP application: routes, what stands before them, and what surrounds them; nothing else.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from litestar import Litestar
from litestar.datastructures import State
from litestar.middleware import DefineMiddleware

from app.api.auth import Authentication
from app.api.envelope import Envelope
from app.api.idempotency import IdempotentPosts
from app.api.openapi import openapi_config
from app.api.problems import HANDLERS as PROBLEM_HANDLERS
from app.api.request import ApiRequest
from app.api.routes import operations
from app.api.routes.banks import BankController
from app.api.routes.contacts import ContactController
from app.api.routes.documents import DocumentController, RuleController
from app.api.routes.entities import EntityController
from app.api.routes.entries import EntryController
from app.api.routes.jobs import JobController, WorkController
from app.api.routes.memories import MemoryController
from app.api.routes.orca import orca_router
from app.api.routes.proposals import ProposalController
from app.api.routes.recall import RecallController
from app.api.services import Services
from app.telemetry.metrics import Metrics


def create_app(services: Services) -> Litestar:
    """
    The application over a service that is put together; it is started and stopped with the application.
    """

    @asynccontextmanager
    async def running(_app: Litestar) -> AsyncIterator[None]:
        await services.start(working=services.settings.jobs.workers)
        try:
            yield
        finally:
            await services.stop()

    metrics = Metrics()
    app = Litestar(
        route_handlers=[
            *operations.HANDLERS,
            BankController,
            DocumentController,
            RuleController,
            EntryController,
            JobController,
            WorkController,
            ProposalController,
            MemoryController,
            RecallController,
            ContactController,
            EntityController,
            orca_router(),
        ],
        lifespan=[running],
        middleware=[
            DefineMiddleware(Authentication, services=services),
            DefineMiddleware(IdempotentPosts, services=services),
        ],
        exception_handlers=PROBLEM_HANDLERS,
        openapi_config=openapi_config(),
        request_class=ApiRequest,
        request_max_body_size=services.settings.server.max_body_bytes,
        state=State({"services": services, "metrics": metrics}),
        logging_config=None,
        debug=False,
    )
    # Around the router too, so that a request which no route takes has its id, its line and its headers.
    app.asgi_handler = Envelope(app.asgi_handler, metrics)
    return app
