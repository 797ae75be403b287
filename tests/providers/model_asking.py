"""
What the tests of language models share: a question, a real adapter before a local server, a daily account in memory.
"""

import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

from pydantic import BaseModel

from app.config import LanguageModelSettings
from app.domain.model_usage import DailyBudget, ModelUsage
from app.providers.language_model import LanguageModel, ModelRequest, Turn
from app.providers.llm_anthropic import load_anthropic_model
from app.providers.llm_openai import load_openai_model
from tests.providers.stub_servers import Body, Reply, StubServer

OPENAI_KEY = "sk-proj-9aZ3kQwLr7TtY0bNcVx5mHjGfDs"
ANTHROPIC_KEY = "sk-ant-api03-9aZ3kQwLr7TtY0bNcVx5mHjGfDsQwErTy"
VARIABLES = (
    "OPENAI_API_KEY",
    "OPENAI_BASE_URL",
    "OPENAI_ORG_ID",
    "OPENAI_PROJECT_ID",
    "ANTHROPIC_API_KEY",
    "ANTHROPIC_AUTH_TOKEN",
    "ANTHROPIC_BASE_URL",
    "ANTHROPIC_MEMORY_MODEL",
)


class Colour(BaseModel):
    """
    A form with a bound that strict schemas do not know.
    """

    name: str
    shades: list[str]


def question(text: str = "Which colour?", **changes: Any) -> ModelRequest:
    """
    A question in the form of a colour.
    """
    given: dict[str, Any] = {
        "task": "extract",
        "system": "# Task: colour",
        "turns": (Turn("user", text),),
        "form": Colour,
    }
    return ModelRequest(**{**given, **changes})


class ModelServer(StubServer):
    """
    Answers model calls: `replies` are used up first, then `always`.
    """

    def __init__(self, always: Callable[[Body], Reply], *replies: Callable[[Body], Reply]) -> None:
        super().__init__(self._answer)
        self.bodies: list[Body] = []
        self.paths: list[str] = []
        self.always = always
        self._replies = list(replies)

    def _answer(self, method: str, path: str, raw: bytes) -> Reply:
        body: Body = json.loads(raw)
        self.bodies.append(body)
        self.paths.append(path)
        return (self._replies.pop(0) if self._replies else self.always)(body)


def reply(body: object, status: int = 200, **headers: str) -> Callable[[Body], Reply]:
    """
    An answer with that JSON, or those bytes.
    """
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return lambda _: Reply(status, raw, {"Content-Type": "application/json", **named})


def error(status: int, message: str = "no", code: str | None = None, **headers: str) -> Callable[[Body], Reply]:
    """
    An error as both providers' SDKs understand it.
    """
    inner = {"message": message, "type": code or "stub", "code": code, "param": None}
    return reply({"type": "error", "error": inner}, status, **headers)


@asynccontextmanager
async def asking(
    provider: str, always: Callable[[Body], Reply], *replies: Callable[[Body], Reply], **changes: Any
) -> AsyncIterator[tuple[LanguageModel, ModelServer]]:
    """
    A provider's real adapter and SDK before a server on this machine.
    """
    with ModelServer(always, *replies) as server:
        suffix, key = ("/v1", OPENAI_KEY) if provider == "openai" else ("", ANTHROPIC_KEY)
        given = {"provider": provider, "base_url": f"{server.url}{suffix}", "api_key": key, **changes}
        settings = LanguageModelSettings.model_validate(given)
        load = load_openai_model if provider == "openai" else load_anthropic_model
        model = load(settings.for_task("extract"), settings)
        try:
            yield model, server
        finally:
            await model.close()


class MemoryAccount:
    """
    A daily account that forgets everything with the process.
    """

    def __init__(self) -> None:
        self.usage: dict[tuple[int, str], ModelUsage] = {}

    async def reserve(self, bank_id: int, day: str, budget: DailyBudget) -> str | None:
        used = self.usage.get((bank_id, day), ModelUsage())
        spent = budget.spent(used)
        if spent is None:
            self.usage[bank_id, day] = ModelUsage(used.calls + 1, used.input_tokens, used.output_tokens)
        return spent

    async def add_tokens(self, bank_id: int, day: str, input_tokens: int, output_tokens: int) -> None:
        used = self.usage[bank_id, day]
        self.usage[bank_id, day] = ModelUsage(
            used.calls, used.input_tokens + input_tokens, used.output_tokens + output_tokens
        )
