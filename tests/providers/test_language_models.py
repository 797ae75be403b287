"""
Both adapters through their real SDKs: what is sent, what comes back, and what each failure is called.
"""

import json
import threading
from collections.abc import Callable

import pytest

from app.config import LanguageModelSettings
from app.providers.answer_form import strict_schema
from app.providers.language_model import FinishReason, LanguageModel, ModelError, Turn
from app.providers.llm_anthropic import load_anthropic_model
from app.providers.llm_openai import load_openai_model
from app.providers.model_server import lacks_format, retry_after_s, server_access
from tests.providers.model_asking import ANTHROPIC_KEY, OPENAI_KEY, VARIABLES, Colour, asking, error, question, reply
from tests.providers.stub_servers import Body, Reply, SilentServer

BLUE = '{"name": "blue", "shades": []}'


@pytest.fixture(autouse=True)
def clean_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")


def response(text: str = BLUE, **changes: object) -> Callable[[Body], Reply]:
    message = {"type": "message", "id": "m", "role": "assistant", "status": "completed"}
    output = [{**message, "content": [{"type": "output_text", "text": text, "annotations": []}]}]
    usage = {"input_tokens": 7, "output_tokens": 3, "total_tokens": 10}
    return reply({"id": "r", "object": "response", "status": "completed", "output": output, "usage": usage, **changes})


def chat(text: str | None = BLUE, finish: str = "stop", **message: object) -> Callable[[Body], Reply]:
    choice = {"index": 0, "finish_reason": finish, "message": {"role": "assistant", "content": text, **message}}
    return reply({"id": "c", "object": "chat.completion", "choices": [choice], "usage": None})


def message(text: str = BLUE, stop: str = "end_turn") -> Callable[[Body], Reply]:
    usage = {"input_tokens": 7, "output_tokens": 3}
    content = [{"type": "text", "text": text}]
    return reply({"id": "m", "type": "message", "content": content, "stop_reason": stop, "usage": usage})


GOOD = {"openai": response(), "anthropic": message()}
PROVIDERS = ("openai", "anthropic")
each_provider = pytest.mark.parametrize("provider", PROVIDERS)


@each_provider
async def test_o36_the_answer_comes_with_its_cost_and_why_it_ended(provider: str) -> None:
    async with asking(provider, GOOD[provider], model="m-1") as (model, server):
        answer = await model.complete(question())
    assert (answer.text, answer.input_tokens, answer.output_tokens) == (BLUE, 7, 3)
    assert (answer.finish_reason, answer.model, model.name) == (FinishReason.STOP, "m-1", f"{provider}/m-1")
    assert len(server.bodies) == 1


async def test_openai_is_asked_by_responses_with_a_strict_schema_and_keeps_nothing() -> None:
    turns = (Turn("user", "Which?"), Turn("assistant", "blue"), Turn("user", "As JSON"))
    async with asking("openai", response(), max_output_tokens=900) as (model, server):
        await model.complete(question(turns=turns))
        await model.complete(question(max_output_tokens=100))
    sent = server.bodies[0]
    assert server.paths[0] == "/v1/responses"
    assert sent["instructions"] == "# Task: colour"
    assert [(turn["role"], turn["content"]) for turn in sent["input"]] == [(t.role, t.content) for t in turns]
    assert sent["text"]["format"]["schema"] == strict_schema(Colour)
    assert (sent["text"]["format"]["name"], sent["text"]["format"]["strict"], sent["store"]) == ("colour", True, False)
    assert [body["max_output_tokens"] for body in server.bodies] == [900, 100]
    assert {"temperature", "reasoning"}.isdisjoint(sent)


async def test_anthropic_is_asked_by_messages_with_the_form_as_output_config() -> None:
    async with asking("anthropic", message()) as (model, server):
        await model.complete(question())
    sent = server.bodies[0]
    assert server.paths[0] == "/v1/messages"
    assert (sent["model"], sent["system"], sent["max_tokens"]) == ("claude-haiku-4-5", "# Task: colour", 2048)
    assert sent["output_config"]["format"]["type"] == "json_schema"
    assert set(sent["output_config"]["format"]["schema"]["required"]) == {"name", "shades"}


