"""
Banks over HTTP: made, listed, described, trashed, restored, erased, counted.
"""

from typing import Annotated

from litestar import Controller, Response, delete, get, patch, post
from litestar.params import FromPath, JSONBody, QueryParameter

from app.api.auth import ADMIN, WRITE
from app.api.bodies import given
from app.api.openapi import PROBLEMS, also
from app.api.request import ApiRequest
from app.api.schemas.banks import (
    BankChanges,
    BankOut,
    BankStatsOut,
    Erased,
    NewBank,
    TagCount,
    bank_out,
    stats_out,
)
from app.api.schemas.paging import Limit, Offset, Page, page_of
from app.services.banks import check_name

EraseFlag = Annotated[bool, QueryParameter(description="Erase the bank for good instead of moving it to the trash.")]


class BankController(Controller):
    """
    The bank as a resource.
    """

    path = "/v1/banks"
    tags = ("banks",)

    @post(opt=WRITE, responses=PROBLEMS, summary="Make a bank")
    async def create(self, request: ApiRequest, data: JSONBody[NewBank]) -> BankOut:
        request.caller.require_bank(check_name(data.name))
        made = await request.services.banks.create(data.name, data.description or "", data.settings)
        return bank_out(made)

    @get(responses=PROBLEMS, summary="List the banks that the key may see")
    async def page(self, request: ApiRequest, limit: Limit = 100, offset: Offset = 0) -> Page[BankOut]:
        found, total = await request.services.banks.page(limit, offset, request.caller.sees)
        return page_of([bank_out(item) for item in found], total, offset)

    @get("/{bank:str}", responses=PROBLEMS, summary="Show a bank")
    async def show(self, request: ApiRequest, bank: FromPath[str]) -> BankOut:
        return bank_out(await request.services.banks.get(bank))

    @patch("/{bank:str}", opt=ADMIN, responses=PROBLEMS, summary="Change a bank")
    async def amend(self, request: ApiRequest, bank: FromPath[str], data: JSONBody[BankChanges]) -> BankOut:
        changes = given(data)
        description = changes.get("description")
        if "description" in changes and description is None:
            description = ""
        return bank_out(await request.services.banks.amend(bank, description, changes.get("settings")))

    @delete(
        "/{bank:str}",
        opt=ADMIN,
        status_code=200,
        responses=also(204, None, "The bank lies in the trash."),
        summary="Move a bank to the trash, or erase it",
    )
    async def remove(
        self, request: ApiRequest, bank: FromPath[str], erase: EraseFlag = False
    ) -> Response[Erased | None]:
        if erase:
            return Response(Erased(await request.services.banks.erase(bank)))
        await request.services.banks.trash(bank)
        return Response(None, status_code=204)

    @post(
        "/{bank:str}/restore",
        opt=ADMIN,
        status_code=200,
        responses=PROBLEMS,
        summary="Bring a bank back from the trash",
    )
    async def restore(self, request: ApiRequest, bank: FromPath[str]) -> BankOut:
        return bank_out(await request.services.banks.restore(bank))

    @get("/{bank:str}/stats", responses=PROBLEMS, summary="What a bank holds")
    async def stats(self, request: ApiRequest, bank: FromPath[str]) -> BankStatsOut:
        return stats_out(await request.services.banks.stats(bank))

    @get("/{bank:str}/tags", responses=PROBLEMS, summary="The tags of a bank, most used first")
    async def tag_counts(self, request: ApiRequest, bank: FromPath[str]) -> list[TagCount]:
        return [TagCount(tag, count) for tag, count in await request.services.banks.tags(bank)]
