"""
The one place where a memory's row, index, history and event are written, always together.
"""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from sqlalchemy import Connection

from app.domain.identity import fingerprint
from app.domain.records import Bank, Memory, MemoryRevision
from app.domain.units import Unit
from app.services.preparation import Preparation
from app.storage import banks as bank_rows
from app.storage import idempotency, outbox, records, units
from app.storage import memories as memory_rows
from app.storage.moments import to_micros
from app.storage.outbox import Event

# How the names of changes in a history read as types of events.
_EVENT_TYPES = {"created": "created", "superseded": "superseded", "deleted": "deleted"}


class Journal:
    """
    Writes memories inside the caller's transaction.
    """

    def __init__(self, preparation: Preparation) -> None:
        self._preparation = preparation

    def create(self, connection: Connection, bank: Bank, item: Memory, now: datetime) -> Memory:
        """
        Insert a new memory; returns it numbered. Where nobody said whom it names, known names count in any case.
        """
        if item.record.entities == self._preparation.entities(item.record.text, ()):
            (record,) = self._preparation.with_known_names(connection, bank.bank_id, [item.record])
            item = replace(item, record=record)
        prepared = self._preparation.of(item.record, bank.settings)
        at = to_micros(now)
        version, seq = bank_rows.advance(
            connection,
            bank.bank_id,
            at,
            records=1,
            units=len(prepared.units),
            terms=sum(unit.length for unit in prepared.units),
        )
        made = replace(item, record=replace(item.record, seq=seq))
        records.add(connection, bank.bank_id, version, [records.values_of(made.record, prepared.clusters)])
        memory_rows.put(connection, bank.bank_id, made, fingerprint(made.record.text))
        units.add(connection, bank.bank_id, {seq: prepared.units}, at)
        self._note(connection, bank, made, "created", None, now)
        return made

    def change(
        self,
        connection: Connection,
        bank: Bank,
        old: Memory,
        new: Memory,
        change: str,
        reason: str | None,
        now: datetime,
    ) -> Memory:
        """
        Overwrite a memory by its next state; returns that with its revision.

        A superseded memory stays searchable on request only; a deleted one leaves every index.
        """
        made = replace(new, record=replace(new.record, revision=old.record.revision + 1))
        prepared = self._preparation.of(made.record, bank.settings)
        at = to_micros(now)
        units_won, terms_won = self._reindex(connection, bank.bank_id, old, made, prepared.units, at)
        version, _ = bank_rows.advance(connection, bank.bank_id, at, units=units_won, terms=terms_won)
        records.replace(connection, bank.bank_id, version, records.values_of(made.record, prepared.clusters))
        memory_rows.put(connection, bank.bank_id, made, fingerprint(made.record.text))
        self._note(connection, bank, made, change, reason, now)
        return made

    def erase(self, connection: Connection, bank: Bank, item: Memory, now: datetime) -> None:
        """
        Remove every trace of a memory: row, index, vectors, history, and answers that may repeat it.
        """
        seq, bank_id, at = item.record.seq, bank.bank_id, to_micros(now)
        units_lost, terms_lost = units.remove(connection, bank_id, {seq: self._preparation.units(item.record)})
        if not item.record.is_active:
            units_lost = terms_lost = 0  # they had left the live totals before
        memory_rows.erase(connection, bank_id, [seq])
        records.erase(connection, bank_id, [seq])
        idempotency.forget_bank(connection, bank.name)
        bank_rows.advance(connection, bank_id, at, units=-units_lost, terms=-terms_lost, erased=True)
        outbox.add(connection, bank.name, [Event("item-changed", "deleted", item.record.id, "erased")], at)

    def _reindex(
        self,
        connection: Connection,
        bank_id: int,
        old: Memory,
        new: Memory,
        fresh: Sequence[Unit],
        at: int,
    ) -> tuple[int, int]:
        """Bring the index from the old state to the new; returns the change of the live units and terms."""
        seq = new.record.seq
        stale = self._preparation.units(old.record)
        before, after = _shelf(old), _shelf(new)
        same = stale == tuple(fresh)
        if before == after and same:
            return 0, 0
        if before is not None and after is not None and same:
            units.set_retired(connection, bank_id, {seq: stale}, retired=after == "retired")
        else:
            if before is not None:
                units.remove(connection, bank_id, {seq: stale})
            if after is not None:
                units.add(connection, bank_id, {seq: fresh}, at, retired=after == "retired")
        lost, won = (stale if before == "live" else ()), (fresh if after == "live" else ())
        return len(won) - len(lost), sum(unit.length for unit in won) - sum(unit.length for unit in lost)

    def _note(
        self, connection: Connection, bank: Bank, item: Memory, change: str, reason: str | None, now: datetime
    ) -> None:
        state = MemoryRevision(item.record.revision, now, change, reason, snapshot(item))
        memory_rows.add_revision(connection, bank.bank_id, item.record.seq, state)
        event = Event("item-changed", _EVENT_TYPES.get(change, "updated"), item.record.id, reason)
        outbox.add(connection, bank.name, [event], to_micros(now))


def snapshot(item: Memory) -> dict[str, Any]:
    """
    A memory's state as plain JSON values.
    """
    record = item.record
    return {
        "content": record.text,
        "raw_input": item.raw_input,
        "summary": item.summary,
        "category": record.category,
        "source": record.source,
        "confidence": record.confidence,
        "tags": list(record.tags),
        "entities": list(record.entities),
        "pinned": record.pinned,
        "key": item.key,
        "occurred_at": _iso(record.occurred_at),
        "expires_at": _iso(record.expires_at),
        "observations": record.observations,
        "superseded_by": record.superseded_by,
        "is_active": record.is_active,
        "metadata": record.metadata,
    }


def _iso(moment: datetime | None) -> str | None:
    return None if moment is None else moment.isoformat()


def _shelf(item: Memory) -> str | None:
    """Where a memory stands in the index: `live`, `retired`, or nowhere."""
    if item.record.is_active:
        return "live"
    return "retired" if item.record.invalid_reason == "superseded" else None
