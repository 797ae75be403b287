"""
The language model behind OpenAI, or behind a server that speaks as OpenAI does (Ollama, vLLM and others).
"""

from typing import Any, Literal

import openai
import structlog
from openai import AsyncOpenAI, omit

from app.config import LanguageModelSettings, ModelSettings
from app.domain.text.legal import legal_text
from app.providers.answer_form import form_name, in_words, strict_schema
from app.providers.language_model import FinishReason, ModelError, ModelReply, ModelRequest
from app.providers.model_server import lacks_format, refuse_long_waits, server_access, status_failure

log = structlog.get_logger(__name__)

DEFAULT_MODEL = "gpt-5.4-mini"
KEY_VARIABLE = "OPENAI_API_KEY"
URL_VARIABLE = "OPENAI_BASE_URL"
NO_RESPONSES_STATUS = frozenset({404, 405, 501})

Api = Literal["responses", "chat"]
Format = Literal["schema", "json", "none"]
LESSER: dict[Format, Format] = {"schema": "json", "json": "none"}
"""What is asked for next where a server cannot hold an answer to the form before."""

_CHAT_FINISH = {
    "stop": FinishReason.STOP,
    "length": FinishReason.LENGTH,
    "content_filter": FinishReason.REFUSED,
}
_RESPONSE_FINISH = {
    "max_output_tokens": FinishReason.LENGTH,
    "content_filter": FinishReason.REFUSED,
}


