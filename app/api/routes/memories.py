"""
Memories over HTTP: saved, listed, shown, changed, superseded, deleted, with their history.
"""

from typing import Annotated

from litestar import Controller, Response, delete, get, patch, post
from litestar.params import FromPath, JSONBody, QueryParameter
from msgspec import UNSET

from app.api.auth import WRITE
from app.api.bodies import given
from app.api.idempotency import drawn_id
from app.api.openapi import PROBLEMS, also
from app.api.request import ApiRequest
from app.api.schemas.memories import (
    MemoriesDeleted,
    MemoriesSaved,
    MemoryChanges,
    MemoryIds,
    MemoryOut,
    NewMemories,
    RevisionOut,
    Supersession,
    as_first,
    deleted_out,
    memories_out,
    memory_out,
    new_memory,
    revision_out,
    saved_out,
)
from app.api.schemas.paging import Limit, Offset, Page, page_of
from app.api.schemas.values import as_text
from app.domain.filters import RecordFilter
from app.domain.records import Category
from app.errors import InvalidInput, NotFound
from app.storage.memories import MemoryQuery

Wanted = Annotated[str | None, QueryParameter()]
Tags = Annotated[list[str] | None, QueryParameter(name="tag", description="May be repeated: all tags must be there.")]
Wait = Annotated[bool, QueryParameter(description="Wait for the structure that a language model gives.")]
Purge = Annotated[bool, QueryParameter(description="Erase every trace instead of leaving a tombstone.")]
Ids = Annotated[list[str] | None, QueryParameter(description="Memory ids, separated by commas.")]
Retired = Annotated[bool, QueryParameter(description="Show superseded memories too.")]


