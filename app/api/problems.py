"""
Errors as problem documents (RFC 9457): what is wrong, which fields, and never an exception's own text.
"""

from collections.abc import Mapping
from typing import Any, cast

import structlog
from litestar import Request, Response
from litestar.exceptions import HTTPException, ValidationException
from msgspec import Struct
from sqlalchemy.exc import OperationalError

from app.api.envelope import REQUEST_ID
from app.errors import FieldFault, LaminaError

log = structlog.get_logger(__name__)

MEDIA_TYPE = "application/problem+json"
RETRY_AFTER_S = 2

_TITLES = {
    400: ("invalid-input", "Invalid input"),
    404: ("not-found", "Not found"),
    405: ("method-not-allowed", "Method not allowed"),
    413: ("too-large", "Too large"),
    415: ("unsupported-media-type", "Unsupported media type"),
}
_DETAILS = {
    400: "the request cannot be understood",
    404: "there is no such path",
    405: "this path does not take that method",
}


class BadField(Struct, frozen=True):
    """
    One bad field: its path in the request, and what is wrong with it.
    """

    field: str
    message: str


class Problem(Struct, frozen=True):
    """
    A problem document. `type` is stable and names the kind of problem.
    """

    type: str
    title: str
    status: int
    detail: str
    errors: tuple[BadField, ...]
    request_id: str


def lamina_problem(request: Request[Any, Any, Any], error: LaminaError) -> Response[Problem]:
    """
    The problem document of a fault that was raised on purpose.
    """
    if error.status >= 500 and error.slug != "unavailable":
        return unexpected_problem(request, error)
    headers = {}
    if error.status == 401:
        headers["WWW-Authenticate"] = "Bearer"
    if error.status == 503:
        headers["Retry-After"] = str(RETRY_AFTER_S)
    return _answer(request, error.status, error.slug, error.title, error.detail, error.fields, headers)


def http_problem(request: Request[Any, Any, Any], error: HTTPException) -> Response[Problem]:
    """
    The problem document of what the framework refuses: an unknown path or method, too large a body, a bad parameter.
    """
    status = error.status_code
    if status >= 500:
        return unexpected_problem(request, error)
    slug, title = _TITLES.get(status, ("refused", "Refused"))
    if isinstance(error, ValidationException):
        fields = tuple(_parameter_fault(request, cast("Mapping[str, Any]", item)) for item in error.extra or ())
        detail = "; ".join(f"{fault.field}: {fault.message}" for fault in fields) or "a parameter cannot be taken"
        return _answer(request, status, slug, title, detail, fields)
    detail = _DETAILS.get(status, title.lower())
    if status == 413:
        limit = request.app.request_max_body_size
        detail = f"a body has at most {limit} bytes"
    headers = {name: value for name, value in (error.headers or {}).items() if name.lower() == "allow"}
    return _answer(request, status, slug, title, detail, (), headers)


def deep_problem(request: Request[Any, Any, Any], error: RecursionError) -> Response[Problem]:
    """
    The problem document of values nested beyond what can be walked.
    """
    log.warning("nested_too_deeply", exc_info=error)
    fault = FieldFault("body", "is nested too deeply")
    return _answer(request, 400, *_TITLES[400], f"{fault.field}: {fault.message}", (fault,))


def store_problem(request: Request[Any, Any, Any], error: OperationalError) -> Response[Problem]:
    """
    The problem document of a store that is locked, full or broken.
    """
    log.error("store_unavailable", exc_info=error)
    detail = "the store does not answer at present; the log says why"
    return _answer(request, 503, "unavailable", "Unavailable", detail, (), {"Retry-After": str(RETRY_AFTER_S)})


def unexpected_problem(request: Request[Any, Any, Any], error: Exception) -> Response[Problem]:
    """
    The problem document of a fault in this service; the log has it under the request's id.
    """
    log.error("request_failed", exc_info=error)
    return _answer(
        request, 500, "internal", "Internal error", "this is a fault of the service; the log has the details"
    )


HANDLERS: dict[int | type[Exception], Any] = {
    LaminaError: lamina_problem,
    HTTPException: http_problem,
    RecursionError: deep_problem,
    OperationalError: store_problem,
    Exception: unexpected_problem,
}
"""Which exception makes which problem."""


def _answer(
    request: Request[Any, Any, Any],
    status: int,
    slug: str,
    title: str,
    detail: str,
    fields: tuple[FieldFault, ...] = (),
    headers: Mapping[str, str] | None = None,
) -> Response[Problem]:
    problem = Problem(
        type=f"/problems/{slug}",
        title=title,
        status=status,
        detail=detail,
        errors=tuple(BadField(fault.field, fault.message) for fault in fields),
        request_id=request.scope["state"].get(REQUEST_ID, ""),
    )
    return Response(problem, status_code=status, media_type=MEDIA_TYPE, headers=dict(headers or {}))


def _parameter_fault(request: Request[Any, Any, Any], item: Mapping[str, Any]) -> FieldFault:
    field = str(item.get("key", "parameter")).partition(".")[0]
    if field == "data":
        return FieldFault("body", "a JSON object is needed")
    # The framework knows a parameter by its name in the code; the caller wrote the one in the document.
    known = request.route_handler.parsed_fn_signature.parameters.get(field)
    written = getattr(known.kwarg_definition, "name", None) if known is not None else None
    return FieldFault(written or field, str(item["message"]).replace("`", ""))
