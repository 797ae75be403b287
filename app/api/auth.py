"""
Who may pass: the caller by its key, the role that the route asks for, and the bank that the path names.
"""

from collections.abc import Iterable
from typing import Any

from litestar.enums import ScopeType
from litestar.types import ASGIApp, HTTPScope, Receive, Scope, Send

from app.api.paths import segment_text
from app.api.services import Services
from app.services.banks import check_name
from app.services.keys import ANYONE, Role

READ: dict[str, Any] = {"role": Role.READ}
WRITE: dict[str, Any] = {"role": Role.WRITE}
ADMIN: dict[str, Any] = {"role": Role.ADMIN}
OPEN: dict[str, Any] = {"role": None}
"""Options of a route: the least role that passes; an open one needs no key."""

_BANK_PARAMETERS = ("bank", "name")
_BEARER = b"bearer "


class Authentication:
    """
    Lets a request pass, with its caller in `scope["auth"]` and its path parameters as they were meant.

    A route that says no role takes readers for GET, and else administrators only.
    """

    def __init__(self, app: ASGIApp, services: Services) -> None:
        self._app = app
        self._services = services

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == ScopeType.HTTP:
            await self._admit(scope)
        await self._app(scope, receive, send)

    async def _admit(self, scope: HTTPScope) -> None:
        default = Role.READ if scope["method"] in {"GET", "OPTIONS"} else Role.ADMIN
        role = scope["route_handler"].opt.get("role", default)
        if role is None:
            scope["auth"] = ANYONE
            return
        caller = await self._services.keys.caller(secret_of(scope["headers"]))
        scope["auth"] = caller
        # The router keeps the parameters of a path for the next request of that path: they are not changed in place.
        params = {name: segment_text(value) for name, value in scope["path_params"].items()}
        scope["path_params"] = params
        for name in _BANK_PARAMETERS:
            if name in params:
                caller.require_bank(check_name(params[name]))
        caller.require(role)


def secret_of(headers: Iterable[tuple[bytes, bytes]]) -> str | None:
    """
    The key that a request carries, as `Authorization: Bearer KEY` or `X-API-Key: KEY`.
    """
    for name, value in headers:
        if name == b"authorization" and value[: len(_BEARER)].lower() == _BEARER:
            return value[len(_BEARER) :].strip().decode("latin-1")
        if name == b"x-api-key":
            return value.strip().decode("latin-1")
    return None
