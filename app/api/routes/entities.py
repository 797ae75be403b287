"""
Entities over HTTP: listed, shown with what names them, corrected, forgotten, joined and parted.
"""

from typing import Annotated

from litestar import Controller, delete, get, patch, post
from litestar.params import FromPath, JSONBody, QueryParameter

from app.api.auth import WRITE
from app.api.openapi import PROBLEMS
from app.api.request import ApiRequest
from app.api.schemas.entities import (
    EntityIn,
    EntityListed,
    EntityOut,
    MergeIn,
    UnmergeIn,
    entity_changes,
    entity_out,
    listed_out,
)
from app.api.schemas.paging import LIMIT_MAX, Limit, Offset, Page, page_of

RECORDS_SHOWN = 20
"""Records that an entity is shown with, unless asked for more or fewer."""

Part = Annotated[str | None, QueryParameter(description="Part of a name, in whatever case.")]
Type = Annotated[str | None, QueryParameter(name="type", description="person, organisation, place, product or other.")]
Shown = Annotated[int, QueryParameter(ge=0, le=LIMIT_MAX, description="Most records in the answer.")]


class EntityController(Controller):
    """
    The people, organisations, places and products that a bank names, as a resource.
    """

    path = "/v1/banks/{bank:str}/entities"
    tags = ("entities",)

    @get(responses=PROBLEMS, summary="List entities by name")
    async def page(
        self,
        request: ApiRequest,
        bank: FromPath[str],
        q: Part = None,
        kind: Type = None,
        limit: Limit = 100,
        offset: Offset = 0,
    ) -> Page[EntityListed]:
        found, total = await request.services.entities.page(bank, q, kind, limit, offset)
        return page_of([listed_out(item) for item in found], total, offset)

    @get("/{entity_id:str}", responses=PROBLEMS, summary="Show an entity with what is stated of it and what names it")
    async def show(
        self, request: ApiRequest, bank: FromPath[str], entity_id: FromPath[str], limit: Shown = RECORDS_SHOWN
    ) -> EntityOut:
        return entity_out(await request.services.entities.get(bank, entity_id, limit))

    @patch("/{entity_id:str}", opt=WRITE, responses=PROBLEMS, summary="Correct an entity")
    async def amend(
        self, request: ApiRequest, bank: FromPath[str], entity_id: FromPath[str], data: JSONBody[EntityIn]
    ) -> EntityOut:
        changes = entity_changes(data)
        return entity_out(await request.services.entities.amend(bank, entity_id, changes, RECORDS_SHOWN))

    @delete("/{entity_id:str}", opt=WRITE, status_code=204, responses=PROBLEMS, summary="Forget an entity")
    async def remove(self, request: ApiRequest, bank: FromPath[str], entity_id: FromPath[str]) -> None:
        await request.services.entities.delete(bank, entity_id)

    @post(
        "/{entity_id:str}/merge",
        opt=WRITE,
        status_code=200,
        responses=PROBLEMS,
        summary="Let an entity be another one, whose names take in its own",
    )
    async def merge(
        self, request: ApiRequest, bank: FromPath[str], entity_id: FromPath[str], data: JSONBody[MergeIn]
    ) -> EntityOut:
        return entity_out(await request.services.entities.merge(bank, entity_id, data.into, RECORDS_SHOWN))

    @post(
        "/{entity_id:str}/unmerge",
        opt=WRITE,
        status_code=200,
        responses=PROBLEMS,
        summary="Make an entity of its own of one of the names",
    )
    async def unmerge(
        self, request: ApiRequest, bank: FromPath[str], entity_id: FromPath[str], data: JSONBody[UnmergeIn]
    ) -> EntityOut:
        return entity_out(await request.services.entities.unmerge(bank, entity_id, data.alias, RECORDS_SHOWN))
