"""
The fake model's shapes on the wire: what it reads in the requests of three APIs, and the answers that each expects.
"""

import hashlib
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

Body = dict[str, Any]

CHARS_PER_TOKEN = 4
DEFAULT_DIMENSIONS = 64


@dataclass(frozen=True, slots=True)
class Asked:
    """
    One request: the instructions, what the user said in all turns, the model's name, and the form asked for
    (`json_schema`, `json_object` or None).
    """

    system: str
    prompt: str
    turns: int
    model: str
    form: str | None


@dataclass(frozen=True, slots=True)
class Api:
    """
    One API: how its request is read, and how a text, why it ended (`stop` or `length`) and its number become an answer.
    """

    read: Callable[[Body], Asked]
    write: Callable[[Asked, str, str, int], Body]


def tokens(text: str) -> int:
    """
    The fake's count of tokens.
    """
    return math.ceil(len(text) / CHARS_PER_TOKEN)


def embeddings(body: Body) -> Body:
    """
    Vectors that depend on the words of each text alone.
    """
    texts = [body["input"]] if isinstance(body["input"], str) else body["input"]
    size = body.get("dimensions") or DEFAULT_DIMENSIONS
    rows = [{"object": "embedding", "index": at, "embedding": _vector(text, size)} for at, text in enumerate(texts)]
    used = sum(tokens(text) for text in texts)
    usage = {"prompt_tokens": used, "total_tokens": used}
    return {"object": "list", "model": body.get("model", "fake"), "data": rows, "usage": usage}


def openai_error(status: int, message: str, code: str | None = None) -> Body:
    """
    An error as OpenAI words it.
    """
    return {"error": {"message": message, "type": _kind(status), "param": None, "code": code}}


def anthropic_error(status: int, message: str, code: str | None = None) -> Body:
    """
    An error as Anthropic words it.
    """
    return {"type": "error", "error": {"type": code or _kind(status), "message": message}}


def _kind(status: int) -> str:
    return {429: "rate_limit_error", 404: "not_found_error", 529: "overloaded_error"}.get(
        status, "invalid_request_error" if status < 500 else "api_error"
    )


def _read_responses(body: Body) -> Asked:
    turns = body["input"]
    form = body.get("text", {}).get("format", {}).get("type")
    return Asked(body.get("instructions") or "", _said(turns), len(turns), body["model"], form)


def _read_chat(body: Body) -> Asked:
    system = "\n".join(turn["content"] for turn in body["messages"] if turn["role"] == "system")
    turns = [turn for turn in body["messages"] if turn["role"] != "system"]
    return Asked(system, _said(turns), len(turns), body["model"], body.get("response_format", {}).get("type"))


def _read_messages(body: Body) -> Asked:
    form = body.get("output_config", {}).get("format", {}).get("type")
    return Asked(body.get("system") or "", _said(body["messages"]), len(body["messages"]), body["model"], form)


def _said(turns: list[Body]) -> str:
    return "\n".join(turn["content"] for turn in turns if turn["role"] == "user")


def _write_responses(asked: Asked, text: str, ended: str, number: int) -> Body:
    content = {"type": "output_text", "text": text, "annotations": []}
    message = {
        "id": f"msg_{number}",
        "type": "message",
        "role": "assistant",
        "status": "completed",
        "content": [content],
    }
    read, written = tokens(asked.system + asked.prompt), tokens(text)
    return {
        "id": f"resp_{number}",
        "object": "response",
        "created_at": number,
        "model": asked.model,
        "status": "completed" if ended == "stop" else "incomplete",
        "incomplete_details": None if ended == "stop" else {"reason": "max_output_tokens"},
        "error": None,
        "output": [message],
        "parallel_tool_calls": False,
        "tool_choice": "auto",
        "tools": [],
        "usage": {
            "input_tokens": read,
            "output_tokens": written,
            "total_tokens": read + written,
            "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0},
            "output_tokens_details": {"reasoning_tokens": 0},
        },
    }


def _write_chat(asked: Asked, text: str, ended: str, number: int) -> Body:
    read, written = tokens(asked.system + asked.prompt), tokens(text)
    return {
        "id": f"chatcmpl-{number}",
        "object": "chat.completion",
        "created": number,
        "model": asked.model,
        "choices": [{"index": 0, "finish_reason": ended, "message": {"role": "assistant", "content": text}}],
        "usage": {"prompt_tokens": read, "completion_tokens": written, "total_tokens": read + written},
    }


def _write_messages(asked: Asked, text: str, ended: str, number: int) -> Body:
    return {
        "id": f"msg_{number}",
        "type": "message",
        "role": "assistant",
        "model": asked.model,
        "content": [{"type": "text", "text": text}],
        "stop_reason": "end_turn" if ended == "stop" else "max_tokens",
        "stop_sequence": None,
        "usage": {"input_tokens": tokens(asked.system + asked.prompt), "output_tokens": tokens(text)},
    }


def _vector(text: str, size: int) -> list[float]:
    values = [0.0] * size
    for word in text.lower().split():
        digest = hashlib.blake2b(word.strip(".,!?:;\"'()").encode("utf-8", "replace"), digest_size=8).digest()
        values[int.from_bytes(digest[:4]) % size] += 1.0 if digest[4] % 2 else -1.0
    values[0] += 0.01  # a text without words has a direction, too
    length = math.sqrt(sum(value * value for value in values))
    return [value / length for value in values]


APIS = {
    "/v1/responses": Api(_read_responses, _write_responses),
    "/v1/chat/completions": Api(_read_chat, _write_chat),
    "/v1/messages": Api(_read_messages, _write_messages),
}
"""The APIs by path."""
