"""
Long-term documents: written, appended to, shown and deleted, each change a revision, each passage recallable.
"""

from datetime import datetime
from typing import Final

from sqlalchemy import Connection

from app.clock import Clock
from app.config import DocumentSettings, ShortTermSettings
from app.domain.consolidation.learned import LEARNED
from app.domain.documents.appending import DailyCategory
from app.domain.documents.changes import Addition, appending, removing, writing
from app.domain.documents.model import Document, DocumentInfo, DocumentRevision, Step
from app.domain.documents.paths import RULES, check_path, daily_path, is_rule
from app.domain.records import Bank
from app.domain.text.legal import legal_text
from app.errors import NotFound, PreconditionFailed
from app.services.document_index import DocumentIndex
from app.services.document_writer import Decide, DocumentWriter, Written
from app.services.indexer import Indexer
from app.services.preparation import Preparation
from app.storage import banks as bank_rows
from app.storage import documents as document_rows
from app.storage.engine import Storage

ABSENT: Final = 0
"""The revision to expect of a document that is not there."""

ANY: Final = -1
"""The revision to expect of a document that is there, whatever its revision."""


class Documents:
    """
    The use cases of long-term documents. A path that cannot be taken is refused as `InvalidInput` throughout.
    """

    def __init__(
        self,
        storage: Storage,
        preparation: Preparation,
        indexer: Indexer,
        clock: Clock,
        settings: DocumentSettings,
        short_term: ShortTermSettings,
    ) -> None:
        self._storage = storage
        self._clock = clock
        self._settings = settings
        index = DocumentIndex(preparation, settings, short_term)
        self._writer = DocumentWriter(storage, index, indexer, clock, settings)

    async def put(
        self, bank: str, path: str, content: str, if_match: int | None = None, *, reason: str | None = None
    ) -> Written:
        """
        Write a document, new or over the present one; the same content again changes nothing. A rule without content
        is removed.

        `if_match` is the revision that the caller has seen, `ABSENT` where it saw none, `ANY` for one that is there.

        Raises:
            TooLarge: beyond `documents.max_bytes` or `documents.passages_max`.
            PreconditionFailed: when the present revision is another.
            Conflict: when a daily log would lose what it has, or the bank lies in the trash.
            NotFound: when a rule is to be removed that is not there.
        """
        path = check_path(path)
        text = legal_text(content)
        if is_rule(path) and not text.strip():
            return await self.delete(bank, path, if_match, reason=reason)

        def decide(present: Document | None) -> Step | Document:
            _require_revision(path, present, if_match)
            return writing(path, present, text, reason)

        return await self._writer.change(bank, path, decide)

    async def append(
        self,
        bank: str,
        path: str,
        content: str,
        heading: str | None = None,
        *,
        at: datetime | None = None,
        only_new: bool = False,
        reason: str | None = None,
        request_key: str | None = None,
    ) -> Written:
        """
        Put text at the end of a document, which comes into being with it; all that is there stays. As `Addition` says;
        `at` is now, in `documents.time_zone`, unless given.

        Raises:
            InvalidInput: when the text or the heading cannot be taken.
            TooLarge: when the document would grow beyond `documents.max_bytes` or `documents.passages_max`.
            Conflict: when the bank lies in the trash.
        """
        title = None if heading is None else legal_text(heading)
        addition = Addition(
            check_path(path), legal_text(content), at or self._now(), title, only_new, reason, request_key
        )
        return await self._writer.change(bank, addition.path, lambda present: appending(present, addition), request_key)

    def log_within(
        self,
        connection: Connection,
        bank: Bank,
        content: str,
        category: DailyCategory,
        at: datetime | None = None,
        *,
        reason: str | None = None,
    ) -> Written:
        """
        Append to the log of the day of `at` (now, in `documents.time_zone`, unless given) inside the caller's
        transaction. The caller wakes the indexer once it has committed.

        Raises:
            InvalidInput: when there is no text.
            TooLarge: when the log would grow beyond `documents.max_bytes` or `documents.passages_max`.
        """
        moment = at or self._now()
        path = daily_path(moment.date())
        addition = Addition(path, legal_text(content), moment, category, reason=reason)
        return self._writer.change_within(
            connection, bank, path, lambda present: appending(present, addition), self._clock.now()
        )

    def change_within(self, connection: Connection, bank: Bank, path: str, decide: Decide) -> Written:
        """
        Take a step with a document inside the caller's transaction. The caller wakes the indexer once it has committed.

        Raises:
            TooLarge: when the document would grow beyond `documents.max_bytes` or `documents.passages_max`.
        """
        return self._writer.change_within(connection, bank, check_path(path), decide, self._clock.now())

    async def get(self, bank: str, path: str) -> Document:
        """
        A document with its text.

        Raises:
            NotFound: when there is no such bank or document, or it was deleted.
        """
        path = check_path(path)

        def work(connection: Connection) -> Document:
            found = document_rows.find(connection, bank_rows.require(connection, bank).bank_id, path)
            if found is None or found.deleted_at is not None:
                raise _missing(bank, path)
            return found

        return await self._storage.read(work)

    async def page(self, bank: str, limit: int, offset: int) -> tuple[list[DocumentInfo], int]:
        """
        The documents of a bank by path, without their text, and how many there are.

        Raises:
            NotFound: when there is no such bank.
        """
        return await self._storage.read(
            lambda connection: document_rows.page(
                connection, bank_rows.require(connection, bank).bank_id, limit, offset
            )
        )

    async def rules(self, bank: str) -> list[Document]:
        """
        The rules of a bank by name, with their text; those that were learned come last.

        Raises:
            NotFound: when there is no such bank.
        """
        found = await self._storage.read(
            lambda connection: document_rows.under(connection, bank_rows.require(connection, bank).bank_id, RULES)
        )
        return sorted(found, key=lambda rule: rule.path == LEARNED)

    async def history(self, bank: str, path: str, limit: int, offset: int) -> tuple[list[DocumentRevision], int]:
        """
        States of a document, oldest first, also of a deleted one, and how many there are.

        A page holds at least one state and, where there are more, at most `documents.max_bytes` of their texts.

        Raises:
            NotFound: when there is no such bank, or never was such a document.
        """
        path = check_path(path)

        def work(connection: Connection) -> tuple[list[DocumentRevision], int]:
            bank_id = bank_rows.require(connection, bank).bank_id
            found = document_rows.find(connection, bank_id, path)
            if found is None:
                raise _missing(bank, path)
            states: list[DocumentRevision] = []
            room = self._settings.max_bytes
            for state in document_rows.revisions(connection, bank_id, path, offset):
                room -= len(state.content.encode())
                if len(states) == limit or (states and room < 0):
                    break
                states.append(state)
            return states, found.revision

        return await self._storage.read(work)

    async def delete(self, bank: str, path: str, if_match: int | None = None, *, reason: str | None = None) -> Written:
        """
        Delete a document: it leaves every index, its history stays.

        Raises:
            NotFound: when there is no such bank or document, or it was deleted before.
            PreconditionFailed: when the present revision is another than `if_match`.
        """
        path = check_path(path)

        def decide(present: Document | None) -> Step | Document:
            if present is None:
                raise _missing(bank, path)
            _require_revision(path, present, if_match)
            return removing(reason)

        return await self._writer.change(bank, path, decide)

    def _now(self) -> datetime:
        return self._clock.now().astimezone(self._settings.zone)


def _require_revision(path: str, present: Document | None, if_match: int | None) -> None:
    revision = ABSENT if present is None else present.revision
    if if_match is None or if_match == revision or (if_match == ANY and present is not None):
        return
    there = "is not there" if present is None else f"is at revision {revision}"
    raise PreconditionFailed(f"{path} {there}")


def _missing(bank: str, path: str) -> NotFound:
    return NotFound(f"there is no document {path!r} in bank {bank!r}")
