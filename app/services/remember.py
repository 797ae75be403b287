"""
Taking in short-term entries: validated as a whole, deduplicated, indexed, and committed before the answer.
"""

import asyncio
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Connection

from app.clock import Clock
from app.config import ServerSettings, ShortTermSettings
from app.domain.filters import RecordFilter
from app.domain.identity import new_id, text_hash
from app.domain.records import Bank, Entry, Record, Tier
from app.domain.text.legal import legal_text
from app.domain.units import Unit
from app.errors import Conflict, InvalidInput
from app.services.banks import open_for_writing
from app.services.contacts import seen_in
from app.services.faults import Faults
from app.services.indexer import Indexer
from app.services.preparation import Preparation
from app.services.triggers import Triggers
from app.storage import banks as bank_rows
from app.storage import contacts as contact_rows
from app.storage import entries as entry_rows
from app.storage import idempotency, outbox, records, units
from app.storage.engine import Storage
from app.storage.entries import EntryRow
from app.storage.moments import to_micros
from app.storage.outbox import Event

# Roles that say who speaks in a dialogue; any other role is the speaker's own name.
DIALOGUE_ROLES = frozenset({"user", "assistant", "system", "tool", "developer", "function"})


@dataclass(frozen=True, slots=True)
class NewEntry:
    """
    One message as a bot posts it; only `content` is required.
    """

    content: str
    role: str = "user"
    name: str | None = None
    timestamp: datetime | None = None
    source: str | None = None
    source_id: str | None = None
    session_id: str | None = None
    message_id: str | None = None
    message_type: str | None = None
    action_id: str | None = None
    step: int | None = None
    skill: str | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)
    tags: Sequence[str] = ()
    id: str | None = None


@dataclass(frozen=True, slots=True)
class EntryResult:
    """
    What became of one entry: its id (of the known one, if it is a duplicate).
    """

    id: str
    duplicate_of: str | None = None

    @property
    def status(self) -> str:
        """
        `created` or `duplicate`.
        """
        return "created" if self.duplicate_of is None else "duplicate"


@dataclass(frozen=True, slots=True)
class Remembered:
    """
    What became of each entry, in the order given, and the jobs that were enqueued with them.
    """

    results: tuple[EntryResult, ...]
    jobs: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class EntryQuery:
    """
    What a list of entries is narrowed to.
    """

    session_id: str | None = None
    source: str | None = None
    source_id: str | None = None
    action_id: str | None = None
    role: str | None = None


@dataclass(frozen=True, slots=True)
class _Draft:
    record: Record
    row: EntryRow
    units: tuple[Unit, ...]
    thread: str

    @property
    def said_at(self) -> int:
        return to_micros(self.record.created_at)


