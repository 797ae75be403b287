"""
What surrounds every request: its id, its path as it was meant, the headers of its answer, one log line, one count.
"""

import re
import secrets
import time

import structlog
from litestar.enums import ScopeType
from litestar.types import ASGIApp, HTTPScope, Message, Receive, Scope, Send

from app.api.paths import routable_path
from app.telemetry.metrics import Metrics

log = structlog.get_logger("lamina.access")

REQUEST_ID = "request_id"
"""Where the request id stands in the connection's state."""

_SANE_ID = re.compile(rb"[A-Za-z0-9._:\-]{1,128}")
_SECURITY_HEADERS = [
    (b"content-security-policy", b"default-src 'self'"),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
]


class Envelope:
    """
    Wraps the whole application, so that it also holds for requests that no route takes.
    """

    def __init__(self, app: ASGIApp, metrics: Metrics) -> None:
        self._app = app
        self._metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != ScopeType.HTTP:
            await self._app(scope, receive, send)
            return
        request_id = _request_id(scope)
        scope["state"][REQUEST_ID] = request_id
        scope["path"] = routable_path(scope["raw_path"])
        headers = [(b"x-request-id", request_id.encode()), *_SECURITY_HEADERS]
        status = 500

        async def send_in_envelope(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message["headers"] = [*message["headers"], *headers]
            await send(message)

        started = time.perf_counter()
        self._metrics.started()
        with structlog.contextvars.bound_contextvars(request_id=request_id):
            try:
                await self._app(scope, receive, send_in_envelope)
            finally:
                self._note(scope, status, time.perf_counter() - started)

    def _note(self, scope: HTTPScope, status: int, seconds: float) -> None:
        route = scope.get("path_template")
        self._metrics.answered(scope["method"], route, status, seconds)
        caller = scope.get("auth")
        log.info(
            "request",
            method=scope["method"],
            route=route,
            status=status,
            ms=round(seconds * 1000, 2),
            caller=None if caller is None else caller.name,
        )


def _request_id(scope: HTTPScope) -> str:
    for name, value in scope["headers"]:
        if name == b"x-request-id" and _SANE_ID.fullmatch(value):
            return value.decode()
    return secrets.token_hex(8)
