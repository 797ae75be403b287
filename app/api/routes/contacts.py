"""
Contacts over HTTP: listed, shown, written, linked with others of the same person.
"""

from typing import Annotated

from litestar import Controller, Response, delete, get, post, put
from litestar.params import FromPath, JSONBody, PathParameter, QueryParameter

from app.api.auth import WRITE
from app.api.bodies import given
from app.api.openapi import PROBLEMS, also
from app.api.request import ApiRequest
from app.api.schemas.contacts import ContactIn, ContactOut, LinkIn, contact_out
from app.api.schemas.paging import Limit, Offset, Page, page_of

Jid = Annotated[str, PathParameter(description="`platform:id`; the first colon parts them, the id may hold more.")]
Alias = Annotated[str, PathParameter(description="Another address, or the name that the contact goes by.")]
Platform = Annotated[str | None, QueryParameter(description="Only contacts of this channel.")]


class ContactController(Controller):
    """
    The contacts of a bank as a resource.
    """

    path = "/v1/banks/{bank:str}/contacts"
    tags = ("contacts",)

    @get(responses=PROBLEMS, summary="List contacts, the one that wrote last first")
    async def page(
        self,
        request: ApiRequest,
        bank: FromPath[str],
        platform: Platform = None,
        limit: Limit = 100,
        offset: Offset = 0,
    ) -> Page[ContactOut]:
        found, total = await request.services.contacts.page(bank, platform, limit, offset)
        return page_of([contact_out(item) for item in found], total, offset)

    @get("/{jid:str}", responses=PROBLEMS, summary="Show a contact")
    async def show(self, request: ApiRequest, bank: FromPath[str], jid: Jid) -> ContactOut:
        return contact_out(await request.services.contacts.get(bank, jid))

    @put(
        "/{jid:str}",
        opt=WRITE,
        responses=also(201, ContactOut, "The contact is new."),
        summary="Write a contact, new or over what is known",
    )
    async def write(
        self, request: ApiRequest, bank: FromPath[str], jid: Jid, data: JSONBody[ContactIn]
    ) -> Response[ContactOut]:
        profile, is_new = await request.services.contacts.put(bank, jid, given(data))
        return Response(contact_out(profile), status_code=201 if is_new else 200)

    @post(
        "/{jid:str}/links",
        opt=WRITE,
        status_code=200,
        responses=PROBLEMS,
        summary="Say that another address, or a name, is the same person's",
    )
    async def link(self, request: ApiRequest, bank: FromPath[str], jid: Jid, data: JSONBody[LinkIn]) -> ContactOut:
        return contact_out(await request.services.contacts.link(bank, jid, data.alias))

    @delete(
        "/{jid:str}/links/{alias:str}",
        opt=WRITE,
        status_code=200,
        responses=PROBLEMS,
        summary="Take an address, or a name, from a person again",
    )
    async def unlink(self, request: ApiRequest, bank: FromPath[str], jid: Jid, alias: Alias) -> ContactOut:
        return contact_out(await request.services.contacts.unlink(bank, jid, alias))
