"""
The memory service behind an address, over HTTP.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, TypeVar
from urllib.parse import quote

import httpx
import msgspec

from app.api.schemas.context import ContextIn, ContextOut
from app.api.schemas.entries import EntriesStored, EntryIn, NewEntries
from app.api.schemas.memories import MemoryIn, MemoryOut
from app.api.schemas.operations import DoctorOut
from app.api.schemas.recall import Answer, Question
from app.cli.faults import AnsweredFault, CommandFault
from app.errors import FieldFault

T = TypeVar("T")

TIMEOUT_S = 60.0


@asynccontextmanager
async def client(url: str, api_key: str | None) -> AsyncIterator[httpx.AsyncClient]:
    """
    A connection to the service at `url`.

    Raises:
        CommandFault: when that is no address of a service.
    """
    if not url.startswith(("http://", "https://")):
        raise CommandFault.of("--url", f"must begin with http:// or https://, got {url!r}")
    headers = {} if api_key is None else {"Authorization": f"Bearer {api_key}"}
    async with httpx.AsyncClient(base_url=url, headers=headers, timeout=TIMEOUT_S) as connection:
        yield connection


class RemoteService:
    """
    Calls a running service.
    """

    def __init__(self, connection: httpx.AsyncClient) -> None:
        self._connection = connection

    async def save_memory(self, bank: str, memory: MemoryIn) -> MemoryOut:
        return await self._post(_in_bank(bank, "memories"), memory, MemoryOut)

    async def save_entry(self, bank: str, entry: EntryIn) -> EntriesStored:
        return await self._post(_in_bank(bank, "entries"), NewEntries(entries=[entry]), EntriesStored)

    async def recall(self, bank: str, question: Question) -> Answer:
        return await self._post(_in_bank(bank, "recall"), question, Answer)

    async def context(self, bank: str, wanted: ContextIn) -> ContextOut:
        return await self._post(_in_bank(bank, "context"), wanted, ContextOut)

    async def doctor(self) -> DoctorOut:
        return await self._post("/v1/doctor", None, DoctorOut)

    async def settle(self, seconds: float) -> int:
        # The service gives its texts their vectors by itself.
        return 0

    async def _post(self, path: str, body: Any, kind: type[T]) -> T:
        try:
            response = await self._connection.post(
                path,
                content=None if body is None else msgspec.json.encode(body),
                headers={"Content-Type": "application/json"},
            )
        except httpx.HTTPError as error:
            where = self._connection.base_url
            reason = str(error) or type(error).__name__
            raise CommandFault.of("--url", f"the service at {where} does not answer: {reason}") from error
        if response.is_success:
            return _decoded(response, kind)
        raise _answered(response)


def _in_bank(bank: str, what: str) -> str:
    return f"/v1/banks/{quote(bank, safe='')}/{what}"


def _decoded(response: httpx.Response, kind: type[T]) -> T:
    try:
        return msgspec.json.decode(response.content, type=kind)
    except msgspec.DecodeError as error:
        raise CommandFault.of("--url", f"{response.url} does not answer as a Lamina service does: {error}") from error


def _answered(response: httpx.Response) -> AnsweredFault:
    try:
        found = response.json()
        fields = [FieldFault(str(item["field"]), str(item["message"])) for item in found.get("errors", ())]
        return AnsweredFault(response.status_code, found["type"], found["title"], found["detail"], fields)
    except (ValueError, KeyError, TypeError, AttributeError):
        detail = f"{response.url} answered {response.status_code} {response.reason_phrase}"
        return AnsweredFault(response.status_code, "about:blank", response.reason_phrase, detail, ())