@pytest.mark.parametrize(("structured", "sent"), [("schema", "json_schema"), ("json", "json_object"), ("none", None)])
async def test_chat_completions_serve_servers_without_responses(structured: str, sent: str | None) -> None:
    async with asking("openai", chat(), api="chat", structured=structured, temperature=0.0) as (model, server):
        answer = await model.complete(question())
    body = server.bodies[0]
    assert (answer.text, answer.input_tokens, server.paths) == (BLUE, 0, ["/v1/chat/completions"])
    assert body.get("response_format", {}).get("type") == sent
    assert (body["max_tokens"], body["temperature"]) == (2048, 0.0)
    told = body["messages"][0]["content"]
    assert (json.dumps("shades") in told) is (structured != "schema")


async def test_what_a_server_lacks_is_found_out_once_and_remembered() -> None:
    lacks = [
        error(404, "404 page not found"),
        error(400, "'response_format.type' json_schema is not supported"),
        error(400, "'response_format.type' must be 'json_schema' or 'text'"),
    ]
    async with asking("openai", chat(), *lacks) as (model, server):
        for _ in range(3):
            assert (await model.complete(question())).text == BLUE
    assert server.paths == ["/v1/responses", *["/v1/chat/completions"] * 5]
    formats = [body.get("response_format", {}).get("type") for body in server.bodies[1:]]
    assert formats == ["json_schema", "json_object", None, None, None]


async def test_anthropic_behind_a_server_without_output_config_is_told_the_form_in_words() -> None:
    refusal = error(400, "output_config: Extra inputs are not permitted")
    async with asking("anthropic", message(), refusal) as (model, server):
        for _ in range(2):
            assert (await model.complete(question())).text == BLUE
    assert ["output_config" in body for body in server.bodies] == [True, False, False]
    assert '"shades"' in server.bodies[1]["system"]


async def test_a_fall_back_that_was_not_allowed_is_not_taken() -> None:
    refusal = error(400, "response_format json_schema is not supported")
    async with asking("openai", refusal, api="responses", structured="schema") as (model, server):
        with pytest.raises(ModelError, match="model_rejected"):
            await model.complete(question())
    assert server.paths == ["/v1/responses"]


async def test_a_model_that_is_not_there_is_named_and_nothing_is_remembered_of_it() -> None:
    async with asking("openai", error(404, "no such model", "model_not_found"), model="gone") as (model, server):
        for _ in range(2):
            with pytest.raises(ModelError, match="model_unknown: gone: HTTP 404 model_not_found"):
                await model.complete(question())
    assert server.paths == ["/v1/responses", "/v1/chat/completions"] * 2


@each_provider
async def test_d32_a_400_is_asked_once_and_never_again(provider: str) -> None:
    async with asking(provider, error(400, "too long", "context_length_exceeded"), max_retries=5) as (model, server):
        with pytest.raises(ModelError) as raised:
            await model.complete(question())
    assert (raised.value.reason, raised.value.retryable, raised.value.about_input) == ("model_rejected", False, True)
    assert len(server.bodies) == 1
    assert "context_length_exceeded" in raised.value.detail


@each_provider
async def test_d32_a_429_is_waited_for_as_the_server_says_and_then_asked_again(provider: str) -> None:
    busy = error(429, Retry_After="0.01")
    async with asking(provider, GOOD[provider], busy, busy, max_retries=2) as (model, server):
        assert (await model.complete(question())).text == BLUE
    assert len(server.bodies) == 3


@each_provider
@pytest.mark.parametrize("wait", ["86400", "Mon, 30 Nov 2099 11:00:00 GMT"])
async def test_d32_a_wait_too_long_for_a_worker_is_handed_on(provider: str, wait: str) -> None:
    busy = error(429, Retry_After=wait)
    async with asking(provider, busy, max_retries=5, retry_wait_max_s=1) as (model, server):
        with pytest.raises(ModelError, match="model_rate_limited") as raised:
            await model.complete(question())
    assert raised.value.retry_after_s is not None
    assert raised.value.retry_after_s >= 86400
    assert len(server.bodies) == 1


