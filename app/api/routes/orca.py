"""
The paths of the Orca memory bank, kept to the letter: a profile is a bank. List and search count no access.
"""

from typing import Annotated

from litestar import Controller, Response, Router, delete, get, post
from litestar.params import FromPath, JSONBody, QueryParameter

from app.api.auth import WRITE
from app.api.field_names import renamed
from app.api.idempotency import drawn_id
from app.api.openapi import PROBLEMS
from app.api.readiness import ReadinessCheck
from app.api.request import ApiRequest
from app.api.schemas.orca import (
    MemoryCreateRequest,
    OrcaBank,
    OrcaMemories,
    OrcaMemory,
    OrcaSearch,
    OrcaStats,
    field_name,
    hit,
    new_memory,
    orca_memories,
)
from app.api.schemas.paging import LIMIT_MAX, OFFSET_MAX, Limit, Offset
from app.domain.filters import RecordFilter
from app.domain.records import Tier
from app.errors import NotFound
from app.services.recall_model import RecallRequest
from app.storage.memories import MemoryQuery

SEARCH_LIMIT = 8
SEARCH_MIN_SCORE = 0.05
PAGE_LIMIT = 100

Wanted = Annotated[str | None, QueryParameter()]
MinScore = Annotated[float, QueryParameter(name="minScore", ge=0.0, le=1.0, description="Least score of a result.")]
MaybeLimit = Annotated[int | None, QueryParameter(ge=1, le=LIMIT_MAX)]
MaybeOffset = Annotated[int | None, QueryParameter(ge=0, le=OFFSET_MAX)]


class ProfileController(Controller):
    """
    The memories of one profile.
    """

    path = "/profiles/{name:str}/memories"

    @get(responses=PROBLEMS, summary="List a profile's memories, newest first")
    async def page(
        self, request: ApiRequest, name: FromPath[str], limit: Limit = PAGE_LIMIT, offset: Offset = 0
    ) -> OrcaMemories:
        now = request.services.clock.now()
        found, total = await request.services.memories.page(name, RecordFilter(now), MemoryQuery(), limit, offset)
        return OrcaMemories(total, orca_memories(name, found, now), profile=name, limit=limit, offset=offset)

    @post(opt=WRITE, responses=PROBLEMS, summary="Save a memory of a profile")
    async def save(self, request: ApiRequest, name: FromPath[str], data: JSONBody[MemoryCreateRequest]) -> OrcaMemory:
        new = new_memory(data, drawn_id("mem", request.seed, 0))
        with renamed(field_name):
            (saved,) = await request.services.memories.save(name, [new], lambda _: "")
        return orca_memories(name, [saved.memory], request.services.clock.now())[0]

    @get("/search", responses=PROBLEMS, summary="Search a profile's memories")
    async def search(
        self,
        request: ApiRequest,
        name: FromPath[str],
        q: Wanted = None,
        limit: Limit = SEARCH_LIMIT,
        min_score: MinScore = SEARCH_MIN_SCORE,
    ) -> OrcaSearch:
        services = request.services
        question = RecallRequest(
            query=q or "",
            limit=limit,
            tiers=(Tier.MEMORY,),
            min_score=min_score,
            explain=True,
            record_access=False,
            scorer="orca",
        )
        answer = await services.recall.recall(name, question)
        request.metrics.recalled(answer.retrieval, answer.degraded)
        memories = await services.overview.by_seqs(name, [result.record.seq for result in answer.results])
        results = [result for result in answer.results if result.record.seq in memories]
        shown = orca_memories(name, [memories[result.record.seq] for result in results], services.clock.now())
        hits = [hit(memory, result) for memory, result in zip(shown, results, strict=True)]
        return OrcaSearch(profile=name, query=q or "", count=len(hits), results=hits)

    @get("/{memory_id:str}", responses=PROBLEMS, summary="Show a memory of a profile")
    async def show(self, request: ApiRequest, name: FromPath[str], memory_id: FromPath[str]) -> OrcaMemory:
        found = await request.services.memories.get(name, memory_id)
        return orca_memories(name, [found], request.services.clock.now())[0]

    @delete("/{memory_id:str}", opt=WRITE, status_code=204, responses=PROBLEMS, summary="Delete a memory of a profile")
    async def remove(self, request: ApiRequest, name: FromPath[str], memory_id: FromPath[str]) -> None:
        result = await request.services.memories.delete(name, [memory_id])
        if not result.deleted:
            raise NotFound(f"there is no memory {memory_id!r} in bank {name!r}")


class MemoryBankController(Controller):
    """
    The memories of all profiles that the key may see.
    """

    path = "/memory-bank"

    @get(responses=PROBLEMS, summary="All memories: by profile, or as one page when any parameter is given")
    async def show(
        self,
        request: ApiRequest,
        limit: MaybeLimit = None,
        offset: MaybeOffset = None,
        q: Wanted = None,
        category: Wanted = None,
    ) -> Response[OrcaBank | OrcaMemories]:
        overview, now, sees = request.services.overview, request.services.clock.now(), request.caller.sees
        if limit is None and offset is None and q is None and category is None:
            groups = await overview.grouped(sees)
            shown = {name: orca_memories(name, memories, now) for name, memories in groups.items()}
            return Response(OrcaBank(sum(map(len, shown.values())), len(shown), shown))
        size, start = PAGE_LIMIT if limit is None else limit, offset or 0
        found, total = await overview.page(sees, q or None, category, size, start)
        flat = [orca_memories(name, [memory], now)[0] for name, memory in found]
        return Response(OrcaMemories(total, flat, limit=size, offset=start))

    @get("/stats", responses=PROBLEMS, summary="How many memories there are")
    async def stats(self, request: ApiRequest) -> OrcaStats:
        counts = await request.services.overview.counts(request.caller.sees)
        return OrcaStats(sum(counts.values()), len(counts), counts)


def orca_router() -> Router:
    """
    The paths under `/api`, each refused with a reason while the store is not ready.
    """
    return Router(
        "/api",
        route_handlers=[ProfileController, MemoryBankController],
        before_request=ReadinessCheck(),
        tags=["orca"],
    )
