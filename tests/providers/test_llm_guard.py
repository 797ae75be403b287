"""
The guard before a model: the circuit breaker, the daily budget, the deadline, and what the doctor is told.
"""

import asyncio
from datetime import UTC, datetime, timedelta

import pytest

from app.clock import FrozenClock
from app.config import LanguageModelSettings
from app.domain.model_usage import DailyBudget, ModelUsage
from app.providers.answer_form import form_name, in_words, strict_schema
from app.providers.circuit_breaker import BreakerState, CircuitBreaker
from app.providers.language_model import FinishReason, ModelError, ModelReply, ModelRequest
from app.providers.llm_factory import TASKS, build_language_models
from app.providers.llm_guard import GuardedModel
from app.providers.protocols import ProviderState
from tests.providers.model_asking import OPENAI_KEY, VARIABLES, Colour, MemoryAccount, question

NOON = datetime(2026, 11, 30, 12, tzinfo=UTC)
BANK = 7


class Scripted:
    """
    A model that fails or answers as it is told; without a plan it answers.
    """

    name = "stub/one"

    def __init__(self) -> None:
        self.plan: list[ModelError | ModelReply] = []
        self.asked = 0
        self.gate: asyncio.Event | None = None

    async def complete(self, request: ModelRequest) -> ModelReply:
        self.asked += 1
        if self.gate is not None:
            await self.gate.wait()
        found = self.plan.pop(0) if self.plan else ModelReply("{}", 10, 5, FinishReason.STOP, "one")
        if isinstance(found, ModelError):
            raise found
        return found

    async def close(self) -> None:
        self.plan.clear()


@pytest.fixture
def clock() -> FrozenClock:
    return FrozenClock(NOON)


@pytest.fixture
def model() -> Scripted:
    return Scripted()


@pytest.fixture
def account() -> MemoryAccount:
    return MemoryAccount()


def guard(model: Scripted, account: MemoryAccount, clock: FrozenClock, **budget: int | None) -> GuardedModel:
    breaker = CircuitBreaker(clock, failures=2, cool_down_s=30, cool_down_max_s=600)
    return GuardedModel(model, breaker, account, DailyBudget(**budget), clock, deadline_s=60)


def down(reason: str = "model_server_error", wait: float | None = None) -> ModelError:
    return ModelError(reason, "HTTP 500", retryable=True, retry_after_s=wait)


async def fails(guarded: GuardedModel, reason: str) -> ModelError:
    with pytest.raises(ModelError) as raised:
        await guarded.complete(BANK, question())
    assert raised.value.reason == reason
    return raised.value


async def test_a_failing_model_is_left_alone_and_then_tried_by_one_call(
    model: Scripted, account: MemoryAccount, clock: FrozenClock
) -> None:
    guarded = guard(model, account, clock)
    model.plan = [down(), down()]
    for _ in range(2):
        await fails(guarded, "model_server_error")
    assert guarded.state().detail.startswith("circuit open until 2026-11-30T12:00:30")
    refused = await fails(guarded, "model_circuit_open")
    assert (model.asked, refused.retry_after_s, refused.retryable) == (2, 30.0, True)

    clock.moment += timedelta(seconds=30)
    model.gate = asyncio.Event()
    trying = asyncio.create_task(guarded.complete(BANK, question()))
    await asyncio.sleep(0)
    await fails(guarded, "model_circuit_open")
    model.gate.set()
    await trying
    assert guarded.state() == ProviderState("stub/one", True, "circuit closed")
    assert model.asked == 3


async def test_a_call_that_tries_in_vain_opens_the_circuit_again(
    model: Scripted, account: MemoryAccount, clock: FrozenClock
) -> None:
    guarded = guard(model, account, clock)
    model.plan = [down(), down(), down()]
    for _ in range(2):
        await fails(guarded, "model_server_error")
    clock.moment += timedelta(seconds=31)
    await fails(guarded, "model_server_error")
    assert (await fails(guarded, "model_circuit_open")).retry_after_s == 30.0


@pytest.mark.parametrize(("asked", "waited"), [(120.0, 120.0), (1e300, 600.0)])
async def test_d32_a_server_that_asks_for_time_gets_it_from_all_callers(
    asked: float, waited: float, model: Scripted, account: MemoryAccount, clock: FrozenClock
) -> None:
    guarded = guard(model, account, clock)
    model.plan = [down("model_rate_limited", asked)]
    await fails(guarded, "model_rate_limited")
    assert (await fails(guarded, "model_circuit_open")).retry_after_s == waited
    assert model.asked == 1


@pytest.mark.parametrize("reason", ["model_rejected", "model_refused"])
async def test_an_input_at_fault_says_nothing_against_the_model(
    reason: str, model: Scripted, account: MemoryAccount, clock: FrozenClock
) -> None:
    guarded = guard(model, account, clock)
    model.plan = [down(), *[down(reason)] * 5, down()]
    await fails(guarded, "model_server_error")
    for _ in range(5):
        await fails(guarded, reason)
    await fails(guarded, "model_server_error")
    assert guarded.state().ok


async def test_a_caller_that_goes_away_gives_the_trial_back(
    model: Scripted, account: MemoryAccount, clock: FrozenClock
) -> None:
    guarded = guard(model, account, clock)
    model.plan = [down(), down()]
    for _ in range(2):
        await fails(guarded, "model_server_error")
    clock.moment += timedelta(seconds=30)
    model.gate = asyncio.Event()
    trying = asyncio.create_task(guarded.complete(BANK, question()))
    await asyncio.sleep(0)
    trying.cancel()
    with pytest.raises(asyncio.CancelledError):
        await trying
    model.gate = None
    assert (await guarded.complete(BANK, question())).text == "{}"