class OpenAIModel:
    """
    Asks by Responses with a strict schema, or by less where the server lacks that, as it says so itself.

    What a server lacks is found out by its own answer, once, and remembered when the lesser request has succeeded.
    Attempts after 429 and 5xx and their waits are the SDK's.
    """

    def __init__(self, client: AsyncOpenAI, model: str, settings: ModelSettings) -> None:
        self.name = f"openai/{model}"
        self._client = client
        self._model = model
        self._settings = settings
        self._own_server = settings.base_url is not None
        self._api: Api = "responses" if settings.api == "auto" else settings.api
        self._format: Format = "schema" if settings.structured == "auto" else settings.structured

    async def complete(self, request: ModelRequest) -> ModelReply:
        seconds = self._settings.timeout_s
        timeout_s = seconds if request.deadline_s is None else min(request.deadline_s, seconds)
        api, form = self._api, self._format
        while True:
            try:
                asked = self._by_responses if api == "responses" else self._by_chat
                reply = await asked(request, form, timeout_s)
            except openai.APIStatusError as error:
                lesser = self._lesser(error, api, form)
                if lesser is None:
                    raise status_failure(
                        error.status_code, error.message, error.code, error.response.headers, request, self._model
                    ) from error
                log.info("model_lacks", model=self.name, api=api, format=form, status=error.status_code)
                api, form = lesser
            except openai.APITimeoutError as error:
                detail = f"{self._model}: no answer within {timeout_s:g} s"
                raise ModelError("model_timeout", detail, retryable=True) from error
            except openai.APIConnectionError as error:
                detail = f"{self._client.base_url.host}: {error.__cause__ or error}"
                raise ModelError("model_unreachable", detail, retryable=True) from error
            except (openai.OpenAIError, ValueError, TypeError, AttributeError, LookupError) as error:
                detail = f"{self._model}: not a model's answer ({type(error).__name__})"
                raise ModelError("model_bad_answer", detail, retryable=True) from error
            else:
                self._api, self._format = api, form
                return reply

    async def close(self) -> None:
        await self._client.close()

    def _lesser(self, error: openai.APIStatusError, api: Api, form: Format) -> tuple[Api, Format] | None:
        """
        The next lesser way to ask that the configuration allows, if the server says that it lacks the one tried.
        """
        if self._settings.api == "auto" and api == "responses" and error.status_code in NO_RESPONSES_STATUS:
            return "chat", form
        if self._settings.structured == "auto" and form in LESSER and lacks_format(error.status_code, error.message):
            return api, LESSER[form]
        return None

    async def _by_responses(self, request: ModelRequest, form: Format, timeout_s: float) -> ModelReply:
        turns: Any = [{"role": turn.role, "content": legal_text(turn.content)} for turn in request.turns]
        formats: dict[Format, Any] = {
            "schema": {"type": "json_schema", **_named_schema(request)},
            "json": {"type": "json_object"},
        }
        effort = self._settings.reasoning_effort
        answer = await self._client.responses.create(
            model=self._model,
            instructions=_instructions(request, form),
            input=turns,
            text={"format": formats[form]} if form in formats else omit,
            max_output_tokens=request.max_output_tokens or self._settings.max_output_tokens,
            temperature=omit if self._settings.temperature is None else self._settings.temperature,
            reasoning=omit if effort is None else {"effort": effort},
            store=False,
            timeout=timeout_s,
        )
        if answer.status == "failed":
            code = None if answer.error is None else answer.error.code
            raise ModelError("model_server_error", f"{self._model}: failed with {code}", retryable=True)
        finish = FinishReason.STOP if answer.status == "completed" else FinishReason.OTHER
        if answer.incomplete_details is not None:
            finish = _RESPONSE_FINISH.get(str(answer.incomplete_details.reason), FinishReason.OTHER)
        if any(part.type == "refusal" for item in answer.output if item.type == "message" for part in item.content):
            finish = FinishReason.REFUSED
        usage = answer.usage
        spent = (0, 0) if usage is None else (usage.input_tokens, usage.output_tokens)
        return self._reply(answer.output_text, spent, finish)

    async def _by_chat(self, request: ModelRequest, form: Format, timeout_s: float) -> ModelReply:
        turns: Any = [{"role": "system", "content": _instructions(request, form)}]
        turns += [{"role": turn.role, "content": legal_text(turn.content)} for turn in request.turns]
        formats: dict[Format, Any] = {
            "schema": {"type": "json_schema", "json_schema": _named_schema(request)},
            "json": {"type": "json_object"},
        }
        most = request.max_output_tokens or self._settings.max_output_tokens
        effort = self._settings.reasoning_effort
        answer = await self._client.chat.completions.create(
            model=self._model,
            messages=turns,
            response_format=formats.get(form, omit),
            # OpenAI's reasoning models refuse the older name; several other servers know only that.
            max_tokens=most if self._own_server else omit,
            max_completion_tokens=omit if self._own_server else most,
            temperature=omit if self._settings.temperature is None else self._settings.temperature,
            reasoning_effort=omit if effort is None else effort,
            timeout=timeout_s,
        )
        choice = answer.choices[0]
        finish = _CHAT_FINISH.get(str(choice.finish_reason), FinishReason.OTHER)
        if choice.message.refusal:
            finish = FinishReason.REFUSED
        usage = answer.usage
        spent = (0, 0) if usage is None else (usage.prompt_tokens, usage.completion_tokens)
        return self._reply(choice.message.content or "", spent, finish)

    def _reply(self, text: object, spent: tuple[object, object], finish: FinishReason) -> ModelReply:
        if not isinstance(text, str):
            raise TypeError("the answer's text is no text")
        read, written = (number if isinstance(number, int) and number > 0 else 0 for number in spent)
        return ModelReply(text, read, written, finish, self._model)


def load_openai_model(settings: ModelSettings, calls: LanguageModelSettings) -> OpenAIModel:
    """
    The configured model, asked as `calls` says of attempts and waits; nothing is sent.

    Raises:
        ModelError: the key or the address cannot be used.
    """
    access = server_access(settings, KEY_VARIABLE, URL_VARIABLE)
    client = AsyncOpenAI(
        api_key=access.key,
        base_url=access.base_url,
        timeout=settings.timeout_s,
        max_retries=calls.max_retries,
        http_client=openai.DefaultAsyncHttpxClient(
            event_hooks={"response": [refuse_long_waits(calls.retry_wait_max_s)]}
        ),
    )
    placed = settings.model_copy(update={"base_url": access.base_url})
    return OpenAIModel(client, settings.model or DEFAULT_MODEL, placed)


def _named_schema(request: ModelRequest) -> dict[str, Any]:
    return {"name": form_name(request.form), "schema": strict_schema(request.form), "strict": True}


def _instructions(request: ModelRequest, form: Format) -> str:
    return legal_text(request.system if form == "schema" else f"{request.system}\n\n{in_words(request.form)}")
