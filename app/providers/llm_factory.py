"""
Builds the language models that the configuration names for each task, or says why a task has none.
"""

from collections.abc import Mapping
from typing import get_args

import structlog

from app.clock import Clock
from app.config import LanguageModelSettings, ModelSettings, TaskName
from app.domain.model_usage import DailyBudget
from app.providers.circuit_breaker import CircuitBreaker
from app.providers.language_model import LanguageModel, ModelError
from app.providers.llm_guard import GuardedModel, UsageAccount
from app.providers.protocols import ProviderState

log = structlog.get_logger(__name__)

TASKS: tuple[str, ...] = get_args(TaskName)
OFF = ProviderState("none", True, "no language model; the deterministic path serves")


class LanguageModels:
    """
    The model of each task. Tasks with the same settings share one model, with its connections and its breaker.
    """

    def __init__(self, by_task: Mapping[str, GuardedModel | ProviderState]) -> None:
        self._by_task = dict(by_task)

    def for_task(self, task: str) -> GuardedModel:
        """
        The model of a task.

        Raises:
            ModelError: `model_off` where none is wanted, `model_unusable` where the configured one cannot be built.
        """
        found = self._by_task.get(task, OFF)
        if isinstance(found, GuardedModel):
            return found
        raise ModelError("model_off" if found.ok else "model_unusable", found.detail, retryable=False)

    def available(self, task: str) -> bool:
        """
        Whether the task has a model. One that is down at present counts.
        """
        return isinstance(self._by_task.get(task), GuardedModel)

    def states(self) -> dict[str, ProviderState]:
        """
        How each task's model is.
        """
        return {
            task: found.state() if isinstance(found, GuardedModel) else found for task, found in self._by_task.items()
        }

    async def close(self) -> None:
        """
        Give back connections. No call may follow.
        """
        for model in {id(found): found for found in self._by_task.values()}.values():
            if isinstance(model, GuardedModel):
                await model.close()


def build_language_models(settings: LanguageModelSettings, account: UsageAccount, clock: Clock) -> LanguageModels:
    """
    A model for each task, as configured. Sends nothing, and never raises: a task whose model cannot be built has none,
    and its state says why (`model_key_placeholder: OPENAI_API_KEY is not a real key`).
    """
    built: list[tuple[ModelSettings, GuardedModel | ProviderState]] = []
    by_task: dict[str, GuardedModel | ProviderState] = {}
    for task in TASKS:
        wanted = settings.for_task(task)
        known = next((found for made, found in built if made == wanted), None)
        if known is None:
            known = _built(wanted, settings, account, clock)
            built.append((wanted, known))
        by_task[task] = known
    return LanguageModels(by_task)


def _built(
    wanted: ModelSettings, settings: LanguageModelSettings, account: UsageAccount, clock: Clock
) -> GuardedModel | ProviderState:
    if wanted.provider == "none":
        return OFF
    try:
        model = _loaded(wanted, settings)
    except ModelError as error:
        detail = error.detail
    except Exception as error:
        log.exception("language_model_not_built", provider=wanted.provider)
        detail = f"model_broken: {type(error).__name__}: {error}"
    else:
        limits = settings.breaker
        return GuardedModel(
            model,
            CircuitBreaker(clock, limits.failures, limits.cool_down_s, limits.cool_down_max_s),
            account,
            DailyBudget(settings.budget.calls_per_day, settings.budget.tokens_per_day),
            clock,
            settings.deadline_s,
        )
    log.warning("language_model_disabled", provider=wanted.provider, detail=detail)
    return ProviderState(wanted.provider, False, detail)


def _loaded(wanted: ModelSettings, settings: LanguageModelSettings) -> LanguageModel:
    # Imported here as each SDK takes a while to import, and most services need one of them or none.
    if wanted.provider == "anthropic":
        from app.providers.llm_anthropic import load_anthropic_model

        return load_anthropic_model(wanted, settings)
    from app.providers.llm_openai import load_openai_model

    return load_openai_model(wanted, settings)
