"""
Stands between the service and a language model: a deadline, a circuit breaker, and each bank's daily budget.
"""

import asyncio
from datetime import datetime, time, timedelta
from typing import Protocol

import structlog

from app.clock import Clock
from app.domain.model_usage import DailyBudget
from app.providers.circuit_breaker import BreakerState, CircuitBreaker
from app.providers.language_model import LanguageModel, ModelError, ModelReply, ModelRequest
from app.providers.protocols import ProviderState
from app.providers.token_estimate import estimate_tokens

log = structlog.get_logger(__name__)

NO_FAULT_OF_THE_SERVER = frozenset({"model_rejected", "model_refused"})
"""Reasons that show a server which is there and answers."""


class UsageAccount(Protocol):
    """
    Counts what each bank has used in a day.
    """

    async def reserve(self, bank_id: int, day: str, budget: DailyBudget) -> str | None:
        """
        Count one more call, unless the budget has no room for it; then say in words which bound is reached.
        """
        ...

    async def add_tokens(self, bank_id: int, day: str, input_tokens: int, output_tokens: int) -> None:
        """
        Add what a counted call read and wrote.
        """
        ...


class GuardedModel:
    """
    A model that is asked on behalf of a bank, within that bank's budget and only while the model seems to be there.

    A call counts from the moment it is made, whether or not it succeeds; attempts that the SDK repeats count once.
    Tokens are the server's own numbers, or, where it tells none, an upper bound on them.
    """

    def __init__(
        self,
        model: LanguageModel,
        breaker: CircuitBreaker,
        account: UsageAccount,
        budget: DailyBudget,
        clock: Clock,
        deadline_s: float,
    ) -> None:
        self._model = model
        self._breaker = breaker
        self._account = account
        self._budget = budget
        self._clock = clock
        self._deadline_s = deadline_s

    @property
    def name(self) -> str:
        """
        Provider and model.
        """
        return self._model.name

    async def complete(self, bank_id: int, request: ModelRequest) -> ModelReply:
        """
        Ask once.

        Raises:
            ModelError: `model_circuit_open`, `model_budget_spent` (both with the seconds until it may be otherwise), or
                what the model's failure is called.
        """
        self._breaker.permit()
        try:
            day = await self._reserve(bank_id)
            reply = await self._within_deadline(request)
        except ModelError as error:
            self._judge(error)
            raise
        except BaseException:
            self._breaker.dropped()
            raise
        self._breaker.succeeded()
        read = reply.input_tokens or sum(estimate_tokens(turn.content) for turn in request.turns)
        written = reply.output_tokens or estimate_tokens(reply.text)
        await self._account.add_tokens(bank_id, day, read, written)
        log.info(
            "model_asked",
            task=request.task,
            model=reply.model,
            input_tokens=read,
            output_tokens=written,
            finish=reply.finish_reason.value,
        )
        return reply

    async def close(self) -> None:
        """
        Give back connections. No call may follow.
        """
        await self._model.close()

    def state(self) -> ProviderState:
        """
        Whether calls get through, and the circuit's state in words.
        """
        closed = self._breaker.state is BreakerState.CLOSED
        return ProviderState(self.name, closed, self._breaker.detail)

    async def _reserve(self, bank_id: int) -> str:
        now = self._clock.now()
        day = now.date().isoformat()
        spent = await self._account.reserve(bank_id, day, self._budget)
        if spent is not None:
            raise ModelError(
                "model_budget_spent",
                f"{spent} of this bank on {day} (UTC)",
                retryable=True,
                retry_after_s=_until_tomorrow(now),
            )
        return day

    async def _within_deadline(self, request: ModelRequest) -> ModelReply:
        seconds = self._deadline_s if request.deadline_s is None else request.deadline_s
        try:
            async with asyncio.timeout(seconds):
                return await self._model.complete(request)
        except TimeoutError as error:
            detail = f"{self.name}: no answer within {seconds:g} s, attempts included"
            raise ModelError("model_timeout", detail, retryable=True) from error

    def _judge(self, error: ModelError) -> None:
        if error.reason == "model_budget_spent":
            self._breaker.dropped()
        elif error.reason in NO_FAULT_OF_THE_SERVER:
            self._breaker.succeeded()
        else:
            self._breaker.failed(error)
            log.warning("model_failed", model=self.name, reason=error.reason, circuit=self._breaker.state.value)


def _until_tomorrow(now: datetime) -> float:
    tomorrow = datetime.combine(now.date() + timedelta(days=1), time(), tzinfo=now.tzinfo)
    return (tomorrow - now).total_seconds()
