"""
What the servers of language models have in common: their address and key, what their failures mean, how long to wait.
"""

import os
import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from math import isfinite
from typing import Any, Protocol

from app.config import ModelSettings
from app.domain.text.shorten import shorten
from app.providers.api_keys import is_placeholder
from app.providers.language_model import ModelError, ModelRequest
from app.providers.web_address import is_web_address

UNUSED_KEY = "unused"
REJECTED_STATUS = frozenset({400, 413, 422})
TOLD_CHARS = 160
QUOTE_CHARS = 16
NO_RETRY_HEADER = "x-should-retry"
"""Both SDKs obey it in an answer: `false` forbids them a further attempt."""

_FORMAT = re.compile(
    r"response[_ .]?format|text\.format|json[_ ]?(schema|object|mode)|structured|output[_ ]?(config|format)"
    r"|grammar|guided"
)
_LACK = re.compile(
    r"not (yet )?(support|available|permitted|allowed|enabled)|unsupported|unavailable|unknown|unrecogni[sz]ed"
    r"|extra |must be|invalid parameter|unexpected|only support|does not|doesn't"
)


class ResponseWithHeaders(Protocol):
    """
    As much of an HTTP answer as is looked at here.
    """

    @property
    def headers(self) -> Any:
        """
        The header lines, by name.
        """
        ...


@dataclass(frozen=True, slots=True)
class ServerAccess:
    """
    Where a model is asked and with which key; `base_url` unset is the provider's own server.
    """

    base_url: str | None
    key: str


def server_access(settings: ModelSettings, key_variable: str, url_variable: str) -> ServerAccess:
    """
    The address and key of the configuration, or else of the environment.

    Raises:
        ModelError: `model_key_missing`, `model_key_placeholder` or `model_address_invalid`; each says where to look.
    """
    base_url = settings.base_url or os.environ.get(url_variable) or None
    if settings.api_key is not None:
        key, where = settings.api_key.get_secret_value(), "llm.api_key"
    else:
        key, where = os.environ.get(key_variable, ""), key_variable
    if not key.strip():
        if base_url is None:
            raise ModelError("model_key_missing", f"neither llm.api_key nor {key_variable} is set", retryable=False)
        key = UNUSED_KEY
    elif is_placeholder(key, own_server=base_url is not None):
        raise ModelError("model_key_placeholder", f"{where} is not a real key", retryable=False)
    if base_url is not None and not is_web_address(base_url):
        detail = f"{base_url!r} is not of the form http://host:port/path"
        raise ModelError("model_address_invalid", detail, retryable=False)
    return ServerAccess(base_url, key.strip())


def refuse_long_waits(limit_s: float) -> Callable[[ResponseWithHeaders], Awaitable[None]]:
    """
    A hook for an SDK's HTTP client: where a server asks for a longer wait, the SDK gives up at once, so that a worker
    is not held for it and the job can be put off instead.
    """

    async def look(response: ResponseWithHeaders) -> None:
        wait = retry_after_s(response.headers)
        if wait is not None and wait > limit_s:
            response.headers[NO_RETRY_HEADER] = "false"

    return look


def retry_after_s(headers: Mapping[str, str]) -> float | None:
    """
    Seconds that the server asks to wait, at least 0; None where it does not, or not in a form that can be read.

    A date is read against the answer's own Date, so that no clock of this machine takes part.
    """
    for name, scale in (("retry-after-ms", 1000.0), ("retry-after", 1.0)):
        try:
            seconds = float(headers.get(name, "")) / scale
        except ValueError:
            continue
        if isfinite(seconds):
            return max(0.0, seconds)
    try:
        later, now = parsedate_to_datetime(headers["retry-after"]), parsedate_to_datetime(headers["date"])
        return max(0.0, (later - now).total_seconds())
    except (KeyError, ValueError, TypeError):
        return None


def status_failure(
    status: int, message: str, code: object, headers: Mapping[str, str], request: ModelRequest, model: str
) -> ModelError:
    """
    What an answer of HTTP 4xx or 5xx means.
    """
    named = f" {code}" if isinstance(code, str) and code else ""
    quoted = told(message, request)
    detail = f"{model}: HTTP {status}{named}{f' ({quoted})' if quoted else ''}"
    wait = retry_after_s(headers)
    if status in {401, 403}:
        return ModelError("model_key_refused", detail, retryable=False)
    if status == 404:
        return ModelError("model_unknown", detail, retryable=False)
    if status == 402 or code == "insufficient_quota":
        return ModelError("model_quota_spent", detail, retryable=True, retry_after_s=wait)
    if status == 429:
        return ModelError("model_rate_limited", detail, retryable=True, retry_after_s=wait)
    if status >= 500 or status in {408, 409}:
        return ModelError("model_server_error", detail, retryable=True, retry_after_s=wait)
    return ModelError("model_rejected", detail, retryable=False)


def lacks_format(status: int, message: str) -> bool:
    """
    Whether the server says that it cannot answer in the form that was asked for, and not that the request is wrong.
    """
    lowered = message.lower()
    return status in REJECTED_STATUS and bool(_FORMAT.search(lowered)) and bool(_LACK.search(lowered))


def told(message: str, request: ModelRequest) -> str:
    """
    A server's message, short; empty where it quotes what it was sent, as that is somebody's private text.
    """
    short = shorten(" ".join(message.split()), TOLD_CHARS)[0]
    if "\\u" in short:
        return ""
    windows = {short[start : start + QUOTE_CHARS] for start in range(max(1, len(short) - QUOTE_CHARS + 1))}
    sent = [" ".join(turn.content.split()) for turn in request.turns]
    return "" if any(len(window) == QUOTE_CHARS and window in text for window in windows for text in sent) else short
