"""
Settings of the language model: which server is asked for which task, for how long, and how much it may cost.
"""

from typing import Literal

from pydantic import Field, SecretStr

from app.config.section import Section

TaskName = Literal["structure", "extract", "episode", "judge", "reflect"]


class ModelSettings(Section):
    """One language model."""

    provider: Literal["none", "openai", "anthropic"] = "none"
    """`openai` asks OpenAI or a compatible server (Ollama, vLLM), `anthropic` asks Anthropic, `none` does without."""
    model: str | None = Field(None, min_length=1, max_length=200)
    """The model's name there; unset takes a small one of the provider's (Anthropic: ANTHROPIC_MEMORY_MODEL first)."""
    base_url: str | None = None
    """Address of a compatible server; unset takes OPENAI_BASE_URL or ANTHROPIC_BASE_URL, else the provider's own."""
    api_key: SecretStr | None = None
    """Key; OPENAI_API_KEY or ANTHROPIC_API_KEY is read when unset. A server of one's own may need none."""
    api: Literal["auto", "responses", "chat"] = "auto"
    """OpenAI's interface: `auto` asks by Responses and falls back to chat completions where a server lacks them."""
    structured: Literal["auto", "schema", "json", "none"] = "auto"
    """How a form is asked for: by schema, as any JSON object, or in words; `auto` falls back along that order."""
    temperature: float | None = Field(None, ge=0.0, le=2.0)
    """Sampling temperature for the `openai` provider; unset sends none, as several models refuse any."""
    reasoning_effort: Literal["none", "minimal", "low", "medium", "high"] | None = None
    """How much an OpenAI reasoning model thinks; unset leaves it to the model."""
    max_output_tokens: int = Field(2048, ge=64, le=65_536)
    """Most tokens of one answer, thinking included."""
    timeout_s: float = Field(60.0, gt=0.0, le=3600.0)
    """Time-out of one attempt, in seconds."""


class TaskModelSettings(Section):
    """What one task does otherwise than `llm` says; keys left out stay as there, unless the provider differs."""

    provider: Literal["none", "openai", "anthropic"] | None = None
    """Provider of this task."""
    model: str | None = Field(None, min_length=1, max_length=200)
    """Model of this task."""
    base_url: str | None = None
    """Address of the server."""
    api_key: SecretStr | None = None
    """Key."""
    api: Literal["auto", "responses", "chat"] | None = None
    """OpenAI's interface."""
    structured: Literal["auto", "schema", "json", "none"] | None = None
    """How a form is asked for."""
    temperature: float | None = Field(None, ge=0.0, le=2.0)
    """Sampling temperature."""
    reasoning_effort: Literal["none", "minimal", "low", "medium", "high"] | None = None
    """How much a reasoning model thinks."""
    max_output_tokens: int | None = Field(None, ge=64, le=65_536)
    """Most tokens of one answer."""
    timeout_s: float | None = Field(None, gt=0.0, le=3600.0)
    """Time-out of one attempt, in seconds."""


class ModelBudgetSettings(Section):
    """What the model may cost each bank in a day (UTC); beyond it the work is done without a model, and says so."""

    calls_per_day: int | None = Field(2000, ge=0, le=10_000_000)
    """Calls; 0 allows none, unset sets no bound."""
    tokens_per_day: int | None = Field(3_000_000, ge=0, le=10_000_000_000)
    """Tokens read and written; 0 allows none, unset sets no bound."""


class BreakerSettings(Section):
    """When a failing model is left alone for a while."""

    failures: int = Field(5, ge=1, le=1000)
    """Failures in a row after which it is asked no more."""
    cool_down_s: float = Field(30.0, ge=0.0, le=86_400.0)
    """Seconds until one call tries whether it is back."""
    cool_down_max_s: float = Field(900.0, ge=0.0, le=86_400.0)
    """Most seconds that a server's Retry-After keeps others from asking."""


class LanguageModelSettings(ModelSettings):
    """What works on the records in the background: extracts memories, writes episodes, judges, reflects."""

    deadline_s: float = Field(180.0, gt=0.0, le=3600.0)
    """Seconds for one call with all its attempts."""
    max_retries: int = Field(2, ge=0, le=10)
    """Further attempts that the SDK makes on 429, 5xx and broken connections."""
    retry_wait_max_s: float = Field(20.0, ge=0.0, le=600.0)
    """Longest Retry-After, in seconds, that is waited for inside a call; a longer one puts the job off."""
    language: str | None = Field(None, min_length=1, max_length=60)
    """Language of what the model writes, such as `German`; unset means that of the user's own messages."""
    message_max: int = Field(2000, ge=100, le=100_000)
    """Characters of one message that the model reads."""
    answer_max: int = Field(100_000, ge=1000, le=1_000_000)
    """Characters of an answer that are read; what lies beyond counts as cut off."""
    tasks: dict[TaskName, TaskModelSettings] = Field({})
    """Tasks that take another model: `structure`, `extract`, `episode`, `judge`, `reflect`."""
    budget: ModelBudgetSettings = ModelBudgetSettings()
    breaker: BreakerSettings = BreakerSettings()

    def for_task(self, task: str) -> ModelSettings:
        """
        The model of one task. What the section says of its own provider's server and model does not go to another's.
        """
        own = next((value for name, value in self.tasks.items() if name == task), TaskModelSettings())
        given = {name: value for name, value in own if value is not None}
        shared = {name: getattr(self, name) for name in ModelSettings.model_fields}
        if own.provider is not None and own.provider != self.provider:
            shared = {name: shared[name] for name in ("max_output_tokens", "timeout_s")}
        return ModelSettings(**{**shared, **given})
