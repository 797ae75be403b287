"""
What the service needs of a language model, whoever provides it.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Literal, Protocol

from pydantic import BaseModel

from app.providers.protocols import ProviderError

FAULTS_OF_THE_INPUT = frozenset({"model_rejected", "model_refused", "model_answer_unusable"})
"""Reasons that lie in what was asked: a smaller or another batch may pass where this one did not."""


class FinishReason(StrEnum):
    """
    Why the model stopped writing.
    """

    STOP = "stop"  #: it had said all
    LENGTH = "length"  #: the most output tokens, or the context window, were reached
    REFUSED = "refused"  #: it, or a filter, declined
    OTHER = "other"  #: the server said nothing, or something unknown


@dataclass(frozen=True, slots=True)
class Turn:
    """
    One message of the conversation with the model.
    """

    role: Literal["user", "assistant"]
    content: str


@dataclass(frozen=True, slots=True)
class ModelRequest:
    """
    One question: instructions, the turns so far (the last one the user's), and the form that the answer is to have.

    `max_output_tokens` unset takes the model's configured number, `deadline_s` unset the configured seconds. An
    adapter ends each attempt by then, the guard around it the whole call.
    """

    task: str
    system: str
    turns: tuple[Turn, ...]
    form: type[BaseModel]
    max_output_tokens: int | None = None
    deadline_s: float | None = None


@dataclass(frozen=True, slots=True)
class ModelReply:
    """
    What the model wrote, as it wrote it, and what that cost. Tokens are 0 where the server does not tell them.
    """

    text: str
    input_tokens: int
    output_tokens: int
    finish_reason: FinishReason
    model: str


class ModelError(ProviderError):
    """
    No answer could be had, or none that can be used.

    `reason` is a slug such as `model_rate_limited`. `retryable` tells whether the same call may succeed later with
    nothing changed; `retry_after_s` when, if that is known.
    """

    def __init__(self, reason: str, detail: str, *, retryable: bool, retry_after_s: float | None = None) -> None:
        super().__init__(reason, detail, retryable=retryable)
        self.retry_after_s = retry_after_s

    @property
    def about_input(self) -> bool:
        """
        Whether the fault lies in what was asked, and not in the model or the way to it.
        """
        return self.reason in FAULTS_OF_THE_INPUT


class LanguageModel(Protocol):
    """
    Answers a question in a given form.
    """

    @property
    def name(self) -> str:
        """
        Provider and model, such as `anthropic/claude-haiku-4-5`.
        """
        ...

    async def complete(self, request: ModelRequest) -> ModelReply:
        """
        Ask once. The text is whatever the model wrote; nothing promises that it has the form.

        Raises:
            ModelError: there is no answer.
        """
        ...

    async def close(self) -> None:
        """
        Give back connections. No call may follow.
        """
        ...
