"""
How memories change inside a transaction: saved, learned from what was said, structured, and retired by another.
"""

from collections.abc import Collection
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum

from sqlalchemy import Connection

from app.domain.consolidation.hygiene import Group, Row
from app.domain.consolidation.sameness import same_statement
from app.domain.identity import fingerprint, normalise
from app.domain.records import Bank, Memory
from app.errors import Conflict
from app.services.drafting import Drafting, Saved
from app.services.memory_journal import Journal
from app.storage import memories as memory_rows

DELETED = "deleted"
SUPERSEDED = "superseded"
DERIVED = "derived"
"""Metadata key of what was made from other records and must not be taken for a new statement."""


class Learning(StrEnum):
    """
    What became of a statement that nobody asked to keep.
    """

    CREATED = "created"
    REINFORCED = "reinforced"
    KNOWN = "known"  #: from the same records as before
    PINNED = "pinned"  #: what a person pinned stays as it is
    DELETED = "deleted"  #: what a person deleted does not come back by itself
    SUPERSEDED = "superseded"  #: something newer holds


@dataclass(frozen=True, slots=True)
class Learned:
    """
    The memory that stands for a statement, and what became of the statement.
    """

    memory: Memory
    outcome: Learning


class MemoryWriter:
    """
    Writes memories in the caller's transaction. The caller wakes the indexer once it has committed.
    """

    def __init__(self, drafting: Drafting, journal: Journal) -> None:
        self.drafting = drafting
        self.journal = journal

    def save(self, connection: Connection, bank: Bank, draft: Memory, now: datetime) -> Saved:
        """
        Store what somebody asked to keep; known content is reinforced, what was deleted or superseded comes back.

        Raises:
            Conflict: when the key or the id belongs to another memory.
        """
        known = same_text(connection, bank.bank_id, draft)
        if known is None:
            refuse_taken_key(connection, bank.bank_id, draft)
            if memory_rows.by_id(connection, bank.bank_id, draft.record.id) is not None:
                raise Conflict(f"id {draft.record.id!r} stands for another memory in this bank")
            return Saved(self.journal.create(connection, bank, draft, now), created=True)
        if known.record.id == draft.record.id and known.record.is_active:
            # The very same memory once more, under its own id: it was stored before, and is not a second statement.
            return Saved(known, created=False)
        merged = self.drafting.merged(known, draft, now)
        refuse_taken_key(connection, bank.bank_id, merged)
        if known.record.is_active:
            return Saved(self.journal.change(connection, bank, known, merged, "reinforced", None, now), created=False)
        live = replace(merged.record, invalid_at=None, invalid_reason=None, superseded_by=None)
        revived = replace(merged, record=live)
        return Saved(self.journal.change(connection, bank, known, revived, "created", "saved again", now), created=True)

    def learn(
        self,
        connection: Connection,
        bank: Bank,
        draft: Memory,
        evidence: Collection[str],
        reason: str,
        now: datetime,
    ) -> Learned:
        """
        Store what was drawn from other records. It is only ever added, or confirms what is there: nothing pinned,
        deleted or superseded is touched, and the same records (`evidence`, by id) confirm a memory once.
        """
        known = same_text(connection, bank.bank_id, draft)
        if known is None:
            return Learned(self.journal.create(connection, bank, draft, now), Learning.CREATED)
        if known.record.invalid_reason == SUPERSEDED:
            known = self._survivor(connection, bank.bank_id, known)
        if not known.record.is_active:
            superseded = known.record.invalid_reason == SUPERSEDED
            return Learned(known, Learning.SUPERSEDED if superseded else Learning.DELETED)
        if known.record.pinned:
            return Learned(known, Learning.PINNED)
        if set(known.provenance) & set(evidence):
            return Learned(known, Learning.KNOWN)
        merged = self.drafting.merged(known, _confirming(known, draft), now)
        changed = self.journal.change(connection, bank, known, merged, "reinforced", reason, now)
        return Learned(changed, Learning.REINFORCED)

    def supersede(
        self,
        connection: Connection,
        bank: Bank,
        loser: Memory,
        winner: Memory,
        now: datetime,
        *,
        reinforce: bool = False,
        reason: str | None = None,
        since: datetime | None = None,
    ) -> tuple[Memory, Memory]:
        """
        Retire a live memory in favour of another, from `since` on (now, unless given); with `reinforce` the survivor,
        unless pinned, takes over its observations.

        Returns:
            The retired memory and the survivor.

        Raises:
            Conflict: when the retired one is pinned or retired already, or the survivor is not live.
        """
        if not loser.record.is_active:
            raise Conflict(f"memory {loser.record.id!r} is superseded already, by {loser.record.superseded_by!r}")
        if loser.record.pinned:
            raise Conflict(f"memory {loser.record.id!r} is pinned")
        if not winner.record.is_active:
            raise Conflict(f"memory {winner.record.id!r} is itself superseded")
        gone = replace(loser.record, invalid_at=since or now, invalid_reason=SUPERSEDED, superseded_by=winner.record.id)
        retired = self.journal.change(connection, bank, loser, replace(loser, record=gone), SUPERSEDED, reason, now)
        if reinforce and not winner.record.pinned:
            observations = winner.record.observations + loser.record.observations
            stronger = replace(winner.record, observations=observations, updated_at=now)
            changed = replace(winner, record=stronger)
            winner = self.journal.change(connection, bank, winner, changed, "reinforced", reason, now)
        return retired, winner

    def merge(self, connection: Connection, bank: Bank, group: Group, reason: str, now: datetime) -> int:
        """
        Retire a group's losers in favour of its survivor, which takes over their observations, as far as all of them
        still say what they said; returns how many were retired. `reason` reads on with the survivor's id.
        """
        winner = _as_seen(connection, bank.bank_id, group.survivor)
        merged = 0
        for row in group.losers:
            loser = _as_seen(connection, bank.bank_id, row)
            if winner is None or loser is None or loser.record.pinned:
                continue
            why = f"{reason} {winner.record.id}"
            _, winner = self.supersede(connection, bank, loser, winner, now, reinforce=True, reason=why)
            merged += 1
        return merged

    def _survivor(self, connection: Connection, bank_id: int, retired: Memory) -> Memory:
        """The live memory that took a retired one's place by saying the same, or the retired one."""
        seen = {retired.record.id}
        last = retired
        while last.record.superseded_by is not None and last.record.superseded_by not in seen:
            seen.add(last.record.superseded_by)
            following = memory_rows.by_id(connection, bank_id, last.record.superseded_by)
            if following is None or same_statement(following.record.text) != same_statement(retired.record.text):
                return retired
            last = following
        return last if last.record.is_active else retired


