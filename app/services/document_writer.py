"""
The one place where a document's text, passages, history and events are written, always together.
"""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from weakref import WeakValueDictionary

from sqlalchemy import Connection

from app.clock import Clock
from app.config import DocumentSettings
from app.domain.documents.model import Change, Document, Step
from app.domain.documents.paths import is_rule
from app.domain.records import Bank
from app.errors import FieldFault, TooLarge
from app.services.banks import open_for_writing
from app.services.document_index import DocumentIndex, Plan
from app.services.indexer import Indexer
from app.storage import banks as bank_rows
from app.storage import documents as document_rows
from app.storage import outbox
from app.storage.documents import StoredPassage
from app.storage.engine import Storage
from app.storage.moments import to_micros
from app.storage.outbox import Event

Decide = Callable[[Document | None], Step | Document]
"""From the document that is there to the step from it, or to itself where nothing changes."""


@dataclass(frozen=True, slots=True)
class Written:
    """
    A document after a request, and what that changed; None where all was so already.
    """

    document: Document
    change: Change | None


@dataclass(frozen=True, slots=True)
class _Seen:
    """A document as it was read, from which its change is worked out."""

    bank_id: int | None
    settings: Mapping[str, Any]
    document: Document | None
    passages: list[StoredPassage]
    done: Change | None = None

    @property
    def present(self) -> Document | None:
        return None if self.document is None or self.document.deleted_at is not None else self.document


class DocumentWriter:
    """
    Changes documents. Large ones take seconds to read and divide, so that is done beside the store, not inside it.
    """

    def __init__(
        self, storage: Storage, index: DocumentIndex, indexer: Indexer, clock: Clock, settings: DocumentSettings
    ) -> None:
        self._storage = storage
        self._index = index
        self._indexer = indexer
        self._clock = clock
        self._settings = settings
        self._locks: WeakValueDictionary[tuple[str, str], asyncio.Lock] = WeakValueDictionary()

    async def change(self, bank: str, path: str, decide: Decide, request_key: str | None = None) -> Written:
        """
        Take the step that `decide` finds. Where another process was faster, it is found anew from what is there then.
        A request whose key is known was done before, and is not done again.

        Raises:
            TooLarge: beyond `documents.max_bytes` or `documents.passages_max`.
            Conflict: when the bank lies in the trash.
        """
        # Requests of this process wait for each other, instead of each throwing its work away when another was faster.
        lock = self._locks.setdefault((bank, path), asyncio.Lock())
        async with lock:
            while True:
                seen = await self._storage.read(lambda connection: _look(connection, bank, path, request_key))
                if seen.document is not None and seen.done is not None:
                    return Written(seen.document, seen.done)
                step = decide(seen.present)
                if isinstance(step, Document):
                    return Written(step, None)
                now = self._clock.now()
                plan = await asyncio.to_thread(self._plan, path, seen, step, now)
                if await self._storage.write(self._work(bank, path, seen, step, plan, now)):
                    self._indexer.wake()
                    return Written(_next_state(path, seen, step, now), step.change)

    def change_within(self, connection: Connection, bank: Bank, path: str, decide: Decide, now: datetime) -> Written:
        """
        Take the step inside the caller's transaction; for small documents, since all else waits meanwhile.

        The caller wakes the indexer once it has committed.

        Raises:
            TooLarge: beyond `documents.max_bytes` or `documents.passages_max`.
        """
        seen = _look(connection, bank.name, path, None)
        step = decide(seen.present)
        if isinstance(step, Document):
            return Written(step, None)
        item = _next_state(path, seen, step, now)
        self._store(connection, bank, item, step, self._plan(path, seen, step, now))
        return Written(item, step.change)

    def _plan(self, path: str, seen: _Seen, step: Step, now: datetime) -> Plan:
        size, most = len(step.content.encode()), self._settings.max_bytes
        if size > most:
            message = f"a document has at most {most} bytes of UTF-8, this would be {size}"
            raise TooLarge(f"content: {message}", (FieldFault("content", message),))
        return self._index.plan(path, step.content, seen.passages, seen.settings, now)

    def _work(
        self, bank: str, path: str, seen: _Seen, step: Step, plan: Plan, now: datetime
    ) -> Callable[[Connection], bool]:
        def work(connection: Connection) -> bool:
            opened = open_for_writing(connection, bank, to_micros(now))
            if seen.bank_id not in (None, opened.bank_id) or seen.settings != opened.settings:
                return False
            if document_rows.find(connection, opened.bank_id, path) != seen.document:
                return False
            self._store(connection, opened, _next_state(path, seen, step, now), step, plan)
            return True

        return work

    def _store(self, connection: Connection, bank: Bank, item: Document, step: Step, plan: Plan) -> None:
        told = f"{item.path} {step.change}" + (f": {step.reason}" if step.reason else "")
        self._index.apply(connection, bank, item.path, plan, told, item.updated_at)
        document_rows.put(connection, bank.bank_id, item, step)
        kind = "rules-changed" if is_rule(item.path) else "document-changed"
        outbox.add(connection, bank.name, [Event("bank-changed", kind, reason=told)], to_micros(item.updated_at))


def _look(connection: Connection, bank: str, path: str, request_key: str | None) -> _Seen:
    found = bank_rows.find(connection, bank)
    if found is None:
        return _Seen(None, {}, None, [])
    return _Seen(
        found.bank_id,
        found.settings,
        document_rows.find(connection, found.bank_id, path),
        document_rows.passages(connection, found.bank_id, path),
        None if request_key is None else document_rows.change_by(connection, found.bank_id, path, request_key),
    )


def _next_state(path: str, seen: _Seen, step: Step, now: datetime) -> Document:
    return Document(
        path=path,
        revision=1 if seen.document is None else seen.document.revision + 1,
        content=step.content,
        created_at=now if seen.present is None else seen.present.created_at,
        updated_at=now,
        deleted_at=now if step.change is Change.DELETED else None,
    )