@each_provider
@pytest.mark.parametrize(
    ("status", "code", "reason", "retryable"),
    [
        (401, None, "model_key_refused", False),
        (403, None, "model_key_refused", False),
        (402, None, "model_quota_spent", True),
        (413, None, "model_rejected", False),
        (422, None, "model_rejected", False),
        (429, None, "model_rate_limited", True),
        (500, None, "model_server_error", True),
        (503, None, "model_server_error", True),
        (529, None, "model_server_error", True),
    ],
)
async def test_o38_every_failure_has_a_name(
    provider: str, status: int, code: str | None, reason: str, retryable: bool
) -> None:
    async with asking(provider, error(status, code=code), max_retries=0) as (model, _):
        with pytest.raises(ModelError) as raised:
            await model.complete(question())
    assert (raised.value.reason, raised.value.retryable) == (reason, retryable)


@each_provider
@pytest.mark.parametrize("raw", [b"", b"{}", b"[]", b"not json", b"<html></html>", b'{"output": null}', b'"text"'])
@pytest.mark.parametrize("kind", ["application/json", "text/html"])
async def test_o38_an_answer_of_another_kind_is_a_failure(provider: str, raw: bytes, kind: str) -> None:
    async with asking(provider, lambda _: Reply(200, raw, {"Content-Type": kind}), max_retries=0) as (model, _):
        with pytest.raises(ModelError) as raised:
            await model.complete(question())
    assert raised.value.reason in {"model_bad_answer", "model_unreachable"}
    assert raised.value.retryable


@pytest.mark.parametrize(
    ("provider", "always", "finish"),
    [
        ("openai", response(status="incomplete", incomplete_details={"reason": "max_output_tokens"}), "length"),
        ("openai", response(status="incomplete", incomplete_details={"reason": "content_filter"}), "refused"),
        (
            "openai",
            response(output=[{"type": "message", "content": [{"type": "refusal", "refusal": "I would rather not"}]}]),
            "refused",
        ),
        ("chat", chat(finish="length"), "length"),
        ("chat", chat(None, refusal="I would rather not"), "refused"),
        ("chat", chat(finish="odd"), "other"),
        ("anthropic", message(stop="max_tokens"), "length"),
        ("anthropic", message(stop="refusal"), "refused"),
        ("anthropic", message(stop="odd"), "other"),
    ],
)
async def test_why_an_answer_ended_is_told(provider: str, always: Callable[[Body], Reply], finish: str) -> None:
    given = {"api": "chat"} if provider == "chat" else {}
    async with asking("openai" if provider == "chat" else provider, always, **given) as (model, _):
        assert (await model.complete(question())).finish_reason == finish


async def test_a_response_that_failed_on_the_server_is_a_failure() -> None:
    async with asking("openai", response(status="failed", error={"code": "server_error", "message": "no"})) as (
        model,
        _,
    ):
        with pytest.raises(ModelError, match=r"model_server_error: .*server_error"):
            await model.complete(question())


@each_provider
async def test_t041_lone_surrogates_are_sent_as_legal_text(provider: str) -> None:
    async with asking(provider, GOOD[provider]) as (model, server):
        await model.complete(question("<|endoftext|> \ud83d", system="# Task: \udfff"))
    sent = json.dumps(server.bodies[0], ensure_ascii=False)
    assert "<|endoftext|> \ufffd" in sent
    assert "# Task: \ufffd" in sent


@each_provider
async def test_what_a_server_quotes_of_the_prompt_is_not_in_the_failure(provider: str) -> None:
    private = "my landlord is called Horst Beispielmann"
    async with asking(provider, error(400, f"invalid input: {private}")) as (model, _):
        with pytest.raises(ModelError) as quoted:
            await model.complete(question(private))
    async with asking(provider, error(400, "max_tokens: 9 is too many")) as (model, _):
        with pytest.raises(ModelError) as told:
            await model.complete(question(private))
    assert "Horst" not in quoted.value.detail
    assert "max_tokens: 9 is too many" in told.value.detail


@each_provider
async def test_a_slow_server_is_left_after_the_time_out(provider: str) -> None:
    release = threading.Event()

    def slow(body: Body) -> Reply:
        release.wait(60)
        return Reply(500)

    async with asking(provider, slow, max_retries=0, timeout_s=0.2) as (model, _):
        try:
            with pytest.raises(ModelError, match=r"model_timeout: .*no answer within 0\.2 s") as raised:
                await model.complete(question())
            with pytest.raises(ModelError, match=r"within 0\.1 s"):
                await model.complete(question(deadline_s=0.1))
        finally:
            release.set()
    assert raised.value.retryable


