"""
The prompt assembler: one call that returns what to put into a prompt, what it costs and what was left out.
"""

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from typing import Protocol

import structlog

from app.clock import Clock
from app.domain.context.assemble import assemble
from app.domain.context.items import Assembled
from app.domain.context.profile import Budget, Profile, TokenCounter, Unit
from app.errors import FieldFault, InvalidInput
from app.services.context_model import ContextAnswer, ContextRequest
from app.services.context_sources import ContextRecords, ContextSources, Gathered, failure
from app.services.core_tier import CoreTier

log = structlog.get_logger(__name__)

ESTIMATE = "estimate"
"""Name of the counter that has no vocabulary."""


class Tokenizers(Protocol):
    """
    Token counters by model.
    """

    def for_model(self, model: str | None) -> TokenCounter:
        """
        The counter of the named model; of an unknown one, or none, the default counter.
        """
        ...


class ContextService:
    """
    Assembles contexts. `profiles` are looked up by name, `default_profile` is that of a request which names none.
    """

    def __init__(
        self,
        records: ContextRecords,
        core: CoreTier,
        tokenizers: Tokenizers,
        profiles: Mapping[str, Profile],
        default_profile: str,
        clock: Clock,
    ) -> None:
        self._records = records
        self._sources = ContextSources(records, core)
        self._tokenizers = tokenizers
        self._profiles = profiles
        self._default_profile = default_profile
        self._clock = clock

    async def assemble(self, bank: str, request: ContextRequest) -> ContextAnswer:
        """
        Build the context of one request; the text never exceeds the budget.

        Only the records that made it into the text count as used, and none on a preview.

        Raises:
            InvalidInput: naming the field: both budgets given, one negative, an unknown profile or section,
                half a conversation.
            NotFound: when there is no such bank.
        """
        profile = self._profile(request)
        budget = _budget(request, profile)
        scope = await self._records.scope(bank, request.session_id, request.source, request.source_id)
        request = replace(request, scope=scope)
        gathered = await self._sources.read(bank, request, profile)
        # Counting may take milliseconds, and a vocabulary's first use far longer: neither may hold up other requests.
        assembled, counter = await asyncio.to_thread(self._assemble, request, profile, budget, gathered)
        degraded = list(gathered.degraded)
        if budget.unit is Unit.TOKENS and counter == ESTIMATE:
            degraded.append("tokens_estimated: no vocabulary is at hand, so the text may be shorter than it need be")
        if not request.preview:
            degraded += await self._count_access(bank, assembled)
        return ContextAnswer(
            text=assembled.text,
            tokens=assembled.tokens,
            chars=assembled.chars,
            budget=budget,
            counter=counter,
            profile=profile.name,
            retrieval=gathered.retrieval,
            degraded=tuple(degraded),
            prefix_hash=assembled.prefix_hash,
            sections=assembled.sections,
            scope=scope.id,
        )

    def _profile(self, request: ContextRequest) -> Profile:
        name = self._default_profile if request.profile is None else request.profile
        profile = self._profiles.get(name)
        if profile is None:
            known = ", ".join(sorted(self._profiles))
            raise InvalidInput.of("profile", f"there is no profile {name!r} (there are: {known})")
        return profile if request.sections is None else profile.keeping(request.sections)

    def _assemble(
        self, request: ContextRequest, profile: Profile, budget: Budget, gathered: Gathered
    ) -> tuple[Assembled, str]:
        counter = self._tokenizers.for_model(request.model)
        assembled = assemble(
            profile,
            gathered.items,
            budget,
            counter,
            recalled_at=self._clock.now().astimezone(gathered.zone),
            withheld=gathered.withheld,
        )
        return assembled, counter.name

    async def _count_access(self, bank: str, assembled: Assembled) -> list[str]:
        ids = assembled.placed_ids()
        if not ids:
            return []
        (outcome,) = await asyncio.gather(self._records.record_access(bank, ids), return_exceptions=True)
        if not isinstance(outcome, BaseException):
            return []
        if not isinstance(outcome, Exception):
            raise outcome
        log.warning("context_access_not_counted", exc_info=outcome)
        return [failure("access_not_counted", "context", outcome)]


def _budget(request: ContextRequest, profile: Profile) -> Budget:
    if request.tokens is not None and request.chars is not None:
        message = "give tokens or chars, not both"
        raise InvalidInput(
            f"budget: {message}", (FieldFault("budget.tokens", message), FieldFault("budget.chars", message))
        )
    if request.tokens is not None:
        return Budget(request.tokens, Unit.TOKENS)
    if request.chars is not None:
        return Budget(request.chars, Unit.CHARS)
    return profile.budget
