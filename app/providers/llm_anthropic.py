"""
The language model behind Anthropic.
"""

import os
from typing import Any, Literal

import anthropic
import structlog
from anthropic import AsyncAnthropic, omit
from anthropic.types import Message

from app.config import LanguageModelSettings, ModelSettings
from app.domain.text.legal import legal_text
from app.providers.answer_form import in_words, strict_schema
from app.providers.language_model import FinishReason, ModelError, ModelReply, ModelRequest
from app.providers.model_server import lacks_format, refuse_long_waits, server_access, status_failure

log = structlog.get_logger(__name__)

DEFAULT_MODEL = "claude-haiku-4-5"
MODEL_VARIABLE = "ANTHROPIC_MEMORY_MODEL"
KEY_VARIABLE = "ANTHROPIC_API_KEY"
URL_VARIABLE = "ANTHROPIC_BASE_URL"

Format = Literal["schema", "none"]

_FINISH = {
    "end_turn": FinishReason.STOP,
    "stop_sequence": FinishReason.STOP,
    "max_tokens": FinishReason.LENGTH,
    "model_context_window_exceeded": FinishReason.LENGTH,
    "refusal": FinishReason.REFUSED,
}


class AnthropicModel:
    """
    Asks by Messages with the form as a schema, or in words where the model or a server in between refuses that.

    A forced tool would be a third way; newer models refuse it, so that it could not serve as the last one.
    Attempts after 429 and 5xx and their waits are the SDK's.
    """

    def __init__(self, client: AsyncAnthropic, model: str, settings: ModelSettings) -> None:
        self.name = f"anthropic/{model}"
        self._client = client
        self._model = model
        self._settings = settings
        self._format: Format = "schema" if settings.structured in ("auto", "schema") else "none"

    async def complete(self, request: ModelRequest) -> ModelReply:
        seconds = self._settings.timeout_s
        timeout_s = seconds if request.deadline_s is None else min(request.deadline_s, seconds)
        form = self._format
        while True:
            try:
                reply = self._read(await self._send(request, form, timeout_s))
            except anthropic.APIStatusError as error:
                message = error.api_message or error.message
                if (
                    form == "schema"
                    and self._settings.structured == "auto"
                    and lacks_format(error.status_code, message)
                ):
                    log.info("model_lacks", model=self.name, format=form, status=error.status_code)
                    form = "none"
                    continue
                raise status_failure(
                    error.status_code, message, error.type, error.response.headers, request, self._model
                ) from error
            except anthropic.APITimeoutError as error:
                detail = f"{self._model}: no answer within {timeout_s:g} s"
                raise ModelError("model_timeout", detail, retryable=True) from error
            except anthropic.APIConnectionError as error:
                detail = f"{self._client.base_url.host}: {error.__cause__ or error}"
                raise ModelError("model_unreachable", detail, retryable=True) from error
            except (anthropic.AnthropicError, ValueError, TypeError, AttributeError, LookupError) as error:
                detail = f"{self._model}: not a model's answer ({type(error).__name__})"
                raise ModelError("model_bad_answer", detail, retryable=True) from error
            else:
                self._format = form
                return reply

    async def close(self) -> None:
        await self._client.close()

    async def _send(self, request: ModelRequest, form: Format, timeout_s: float) -> Message:
        turns: Any = [{"role": turn.role, "content": legal_text(turn.content)} for turn in request.turns]
        system = request.system if form == "schema" else f"{request.system}\n\n{in_words(request.form)}"
        schema = anthropic.transform_schema(strict_schema(request.form))
        return await self._client.messages.create(
            model=self._model,
            system=legal_text(system),
            messages=turns,
            max_tokens=request.max_output_tokens or self._settings.max_output_tokens,
            output_config={"format": {"type": "json_schema", "schema": schema}} if form == "schema" else omit,
            timeout=timeout_s,
        )

    def _read(self, answer: Message) -> ModelReply:
        text = "".join(block.text for block in answer.content if block.type == "text")
        read, written = (
            number if isinstance(number, int) and number > 0 else 0
            for number in (answer.usage.input_tokens, answer.usage.output_tokens)
        )
        finish = _FINISH.get(str(answer.stop_reason), FinishReason.OTHER)
        return ModelReply(text, read, written, finish, self._model)


def load_anthropic_model(settings: ModelSettings, calls: LanguageModelSettings) -> AnthropicModel:
    """
    The configured model, asked as `calls` says of attempts and waits; nothing is sent.

    Raises:
        ModelError: the key or the address cannot be used.
    """
    access = server_access(settings, KEY_VARIABLE, URL_VARIABLE)
    client = AsyncAnthropic(
        api_key=access.key,
        base_url=access.base_url,
        timeout=settings.timeout_s,
        max_retries=calls.max_retries,
        http_client=anthropic.DefaultAsyncHttpxClient(
            event_hooks={"response": [refuse_long_waits(calls.retry_wait_max_s)]}
        ),
    )
    model = settings.model or os.environ.get(MODEL_VARIABLE, "").strip() or DEFAULT_MODEL
    return AnthropicModel(client, model, settings)