@each_provider
async def test_a_server_that_never_speaks_or_is_not_there_is_named(provider: str) -> None:
    load = load_openai_model if provider == "openai" else load_anthropic_model
    with SilentServer() as silent:
        for url, reason in ((silent.url, "model_timeout"), ("http://127.0.0.1:9", "model_unreachable")):
            given = {"provider": provider, "base_url": url, "timeout_s": 0.2, "max_retries": 0}
            settings = LanguageModelSettings.model_validate(given)
            model: LanguageModel = load(settings.for_task("judge"), settings)
            with pytest.raises(ModelError, match=reason):
                await model.complete(question())
            await model.close()


@pytest.mark.parametrize("given", ["your_anthropic_key_here", "changeme", "sk-ant-...", "sk-ant-short"])
def test_d26_a_placeholder_is_refused_by_name_before_anything_is_sent(
    given: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", given)
    monkeypatch.setenv("OPENAI_API_KEY", given)
    settings = LanguageModelSettings()
    with pytest.raises(ModelError, match="model_key_placeholder: ANTHROPIC_API_KEY"):
        load_anthropic_model(settings, settings)
    with pytest.raises(ModelError, match="model_key_placeholder: OPENAI_API_KEY"):
        load_openai_model(settings, settings)
    own = LanguageModelSettings.model_validate({"api_key": given})
    with pytest.raises(ModelError, match=r"model_key_placeholder: llm\.api_key"):
        load_anthropic_model(own, own)


async def test_o37_the_environment_gives_anthropics_key_and_model(monkeypatch: pytest.MonkeyPatch) -> None:
    settings = LanguageModelSettings()
    with pytest.raises(ModelError, match=r"model_key_missing: neither llm\.api_key nor ANTHROPIC_API_KEY"):
        load_anthropic_model(settings, settings)
    monkeypatch.setenv("ANTHROPIC_API_KEY", ANTHROPIC_KEY)
    assert load_anthropic_model(settings, settings).name == "anthropic/claude-haiku-4-5"
    monkeypatch.setenv("ANTHROPIC_MEMORY_MODEL", "claude-other")
    assert load_anthropic_model(settings, settings).name == "anthropic/claude-other"
    own = LanguageModelSettings(model="claude-mine")
    assert load_anthropic_model(own, own).name == "anthropic/claude-mine"


def test_the_address_may_come_from_the_environment_and_must_be_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", OPENAI_KEY)
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    assert (
        server_access(LanguageModelSettings(), "OPENAI_API_KEY", "OPENAI_BASE_URL").base_url == "http://127.0.0.1:9/v1"
    )
    with pytest.raises(ModelError, match="model_address_invalid"):
        server_access(LanguageModelSettings(base_url="ollama"), "OPENAI_API_KEY", "OPENAI_BASE_URL")


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"retry-after": "7"}, 7.0),
        ({"retry-after": "0"}, 0.0),
        ({"retry-after": "-3"}, 0.0),
        ({"retry-after": "1e999"}, None),
        ({"retry-after": "soon"}, None),
        ({"retry-after-ms": "250", "retry-after": "9"}, 0.25),
        ({"retry-after": "Mon, 30 Nov 2026 11:00:00 GMT", "date": "Mon, 30 Nov 2026 10:59:00 GMT"}, 60.0),
        ({"retry-after": "Mon, 30 Nov 2026 11:00:00 GMT"}, None),
    ],
)
def test_d32_retry_after_is_read_in_each_of_its_forms(headers: dict[str, str], seconds: float | None) -> None:
    assert retry_after_s(headers) == seconds


@pytest.mark.parametrize(
    ("text", "lacks"),
    [
        ("Invalid parameter: 'response_format' of type 'json_schema' is not supported with this model.", True),
        ("This response_format type is unavailable now", True),
        ("'response_format.type' must be 'json_schema' or 'text'", True),
        ("output_config: Extra inputs are not permitted", True),
        ("Invalid parameter: 'text.format' of type 'json_schema' is not supported", True),
        ("This model's maximum context length is 8192 tokens", False),
        ("max_tokens must be at least 1", False),
        ("unknown model", False),
    ],
)
def test_only_a_named_lack_counts_as_one(text: str, lacks: bool) -> None:
    assert lacks_format(400, text) is lacks
    assert not lacks_format(500, text)