def same_text(connection: Connection, bank_id: int, draft: Memory) -> Memory | None:
    """
    The memory that states what the draft states, in the same words, a live one first; unless it is known that two
    different people say it.
    """
    # The fingerprint is short enough to collide on purpose, so the texts themselves decide.
    text, speaker = normalise(draft.record.text), draft.record.speaker
    for item in memory_rows.by_fingerprint(connection, bank_id, fingerprint(draft.record.text)):
        same_speaker = None in (speaker, item.record.speaker) or speaker == item.record.speaker
        if same_speaker and normalise(item.record.text) == text:
            return item
    return None


def refuse_taken_key(connection: Connection, bank_id: int, item: Memory) -> None:
    """
    Let a memory pass whose key no other live memory bears.

    Raises:
        Conflict: naming the other one.
    """
    if item.key is None:
        return
    holder = memory_rows.by_key(connection, bank_id, item.key)
    if holder is not None and holder.record.id != item.record.id:
        raise Conflict(f"key {item.key!r} belongs to memory {holder.record.id!r}")


def _as_seen(connection: Connection, bank_id: int, row: Row) -> Memory | None:
    found = memory_rows.by_id(connection, bank_id, row.id)
    return found if found is not None and found.record.is_active and found.record.text == row.text else None


def _confirming(known: Memory, draft: Memory) -> Memory:
    """The draft without what it may not change of a memory that it confirms."""
    record = draft.record
    if DERIVED not in known.record.metadata:
        record = replace(record, metadata={})
    if known.record.occurred_at is not None:
        kept = {name: value for name, value in record.metadata.items() if name not in known.record.metadata}
        record = replace(record, occurred_at=None, metadata=kept)
    return replace(draft, record=record)