class MemoryController(Controller):
    """
    The memories of a bank as a resource.
    """

    path = "/v1/banks/{bank:str}/memories"
    tags = ("memories",)

    @post(
        opt=WRITE,
        responses=also(200, MemoryOut | MemoriesSaved, "Nothing is new: what was known is reinforced."),
        summary="Save one memory, or several",
    )
    async def save(
        self, request: ApiRequest, bank: FromPath[str], data: JSONBody[NewMemories], wait: Wait = False
    ) -> Response[MemoryOut | MemoriesSaved]:
        services = request.services
        wait_s = services.settings.memory.structure_wait_s if wait else 0.0
        if data.memories is UNSET:
            new = [new_memory(data, drawn_id("mem", request.seed, 0))]
            (saved,) = as_first(await services.memories.save(bank, new, lambda _: "", wait_s), new)
            shown = memory_out(bank, saved.memory, services.clock.now(), reinforced=not saved.created)
            return Response(shown, status_code=201 if saved.created else 200)
        _refuse_both(data)
        new = [new_memory(item, drawn_id("mem", request.seed, place)) for place, item in enumerate(data.memories)]
        saved_all = await services.memories.save(bank, new, lambda place: f"memories[{place}].", wait_s)
        several = as_first(saved_all, new)
        status = 201 if any(item.created for item in several) else 200
        return Response(saved_out(bank, several, services.clock.now()), status_code=status)

    @get(responses=PROBLEMS, summary="List memories, newest first")
    async def page(
        self,
        request: ApiRequest,
        bank: FromPath[str],
        tag: Tags = None,
        category: Annotated[Category | None, QueryParameter()] = None,
        key: Wanted = None,
        q: Wanted = None,
        include_superseded: Retired = False,
        limit: Limit = 50,
        offset: Offset = 0,
    ) -> Page[MemoryOut]:
        now = request.services.clock.now()
        wanted = RecordFilter(
            clock=now, tags=frozenset(tag or ()), category=category, include_superseded=include_superseded
        )
        query = MemoryQuery(key=key, contains=q or None)
        found, total = await request.services.memories.page(bank, wanted, query, limit, offset)
        return page_of(memories_out(bank, found, now), total, offset)

    @delete(opt=WRITE, status_code=200, responses=PROBLEMS, summary="Delete several memories")
    async def remove_listed(
        self,
        request: ApiRequest,
        bank: FromPath[str],
        data: JSONBody[MemoryIds | None] = None,
        ids: Ids = None,
        purge: Purge = False,
    ) -> MemoriesDeleted:
        listed = [part for item in ids or () for part in item.split(",") if part]
        if data is not None:
            listed += data.ids
            purge = purge or bool(data.purge)
        return await self._remove(request, bank, listed, purge=purge)

    @post("/delete", opt=WRITE, status_code=200, responses=PROBLEMS, summary="Delete several memories")
    async def remove_posted(
        self, request: ApiRequest, bank: FromPath[str], data: JSONBody[MemoryIds]
    ) -> MemoriesDeleted:
        return await self._remove(request, bank, data.ids, purge=bool(data.purge))

    @get("/{memory_id:str}", responses=PROBLEMS, summary="Show a memory")
    async def show(self, request: ApiRequest, bank: FromPath[str], memory_id: FromPath[str]) -> MemoryOut:
        found = await request.services.memories.get(bank, memory_id)
        return memory_out(bank, found, request.services.clock.now())

    @patch("/{memory_id:str}", opt=WRITE, responses=PROBLEMS, summary="Change a memory")
    async def amend(
        self, request: ApiRequest, bank: FromPath[str], memory_id: FromPath[str], data: JSONBody[MemoryChanges]
    ) -> MemoryOut:
        changes = given(data)
        if "key" in changes:
            changes["key"] = as_text(changes["key"])
        changed = await request.services.memories.amend(bank, memory_id, changes)
        return memory_out(bank, changed, request.services.clock.now())

    @delete("/{memory_id:str}", opt=WRITE, status_code=204, responses=PROBLEMS, summary="Delete a memory")
    async def remove(
        self, request: ApiRequest, bank: FromPath[str], memory_id: FromPath[str], purge: Purge = False
    ) -> None:
        result = await request.services.memories.delete(bank, [memory_id], purge=purge)
        if not result.deleted:
            raise NotFound(f"there is no memory {memory_id!r} in bank {bank!r}")

    @get("/{memory_id:str}/history", responses=PROBLEMS, summary="Every state of a memory, oldest first")
    async def history(
        self,
        request: ApiRequest,
        bank: FromPath[str],
        memory_id: FromPath[str],
        limit: Limit = 500,
        offset: Offset = 0,
    ) -> Page[RevisionOut]:
        found = await request.services.memories.history(bank, memory_id)
        shown = [revision_out(item) for item in found[offset : offset + limit]]
        return page_of(shown, len(found), offset)

    @post("/{memory_id:str}/supersede", opt=WRITE, status_code=200, responses=PROBLEMS, summary="Retire a memory")
    async def supersede(
        self, request: ApiRequest, bank: FromPath[str], memory_id: FromPath[str], data: JSONBody[Supersession]
    ) -> MemoryOut:
        retired, _ = await request.services.memories.supersede(
            bank, memory_id, data.by, reinforce=data.reinforce, reason=data.reason
        )
        return memory_out(bank, retired, request.services.clock.now())

    async def _remove(self, request: ApiRequest, bank: str, ids: list[str], *, purge: bool) -> MemoriesDeleted:
        if not ids:
            raise InvalidInput.of("ids", "must name at least one memory")
        most = request.services.settings.server.batch_max
        if len(ids) > most:
            raise InvalidInput.of("ids", f"at most {most} at once, got {len(ids)}")
        return deleted_out(await request.services.memories.delete(bank, ids, purge=purge))


def _refuse_both(data: NewMemories) -> None:
    single = [name for name, value in given(data).items() if name != "memories" and value is not None]
    if single:
        raise InvalidInput.of(single[0], "belongs into each of the memories")
