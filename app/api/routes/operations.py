"""
Health, metrics and the doctor.
"""

from litestar import MediaType, Response, get, post
from litestar.handlers import HTTPRouteHandler

from app.api.auth import OPEN, WRITE
from app.api.openapi import PROBLEMS
from app.api.request import ApiRequest
from app.api.schemas.operations import Alive, DoctorOut, Readiness, doctor_out
from app.telemetry.metrics import CONTENT_TYPE


@get("/health/live", opt=OPEN, tags=["operations"], summary="Whether the process answers")
async def live() -> Alive:
    """
    Answers as long as the process does; asks nothing of the store.
    """
    return Alive("alive")


@get("/health/ready", opt=OPEN, tags=["operations"], summary="Whether requests can be served")
async def ready(request: ApiRequest) -> Response[Readiness]:
    """
    200 when the store is there, also where something optional is missing; else 503.
    """
    is_ready, degraded = await request.services.doctor.ready()
    return Response(Readiness(is_ready, degraded), status_code=200 if is_ready else 503)


@get("/metrics", tags=["operations"], media_type=MediaType.TEXT, summary="Counters for Prometheus")
async def metrics(request: ApiRequest) -> Response[bytes]:
    """
    Every counter, in the text format of Prometheus.
    """
    state = await request.services.indexer.state()
    request.metrics.indexer(state.waiting)
    return Response(request.metrics.render(), headers={"Content-Type": CONTENT_TYPE})


@post("/v1/doctor", opt=WRITE, status_code=200, tags=["operations"], responses=PROBLEMS, summary="Examine the service")
async def doctor(request: ApiRequest) -> DoctorOut:
    """
    A real save, recall and erase, and each dependency by name with its state.
    """
    return doctor_out(await request.services.doctor.check())


HANDLERS: list[HTTPRouteHandler] = [live, ready, metrics, doctor]