class Remember:
    """
    The use cases of short-term entries.
    """

    def __init__(
        self,
        storage: Storage,
        preparation: Preparation,
        indexer: Indexer,
        clock: Clock,
        settings: ShortTermSettings,
        server: ServerSettings,
        triggers: Triggers,
    ) -> None:
        self._storage = storage
        self._preparation = preparation
        self._indexer = indexer
        self._triggers = triggers
        self._clock = clock
        self._settings = settings
        self._server = server

    async def entries(self, bank: str, given: Sequence[NewEntry]) -> Remembered:
        """
        Store entries, in order, in one transaction, with the jobs that they call for.

        Raises:
            InvalidInput: naming every bad field; nothing of the request is stored then.
            TooLarge: when an entry's content is beyond `short_term.max_content_bytes`.
        """
        if not given:
            raise InvalidInput.of("entries", "must hold at least one entry")
        if len(given) > self._server.batch_max:
            raise InvalidInput.of("entries", f"at most {self._server.batch_max} at once, got {len(given)}")
        now = self._clock.now()
        drafts = await asyncio.to_thread(self._drafts, given, now)
        stored = await self._storage.write(lambda connection: self._store(connection, bank, drafts, now))
        self._indexer.wake()
        if stored.jobs:
            self._triggers.wake()
        return stored

    async def page(self, bank: str, query: EntryQuery, limit: int, offset: int) -> tuple[list[Entry], int]:
        """
        Entries of a bank, newest first, and how many there are.

        Raises:
            NotFound: when there is no such bank.
        """
        wanted = RecordFilter(
            clock=self._clock.now(),
            tiers=frozenset({Tier.ENTRY}),
            session_id=query.session_id,
            source=query.source,
            source_id=query.source_id,
        )

        def work(connection: Connection) -> tuple[list[Entry], int]:
            bank_id = bank_rows.require(connection, bank).bank_id
            return entry_rows.page(
                connection, bank_id, wanted, limit, offset, action_id=query.action_id, role=query.role
            )

        return await self._storage.read(work)

    async def delete_action(self, bank: str, action_id: str) -> int:
        """
        Remove an action's entries for good, from every index and kept answer; returns how many there were.

        Raises:
            NotFound: when there is no such bank.
        """
        now = to_micros(self._clock.now())

        def work(connection: Connection) -> int:
            bank_id = bank_rows.require(connection, bank).bank_id
            seqs = entry_rows.of_action(connection, bank_id, action_id)
            if not seqs:
                return 0
            gone = records.by_seqs(connection, bank_id, seqs)
            removed = units.remove(
                connection, bank_id, {seq: self._preparation.units(item) for seq, item in gone.items()}
            )
            entry_rows.erase(connection, bank_id, seqs)
            records.erase(connection, bank_id, seqs)
            idempotency.forget_bank(connection, bank)
            bank_rows.advance(connection, bank_id, now, units=-removed[0], terms=-removed[1], erased=True)
            events = [Event("item-changed", "deleted", item.id, "action ended") for item in gone.values()]
            outbox.add(connection, bank, events, now)
            return len(gone)

        number = await self._storage.write(work)
        if number:
            await self._storage.checkpoint()
        return number

    def _drafts(self, given: Sequence[NewEntry], now: datetime) -> list[_Draft]:
        faults = Faults()
        drafts = []
        for place, item in enumerate(given):
            own = Faults(f"entries[{place}].")
            drafts.append(self._draft(item, own, now))
            faults.merge(own)
        faults.raise_if_any()
        return drafts

    def _draft(self, item: NewEntry, faults: Faults, now: datetime) -> _Draft:
        content = legal_text(item.content)
        size = len(content.encode())
        if not content.strip():
            faults.add("content", "must not be empty")
        if size > self._settings.max_content_bytes:
            faults.add_size("content", f"at most {self._settings.max_content_bytes} bytes of UTF-8, got {size}")
            content = content[: self._settings.content_max]
        role = faults.name("role", item.role, 64) or ""
        name = faults.name("name", item.name)
        speaker = name or (None if role.casefold() in DIALOGUE_ROLES else role)
        said_at = faults.moment("timestamp", item.timestamp) or now
        record = Record(
            seq=0,
            id=faults.name("id", item.id, 64) or new_id("ent"),
            tier=Tier.ENTRY,
            text=content,
            created_at=said_at,
            updated_at=said_at,
            speaker=speaker,
            role=role,
            session_id=faults.name("session_id", item.session_id),
            source=faults.name("source", item.source),
            source_id=faults.name("source_id", item.source_id),
            tags=faults.labels("tags", item.tags),
            entities=self._preparation.entities(content, ()),
            metadata=faults.mapping("metadata", item.metadata),
        )
        row = EntryRow(
            seq=0,
            contact=json.dumps([record.source, record.source_id or record.session_id]),
            thread=json.dumps([record.session_id, record.source, record.source_id]),
            content_hash=text_hash(content),
            message_id=faults.name("message_id", item.message_id),
            message_type=faults.name("message_type", item.message_type, 64),
            action_id=faults.name("action_id", item.action_id),
            step=item.step,
            skill=faults.name("skill", item.skill),
        )
        return _Draft(record, row, self._preparation.units(record), row.thread)

    def _store(self, connection: Connection, bank: str, drafts: Sequence[_Draft], now: datetime) -> Remembered:
        at = to_micros(now)
        opened = open_for_writing(connection, bank, at)
        results, fresh = self._sort_out(connection, opened.bank_id, drafts)
        if not fresh:
            return Remembered(tuple(results))
        self._insert(connection, opened, fresh, at)
        threads = {draft.thread for draft in fresh}
        return Remembered(tuple(results), self._triggers.entries_stored(connection, opened, threads, now))

    def _sort_out(
        self, connection: Connection, bank_id: int, drafts: Sequence[_Draft]
    ) -> tuple[list[EntryResult], list[_Draft]]:
        """Tell duplicates from new entries, also among the drafts themselves."""
        window = int(timedelta(seconds=self._settings.dedupe_window_s).total_seconds() * 1_000_000)
        ids = {(d.row.contact, d.row.message_id) for d in drafts if d.row.message_id is not None}
        by_message = entry_rows.by_message_ids(connection, bank_id, ids)
        nameless = [draft for draft in drafts if draft.row.message_id is None]
        times = [draft.said_at for draft in nameless] or [0]
        by_content = entry_rows.twins(
            connection, bank_id, {d.row.content_hash for d in nameless}, min(times) - window, max(times) + window
        )
        by_id = records.texts_of(connection, bank_id, [draft.record.id for draft in drafts])
        seen = set(by_id)
        results: list[EntryResult] = []
        fresh: list[_Draft] = []
        for draft in drafts:
            row, item = draft.row, draft.record
            known: str | None = None
            if by_id.setdefault(item.id, item.text) != item.text:
                raise Conflict(f"id {item.id!r} stands for another text in this bank")
            if item.id in seen:
                known = item.id
            elif row.message_id is not None:
                known = by_message.setdefault((row.contact, row.message_id), item.id)
                known = None if known == item.id else known
            elif window:
                twins = by_content.setdefault((row.contact, row.content_hash), [])
                same = (twin.id for twin in twins if twin.repeats(draft.said_at, window, item.role, item.speaker))
                known = next(same, None)
                if known is None:
                    twins.append(entry_rows.Twin(item.id, draft.said_at, item.role, item.speaker))
            seen.add(item.id)
            results.append(EntryResult(known or item.id, known))
            if known is None:
                fresh.append(draft)
        return results, fresh

    def _insert(self, connection: Connection, bank: Bank, fresh: Sequence[_Draft], now: int) -> None:
        bank_id = bank.bank_id
        fresh = self._with_known_names(connection, bank_id, fresh)
        flat = [unit for draft in fresh for unit in draft.units]
        version, first = bank_rows.advance(
            connection,
            bank_id,
            now,
            records=len(fresh),
            units=len(flat),
            terms=sum(unit.length for unit in flat),
        )
        last = entry_rows.last_of_threads(connection, bank_id, {draft.thread for draft in fresh})
        gap = self._settings.neighbour_gap_s * 1_000_000
        rows, own, indexed = [], [], {}
        for seq, draft in enumerate(fresh, first):
            before = last.get(draft.thread)
            previous = before[0] if before is not None and abs(draft.said_at - before[1]) <= gap else None
            last[draft.thread] = (seq, draft.said_at)
            item = replace(draft.record, seq=seq)
            clusters = self._preparation.clusters_of(item.text, bank.settings)
            rows.append(records.values_of(item, clusters, previous))
            own.append(replace(draft.row, seq=seq))
            indexed[seq] = draft.units
        records.add(connection, bank_id, version, rows)
        entry_rows.add(connection, bank_id, own)
        units.add(connection, bank_id, indexed, now)
        contact_rows.see(connection, bank_id, seen_in([(draft.record, draft.row.message_type) for draft in fresh]), now)
        outbox.add(connection, bank.name, [Event("item-changed", "created", draft.record.id) for draft in fresh], now)

    def _with_known_names(self, connection: Connection, bank_id: int, fresh: Sequence[_Draft]) -> list[_Draft]:
        named = self._preparation.with_known_names(connection, bank_id, [draft.record for draft in fresh])
        return [
            draft if item is draft.record else replace(draft, record=item, units=self._preparation.units(item))
            for draft, item in zip(fresh, named, strict=True)
        ]
