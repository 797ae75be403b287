"""
The OpenAPI document, made from the code, and a reference page that loads nothing from anywhere.
"""

import re
from collections.abc import Iterator, Mapping
from html import escape
from typing import Any

import msgspec
from litestar import Request, Router
from litestar.exceptions import NotFoundException
from litestar.openapi import OpenAPIConfig, ResponseSpec
from litestar.openapi.plugins import JsonRenderPlugin, OpenAPIRenderPlugin
from litestar.openapi.spec import Components, SecurityScheme

from app.api.problems import MEDIA_TYPE, Problem

VERSION = "1.0.0"
DESCRIPTION = (
    "Memory for chat bots and agents. Every time carries an offset from UTC, every id is an opaque string. "
    "A POST may carry an Idempotency-Key: sent again with the same body it gets the first answer."
)

_PAGE_NAME = re.compile(rb'Page_[\w.]+\.(\w+?)(?:Out)?_(?=")')
_WORDS = {
    400: "A field is wrong; `errors` names each one.",
    401: "No key, or an unknown one.",
    403: "The key's role does not reach this far.",
    404: "There is no such thing, or not for this key.",
    409: "The present state forbids it.",
    413: "The body, or a field, is larger than is taken.",
    503: "A part that this request needs is not there.",
}

PROBLEMS: Mapping[int, ResponseSpec] = {
    status: ResponseSpec(Problem, description=words, media_type=MEDIA_TYPE, generate_examples=False)
    for status, words in _WORDS.items()
}
"""The problem documents that any route may answer with."""


def also(status: int, shape: Any, words: str) -> Mapping[int, ResponseSpec]:
    """
    The problem documents, and one more answer that a route may give.
    """
    return {**PROBLEMS, status: ResponseSpec(shape, description=words, generate_examples=False)}


class JsonDocument(JsonRenderPlugin):
    """
    The document as JSON, rendered once.
    """

    def __init__(self) -> None:
        super().__init__()
        self._rendered: bytes | None = None

    def render(self, request: Request[Any, Any, Any], openapi_schema: dict[str, Any]) -> bytes:
        if self._rendered is None:
            close_requests(openapi_schema)
            self._rendered = _with_plain_words(msgspec.json.encode(openapi_schema, enc_hook=str))
        return self._rendered


class ReferencePage(OpenAPIRenderPlugin):
    """
    The operations as one plain page, without scripts, styles or anything from another host.
    """

    def __init__(self) -> None:
        super().__init__(path="/", favicon="", style="")

    def render(self, request: Request[Any, Any, Any], openapi_schema: dict[str, Any]) -> bytes:
        title = escape(openapi_schema["info"]["title"])
        rows = "".join(
            f"<tr><td><code>{method.upper()}</code></td><td><code>{escape(path)}</code></td>"
            f"<td>{escape(operation.get('summary', ''))}</td></tr>\n"
            for path, operations in sorted(openapi_schema["paths"].items())
            for method, operation in operations.items()
        )
        return (
            f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>{title}</title></head>\n<body>'
            f"<h1>{title}</h1>\n<p>{escape(DESCRIPTION)}</p>\n"
            f'<p>The whole of it, with every field: <a href="openapi.json">openapi.json</a></p>\n'
            f"<table>\n<tr><th>Method</th><th>Path</th><th>What it does</th></tr>\n{rows}</table></body></html>\n"
        ).encode()


def close_requests(document: dict[str, Any]) -> None:
    """
    Say of each shape that a request body has, in place, that it takes no unknown field: its decoder refuses them.
    """
    shapes: dict[str, dict[str, Any]] = document["components"]["schemas"]
    bodies = [
        operation["requestBody"]
        for operations in document["paths"].values()
        for operation in operations.values()
        if "requestBody" in operation
    ]
    seen: set[str] = set()
    waiting = list(_references(bodies))
    while waiting:
        name = waiting.pop()
        if name in seen:
            continue
        seen.add(name)
        if "properties" in shapes[name]:
            shapes[name]["additionalProperties"] = False
        waiting += _references(shapes[name])


def _with_plain_words(document: bytes) -> bytes:
    # An integer is a number too, so that of alternatives more than one may hold; a page is called by what it lists.
    return _PAGE_NAME.sub(rb"\1Page", document.replace(b'"oneOf":', b'"anyOf":'))


def _references(part: object) -> Iterator[str]:
    if isinstance(part, dict):
        if isinstance(part.get("$ref"), str):
            yield part["$ref"].rpartition("/")[2]
        for below in part.values():
            yield from _references(below)
    elif isinstance(part, list):
        for below in part:
            yield from _references(below)


def _known_page(request: Request[Any, Any, Any]) -> None:
    # The framework would answer with a page of its own; what is not there is a problem document everywhere.
    if "path" in request.path_params:
        raise NotFoundException


def openapi_config() -> OpenAPIConfig:
    """
    The document's frame: title, keys, and where it is served.
    """
    return OpenAPIConfig(
        title="Lamina",
        version=VERSION,
        description=DESCRIPTION,
        openapi_router=Router("/schema", route_handlers=[], before_request=_known_page, include_in_schema=False),
        components=Components(
            security_schemes={
                "bearer": SecurityScheme(type="http", scheme="bearer"),
                "apiKey": SecurityScheme(type="apiKey", name="X-API-Key", security_scheme_in="header"),
            }
        ),
        security=[{"bearer": []}, {"apiKey": []}, {}],
        render_plugins=[JsonDocument(), ReferencePage()],
    )
