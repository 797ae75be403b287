"""
Proposals over HTTP: instructions that were heard from people who do not teach rules, for a person to decide on.
"""

from typing import Annotated

from litestar import Controller, get, post
from litestar.params import FromPath, QueryParameter

from app.api.auth import ADMIN
from app.api.openapi import PROBLEMS
from app.api.request import ApiRequest
from app.api.schemas.jobs import ProposalOut, proposal_out
from app.api.schemas.paging import Limit, Offset, Page, page_of
from app.domain.consolidation.proposals import ProposalState
from app.errors import InvalidInput


class ProposalController(Controller):
    """
    The proposals of a bank as a resource.
    """

    path = "/v1/banks/{bank:str}/proposals"
    tags = ("rules",)

    @get(responses=PROBLEMS, summary="List proposals, newest first")
    async def page(
        self,
        request: ApiRequest,
        bank: FromPath[str],
        proposal_state: Annotated[
            str, QueryParameter(name="state", description="pending, learned, accepted, rejected, or all.")
        ] = "pending",
        limit: Limit = 50,
        offset: Offset = 0,
    ) -> Page[ProposalOut]:
        states = _states(proposal_state)
        found, total = await request.services.rules.page(bank, states, limit, offset)
        return page_of([proposal_out(item) for item in found], total, offset)

    @post("/{proposal_id:str}/accept", opt=ADMIN, status_code=200, responses=PROBLEMS, summary="Make it a rule")
    async def accept(self, request: ApiRequest, bank: FromPath[str], proposal_id: FromPath[str]) -> ProposalOut:
        return proposal_out(await request.services.rules.accept(bank, proposal_id))

    @post("/{proposal_id:str}/reject", opt=ADMIN, status_code=200, responses=PROBLEMS, summary="Refuse it for good")
    async def reject(self, request: ApiRequest, bank: FromPath[str], proposal_id: FromPath[str]) -> ProposalOut:
        return proposal_out(await request.services.rules.reject(bank, proposal_id))


def _states(given: str) -> list[ProposalState]:
    known = [state.value for state in ProposalState]
    if given == "all":
        return list(ProposalState)
    if given not in known:
        raise InvalidInput.of("state", f"must be one of {', '.join(known)}, all; got {given!r}")
    return [ProposalState(given)]
