"""
The Idempotency-Key header: a POST that is sent again gets the first answer, and is not done again.

A key belongs to its caller, and to the method, path and query it was sent with. Answers below 500 are kept. While the
first request is at work, a second waits for a moment and is then refused with 409.
"""

import asyncio
import hashlib

import msgspec
from litestar.enums import ScopeType
from litestar.types import ASGIApp, HTTPScope, Message, Receive, Scope, Send

from app.api.request import SEED, ApiRequest
from app.api.services import Services
from app.domain.identity import ID_HEX_DIGITS
from app.errors import InvalidInput
from app.services.idempotency import Claim
from app.storage.idempotency import Answer

HEADER = "Idempotency-Key"
REPLAYED = b"idempotency-replayed"
KEY_MAX = 255

_HEADER_BYTES = HEADER.lower().encode()


class _Named(msgspec.Struct):
    """The name of the bank that a request makes."""

    name: str


class IdempotentPosts:
    """
    Stands between authentication and the route handlers; without the header it costs one look at the headers.
    """

    def __init__(self, app: ASGIApp, services: Services) -> None:
        self._app = app
        self._idempotency = services.idempotency

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == ScopeType.HTTP and self._idempotency.enabled:
            key = _key_of(scope)
            if key is not None:
                await self._once(scope, receive, send, key)
                return
        await self._app(scope, receive, send)

    async def _once(self, scope: HTTPScope, receive: Receive, send: Send, key: str) -> None:
        # Read here, the body stays with the connection for the route handler.
        body = await ApiRequest(scope, receive, send).body()
        owner = f"{scope['auth'].name}\n{scope['method']} {scope['path']}?{scope['query_string'].decode('latin-1')}"
        digest = hashlib.sha256(body).hexdigest()
        found = await self._idempotency.begin(owner, _bank_of(scope, body), key, digest)
        if isinstance(found, Answer):
            await _replay(found, send)
            return
        await self._first(found, scope, receive, send)

    async def _first(self, claim: Claim, scope: HTTPScope, receive: Receive, send: Send) -> None:
        scope["state"][SEED] = claim.seed
        messages: list[Message] = []

        async def keep(message: Message) -> None:
            messages.append(message)

        try:
            await self._app(scope, receive, keep)
        except asyncio.CancelledError:
            self._idempotency.abandon(claim)
            raise
        except Exception:
            await self._idempotency.fail(claim, 500)
            raise
        status, content_type, body = _answer_in(messages)
        # Kept before it is sent: who has seen the answer gets the same one again.
        if status < 500:
            await self._idempotency.finish(claim, status, body, content_type)
        else:
            await self._idempotency.fail(claim, status)
        for message in messages:
            await send(message)


def drawn_id(prefix: str, seed: str | None, place: int) -> str | None:
    """
    The id of the n-th record of a request under an Idempotency-Key, the same for every attempt at it; else None.
    """
    if seed is None:
        return None
    return f"{prefix}-{hashlib.sha256(f'{seed}/{place}'.encode()).hexdigest()[:ID_HEX_DIGITS]}"


def _key_of(scope: HTTPScope) -> str | None:
    if scope["method"] != "POST":
        return None
    value = next((value for name, value in scope["headers"] if name == _HEADER_BYTES), None)
    if value is None:
        return None
    key = value.decode("latin-1").strip()
    if not 1 <= len(key) <= KEY_MAX:
        raise InvalidInput.of(HEADER, f"has 1 to {KEY_MAX} characters, got {len(key)}")
    return key


def _bank_of(scope: HTTPScope, body: bytes) -> str | None:
    params = scope["path_params"]
    bank = params.get("bank", params.get("name"))
    if isinstance(bank, str):
        return bank
    try:
        return msgspec.json.decode(body, type=_Named).name
    except (msgspec.DecodeError, RecursionError):
        return None


def _answer_in(messages: list[Message]) -> tuple[int, str, bytes]:
    status, content_type, chunks = 500, "", []
    for message in messages:
        if message["type"] == "http.response.start":
            status = message["status"]
            content_type = next((v.decode() for k, v in message["headers"] if k.lower() == b"content-type"), "")
        elif message["type"] == "http.response.body":
            chunks.append(message["body"])
    return status, content_type, b"".join(chunks)


async def _replay(answer: Answer, send: Send) -> None:
    body = answer.body or b""
    headers = [(REPLAYED, b"true"), (b"content-length", str(len(body)).encode())]
    if answer.content_type:
        headers.append((b"content-type", answer.content_type.encode()))
    await send({"type": "http.response.start", "status": answer.status or 200, "headers": headers})
    await send({"type": "http.response.body", "body": body, "more_body": False})
