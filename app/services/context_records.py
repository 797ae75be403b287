"""
What the prompt assembler reads from the store, and how it counts what it used.
"""

from collections.abc import Hashable, Sequence

from sqlalchemy import Connection

from app.clock import Clock
from app.config import ScopeSettings
from app.domain.filters import RecordFilter
from app.domain.records import Memory, Record, Tier
from app.domain.scopes import Scope, ScopeMode, conversation, scope_id
from app.services.access_log import AccessLog
from app.services.bank_settings import scope_mode
from app.services.recall import Recall
from app.services.recall_model import RecallAnswer, RecallRequest
from app.storage import banks as bank_rows
from app.storage import contacts as contact_rows
from app.storage import memories as memory_rows
from app.storage import records
from app.storage.engine import Storage
from app.storage.moments import to_micros


class StoredContextRecords:
    """
    The sources of contexts over one store.
    """

    def __init__(
        self, storage: Storage, recall: Recall, access_log: AccessLog, clock: Clock, scopes: ScopeSettings
    ) -> None:
        self._storage = storage
        self._recall = recall
        self._access_log = access_log
        self._clock = clock
        self._scopes = scopes

    @property
    def writes(self) -> int:
        """
        How many writes this process has made, to whichever bank.
        """
        return self._storage.writes

    async def version(self, bank: str) -> Hashable:
        """
        A value that is another one after every change of what the bank remembers.

        Raises:
            NotFound: when there is no such bank.
        """

        def work(connection: Connection) -> Hashable:
            found = bank_rows.require(connection, bank)
            return found.bank_id, found.created_at, found.revision

        return await self._storage.read(work)

    async def core(self, bank: str, min_confidence: float, limit: int) -> Sequence[Memory]:
        """
        The live preferences and facts of at least that confidence, surest first, then most used.

        Raises:
            NotFound: when there is no such bank.
        """
        clock = to_micros(self._clock.now())

        def work(connection: Connection) -> list[Memory]:
            bank_id = bank_rows.require(connection, bank).bank_id
            return memory_rows.core(connection, bank_id, min_confidence, limit, clock)

        return await self._storage.read(work)

    async def recall(self, bank: str, request: RecallRequest) -> RecallAnswer:
        """
        The records that answer the request's query, best first.

        Raises:
            NotFound: when there is no such bank.
        """
        return await self._recall.recall(bank, request)

    async def scope(self, bank: str, session_id: str | None, source: str | None, source_id: str | None) -> Scope:
        """
        What the conversation sees that a request names, by the mode of the bank.

        Raises:
            InvalidInput: naming what is missing of it.
            NotFound: when there is no such bank.
        """

        def work(connection: Connection) -> Scope:
            found = bank_rows.require(connection, bank)
            mode = scope_mode(found.settings, self._scopes.mode)
            address = conversation(mode, session_id, source, source_id, required=self._scopes.required)
            if address is None:
                return Scope(scope_id(mode, None), None, None if mode is ScopeMode.MAIN else session_id)
            if mode is ScopeMode.PER_CHANNEL_PEER:
                return Scope(scope_id(mode, address), frozenset({address}), session_id)
            known = contact_rows.find(connection, found.bank_id, address)
            link = None if known is None else known.link
            group = contact_rows.linked(connection, found.bank_id, [link]).get(link, []) if link else []
            # A person's sessions on different channels are different ones, so that none of them may narrow it.
            return Scope(scope_id(mode, address, link), frozenset({address, *(who.address for who in group)}))

        return await self._storage.read(work)

    async def recent(self, bank: str, scope: Scope, limit: int) -> Sequence[Record]:
        """
        The newest entries of a scope by the time at which they were said, newest first.

        Raises:
            NotFound: when there is no such bank.
        """
        wanted = RecordFilter(
            clock=self._clock.now(),
            tiers=frozenset({Tier.ENTRY}),
            session_id=scope.session_id,
            contacts=scope.contacts,
        )

        def work(connection: Connection) -> list[Record]:
            return records.newest(connection, bank_rows.require(connection, bank).bank_id, wanted, limit)

        return await self._storage.read(work)

    async def record_access(self, bank: str, ids: Sequence[str]) -> None:
        """
        Count one use of each record, in the background.
        """
        self._access_log.note(bank, ids)