async def test_the_budget_of_calls_is_exact_and_of_its_day(
    model: Scripted, account: MemoryAccount, clock: FrozenClock
) -> None:
    guarded = guard(model, account, clock, calls=3)
    model.plan = [down()]
    await fails(guarded, "model_server_error")
    for _ in range(2):
        await guarded.complete(BANK, question())
    spent = await fails(guarded, "model_budget_spent")
    assert (spent.retry_after_s, spent.detail) == (
        12 * 3600.0,
        "model_budget_spent: 3 of 3 calls of this bank on 2026-11-30 (UTC)",
    )
    await guarded.complete(BANK + 1, question())
    clock.moment += timedelta(hours=12)
    await guarded.complete(BANK, question())
    assert guarded.state().ok


async def test_tokens_are_counted_as_told_or_from_above(
    model: Scripted, account: MemoryAccount, clock: FrozenClock
) -> None:
    guarded = guard(model, account, clock, tokens=25)
    await guarded.complete(BANK, question())
    model.plan = [ModelReply("blue", 0, 0, FinishReason.STOP, "one")]
    await guarded.complete(BANK, question("Which colour?"))
    used = account.usage[BANK, "2026-11-30"]
    assert (used.calls, used.output_tokens > 5, used.input_tokens > 10) == (2, True, True)
    await fails(guarded, "model_budget_spent")


async def test_zero_allows_nothing_and_none_has_no_bound(
    model: Scripted, account: MemoryAccount, clock: FrozenClock
) -> None:
    for budget in ({"calls": 0}, {"tokens": 0}):
        await fails(guard(model, account, clock, **budget), "model_budget_spent")
    unbounded = guard(model, account, clock, calls=None, tokens=None)
    for _ in range(5):
        await unbounded.complete(BANK, question())
    assert model.asked == 5


async def test_o37_a_call_ends_at_its_deadline(model: Scripted, account: MemoryAccount, clock: FrozenClock) -> None:
    guarded = guard(model, account, clock)
    model.gate = asyncio.Event()
    with pytest.raises(ModelError, match=r"model_timeout: stub/one: no answer within 0\.05 s"):
        await guarded.complete(BANK, question(deadline_s=0.05))


def test_a_budget_says_which_bound_is_reached() -> None:
    used = ModelUsage(3, 40, 10)
    assert DailyBudget().spent(used) is None
    assert DailyBudget(calls=4, tokens=51).spent(used) is None
    assert DailyBudget(calls=3).spent(used) == "3 of 3 calls"
    assert DailyBudget(tokens=50).spent(used) == "50 of 50 tokens"


def test_the_breaker_names_its_state(clock: FrozenClock) -> None:
    breaker = CircuitBreaker(clock, failures=1, cool_down_s=5, cool_down_max_s=10)
    states = [breaker.state]
    breaker.failed(down())
    states.append(breaker.state)
    clock.moment += timedelta(seconds=5)
    states.append(breaker.state)
    assert states == [BreakerState.CLOSED, BreakerState.OPEN, BreakerState.HALF_OPEN]
    assert breaker.detail == "circuit half_open until 2026-11-30T12:00:05+00:00: model_server_error: HTTP 500"


@pytest.fixture
def clean_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)


@pytest.mark.usefixtures("clean_environment")
class TestBuilding:
    """
    From the configuration to a model for each task.
    """

    def build(self, clock: FrozenClock, **given: object) -> dict[str, ProviderState]:
        settings = LanguageModelSettings.model_validate(given)
        return build_language_models(settings, MemoryAccount(), clock).states()

    def test_o38_by_default_there_is_no_model_and_nothing_is_wrong(self, clock: FrozenClock) -> None:
        models = build_language_models(LanguageModelSettings(), MemoryAccount(), clock)
        assert {state.ok for state in models.states().values()} == {True}
        assert set(models.states()) == set(TASKS)
        assert not models.available("extract")
        with pytest.raises(ModelError, match="model_off") as raised:
            models.for_task("extract")
        assert not raised.value.retryable

    def test_d26_a_placeholder_key_costs_the_model_and_not_the_service(self, clock: FrozenClock) -> None:
        states = self.build(clock, provider="anthropic", api_key="your_anthropic_key_here")
        assert {state.ok for state in states.values()} == {False}
        assert states["judge"].detail == "model_key_placeholder: llm.api_key is not a real key"

    async def test_each_task_may_have_a_model_of_its_own(self, clock: FrozenClock) -> None:
        settings = LanguageModelSettings.model_validate(
            {
                "provider": "openai",
                "api_key": OPENAI_KEY,
                "tasks": {"judge": {"model": "big"}, "reflect": {"provider": "none"}, "episode": {"model": "big"}},
            }
        )
        models = build_language_models(settings, MemoryAccount(), clock)
        assert [models.for_task(task).name for task in ("extract", "judge")] == ["openai/gpt-5.4-mini", "openai/big"]
        assert models.for_task("judge") is models.for_task("episode")
        assert not models.available("reflect")
        await models.close()

    def test_a_key_is_not_handed_to_another_provider(self) -> None:
        settings = LanguageModelSettings.model_validate(
            {"provider": "openai", "api_key": OPENAI_KEY, "model": "x", "tasks": {"judge": {"provider": "anthropic"}}}
        )
        judge = settings.for_task("judge")
        assert (judge.provider, judge.api_key, judge.model) == ("anthropic", None, None)
        assert settings.for_task("extract").api_key == settings.api_key


def test_a_form_becomes_a_strict_schema_of_every_field() -> None:
    schema = strict_schema(Colour)
    assert (schema["required"], schema["additionalProperties"]) == (["name", "shades"], False)
    assert "title" not in schema
    assert form_name(Colour) == "colour"
    assert '"shades"' in in_words(Colour)
