"""
Long-term documents and rules over HTTP: written whole or appended to, with the revision as the entity tag.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated

from litestar import Controller, Response, delete, get, post, put
from litestar.exceptions import MethodNotAllowedException
from litestar.openapi import ResponseSpec
from litestar.openapi.spec import OpenAPIMediaType, OpenAPIType, Operation, RequestBody, Schema
from litestar.params import FromPath, HeaderParameter, JSONBody, PathParameter

from app.api.auth import ADMIN, WRITE
from app.api.bodies import read_body
from app.api.openapi import PROBLEMS, also
from app.api.preconditions import entity_tag, expected_revision
from app.api.problems import MEDIA_TYPE, Problem
from app.api.request import ApiRequest
from app.api.schemas.documents import (
    AdditionIn,
    DocumentIn,
    DocumentListed,
    DocumentOut,
    DocumentStored,
    RuleOut,
    StateOut,
    document_out,
    listed_out,
    rule_out,
    state_out,
    stored_out,
)
from app.api.schemas.paging import Limit, Offset, Page, page_of
from app.domain.documents.model import Change
from app.domain.documents.paths import check_path, is_rule, rule_path
from app.errors import InvalidInput
from app.services.document_writer import Written
from app.services.keys import Role

JSON = "application/json"
MARKDOWN = "text/markdown"
HISTORY = "/history"
APPEND = "/append"

Path = Annotated[str, PathParameter(description="Path of the document, slashes included; ends in `.md`.")]
Match = Annotated[str | None, HeaderParameter(name="If-Match", description="Revision to be there, or `*` for any.")]
NoneMatch = Annotated[str | None, HeaderParameter(name="If-None-Match", description="`*`: no document is to be there.")]

CONDITIONAL: Mapping[int, ResponseSpec] = {
    **PROBLEMS,
    412: ResponseSpec(
        Problem,
        description="The document is at another revision than the request expects.",
        media_type=MEDIA_TYPE,
        generate_examples=False,
    ),
}
WRITTEN: Mapping[int, ResponseSpec] = {
    **CONDITIONAL,
    201: ResponseSpec(DocumentStored, description="The document is new.", generate_examples=False),
    204: ResponseSpec(None, description="The rule is removed.", generate_examples=False),
}


@dataclass
class WritesMarkdown(Operation):
    """
    An operation whose body is markdown, or JSON with the markdown in `content`.
    """

    def __post_init__(self) -> None:
        text, nothing = Schema(type=OpenAPIType.STRING), Schema(type=OpenAPIType.NULL)
        whole = Schema(
            type=OpenAPIType.OBJECT,
            properties={"content": text, "reason": Schema(one_of=[text, nothing])},
            required=["content"],
            additional_properties=False,
        )
        content = {MARKDOWN: OpenAPIMediaType(schema=text), JSON: OpenAPIMediaType(schema=whole)}
        self.request_body = RequestBody(required=True, content=content)


class DocumentController(Controller):
    """
    The documents of a bank as a resource. Rules are written by administrators only.

    A path takes all that follows, so that what is asked of a document beside its text stands after its path.
    """

    path = "/v1/banks/{bank:str}/documents"
    tags = ("documents",)

    @get(responses=PROBLEMS, summary="List documents by path")
    async def page(
        self, request: ApiRequest, bank: FromPath[str], limit: Limit = 100, offset: Offset = 0
    ) -> Page[DocumentListed]:
        found, total = await request.services.documents.page(bank, limit, offset)
        return page_of([listed_out(item) for item in found], total, offset)

    @get("/{path:path}", responses=PROBLEMS, summary="Show a document; under `{path}/history` its states, oldest first")
    async def show(
        self, request: ApiRequest, bank: FromPath[str], path: Path, limit: Limit = 50, offset: Offset = 0
    ) -> Response[DocumentOut | Page[StateOut] | str]:
        name = path.removeprefix("/")
        if name.endswith(HISTORY):
            states, total = await request.services.documents.history(bank, name.removesuffix(HISTORY), limit, offset)
            return Response(page_of([state_out(item) for item in states], total, offset))
        found = await request.services.documents.get(bank, name)
        headers = {"ETag": entity_tag(found.revision), "Vary": "Accept"}
        if request.accept.best_match([JSON, MARKDOWN, "text/plain"], JSON) == JSON:
            return Response(document_out(found), headers=headers)
        return Response(found.content, headers=headers, media_type=MARKDOWN)

    @put(
        "/{path:path}",
        opt=WRITE,
        responses=WRITTEN,
        summary="Write a document, new or over the present one",
        operation_class=WritesMarkdown,
    )
    async def write(
        self,
        request: ApiRequest,
        bank: FromPath[str],
        path: Path,
        if_match: Match = None,
        if_none_match: NoneMatch = None,
    ) -> Response[DocumentStored | None]:
        name = _writable(request, path.removeprefix("/"))
        return await _write(request, bank, name, expected_revision(if_match, if_none_match))

    @delete("/{path:path}", opt=WRITE, status_code=204, responses=CONDITIONAL, summary="Delete a document")
    async def remove(self, request: ApiRequest, bank: FromPath[str], path: Path, if_match: Match = None) -> None:
        name = _writable(request, path.removeprefix("/"))
        await request.services.documents.delete(bank, name, expected_revision(if_match))

    @post(
        "/{path:path}",
        opt=WRITE,
        status_code=200,
        responses=also(201, DocumentStored, "The document is new."),
        summary="Under `{path}/append`: put text at the end of a document",
    )
    async def append(
        self, request: ApiRequest, bank: FromPath[str], path: Path, data: JSONBody[AdditionIn]
    ) -> Response[DocumentStored | None]:
        if not path.endswith(APPEND):
            raise MethodNotAllowedException(headers={"Allow": "GET, PUT, DELETE"})
        name = _writable(request, path.removeprefix("/").removesuffix(APPEND))
        written = await request.services.documents.append(
            bank, name, data.content, data.heading, reason=data.reason, request_key=request.seed
        )
        return _stored(written)


class RuleController(Controller):
    """
    The rules of a bank: documents that enter every prompt whole.
    """

    path = "/v1/banks/{bank:str}/rules"
    tags = ("documents",)

    @get(responses=PROBLEMS, summary="List rules by name")
    async def page(
        self, request: ApiRequest, bank: FromPath[str], limit: Limit = 100, offset: Offset = 0
    ) -> Page[RuleOut]:
        found = await request.services.documents.rules(bank)
        return page_of([rule_out(item) for item in found[offset : offset + limit]], len(found), offset)

    @put(
        "/{rule:str}",
        opt=ADMIN,
        responses=WRITTEN,
        summary="Write a rule; without content it is removed",
        operation_class=WritesMarkdown,
    )
    async def write(
        self,
        request: ApiRequest,
        bank: FromPath[str],
        rule: FromPath[str],
        if_match: Match = None,
        if_none_match: NoneMatch = None,
    ) -> Response[DocumentStored | None]:
        return await _write(request, bank, rule_path(rule), expected_revision(if_match, if_none_match))


async def _write(request: ApiRequest, bank: str, path: str, revision: int | None) -> Response[DocumentStored | None]:
    given = await _given(request)
    written = await request.services.documents.put(bank, path, given.content, revision, reason=given.reason)
    return _stored(written)


async def _given(request: ApiRequest) -> DocumentIn:
    body = await request.body()
    if not request.content_type[0].startswith("text/"):
        given: DocumentIn = read_body(body, DocumentIn)
        return given
    try:
        return DocumentIn(body.decode())
    except UnicodeDecodeError as error:
        raise InvalidInput.of("body", f"is not UTF-8 at byte {error.start}") from error


def _writable(request: ApiRequest, path: str) -> str:
    checked = check_path(path)
    if is_rule(checked):
        request.caller.require(Role.ADMIN)
    return checked


def _stored(written: Written) -> Response[DocumentStored | None]:
    if written.change is Change.DELETED:
        return Response(None, status_code=204)
    status = 201 if written.change is Change.CREATED else 200
    return Response(stored_out(written), status_code=status, headers={"ETag": entity_tag(written.document.revision)})
