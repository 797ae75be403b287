"""
Short-term entries over HTTP: stored in batches, listed, removed with their action.
"""

from typing import Annotated

from litestar import Controller, delete, get, post
from litestar.params import FromPath, JSONBody, QueryParameter
from msgspec import UNSET

from app.api.auth import WRITE
from app.api.field_names import renamed
from app.api.idempotency import drawn_id
from app.api.openapi import PROBLEMS
from app.api.request import ApiRequest
from app.api.schemas.banks import Erased
from app.api.schemas.entries import EntriesStored, EntryOut, NewEntries, entry_out, new_entry, stored_out
from app.api.schemas.paging import Limit, Offset, Page, page_of
from app.errors import InvalidInput
from app.services.remember import EntryQuery

Wanted = Annotated[str | None, QueryParameter()]


class EntryController(Controller):
    """
    The entries of a bank as a resource.
    """

    path = "/v1/banks/{bank:str}/entries"
    tags = ("entries",)

    @post(opt=WRITE, responses=PROBLEMS, summary="Store entries")
    async def store(self, request: ApiRequest, bank: FromPath[str], data: JSONBody[NewEntries]) -> EntriesStored:
        posted = data.messages if data.entries is UNSET else data.entries
        if posted is UNSET:
            raise InvalidInput.of("entries", "is required")
        if data.entries is not UNSET and data.messages is not UNSET:
            raise InvalidInput.of("messages", "is another name for entries; give one of the two")
        new = [new_entry(item, drawn_id("ent", request.seed, place)) for place, item in enumerate(posted)]
        word = "entries" if data.messages is UNSET else "messages"
        with renamed(lambda field: word + field.removeprefix("entries")):
            return stored_out(await request.services.remember.entries(bank, new), new)

    @get(responses=PROBLEMS, summary="List entries, newest first")
    async def page(
        self,
        request: ApiRequest,
        bank: FromPath[str],
        session_id: Wanted = None,
        source: Wanted = None,
        source_id: Wanted = None,
        action_id: Wanted = None,
        role: Wanted = None,
        limit: Limit = 50,
        offset: Offset = 0,
    ) -> Page[EntryOut]:
        query = EntryQuery(session_id, source, source_id, action_id, role)
        found, total = await request.services.remember.page(bank, query, limit, offset)
        return page_of([entry_out(bank, item) for item in found], total, offset)

    @delete(opt=WRITE, status_code=200, responses=PROBLEMS, summary="Remove the entries of an action")
    async def remove(self, request: ApiRequest, bank: FromPath[str], action_id: Wanted = None) -> Erased:
        if not action_id:
            raise InvalidInput.of("action_id", "is required: it names the action whose entries go")
        return Erased(await request.services.remember.delete_action(bank, action_id))
