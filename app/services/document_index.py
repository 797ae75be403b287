"""
What a document's change means for its passages: which stay, which go, which come; planned first, then written at once.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, TypeVar

from sqlalchemy import Connection

from app.config import DocumentSettings, ShortTermSettings
from app.domain.documents.appending import time_of
from app.domain.documents.model import Passage
from app.domain.documents.passages import passages_of
from app.domain.documents.paths import day_of, is_rule
from app.domain.identity import new_id
from app.domain.records import Bank, Record, Tier
from app.domain.units import Unit
from app.errors import TooLarge
from app.services.preparation import Preparation, Prepared
from app.storage import banks as bank_rows
from app.storage import documents as document_rows
from app.storage import outbox, records, units
from app.storage.documents import StoredPassage
from app.storage.moments import to_micros
from app.storage.outbox import Event

T = TypeVar("T")

# A statement takes some 32,000 parameters; a large document has thousands of passages.
AT_ONCE = 500


@dataclass(frozen=True, slots=True)
class Fresh:
    """
    A passage that comes, with its record (not yet numbered) and what is indexed of it.
    """

    passage: Passage
    record: Record
    prepared: Prepared


@dataclass(frozen=True, slots=True)
class Plan:
    """
    What becomes of a document's passages. `moved` stay with their record, on other lines; `gone` are told by number.
    """

    moved: Sequence[tuple[int, Passage, dict[str, Any]]]
    gone: Mapping[int, tuple[Record, Sequence[Unit]]]
    fresh: Sequence[Fresh]

    @property
    def units(self) -> int:
        """
        By how many the bank's indexed units grow.
        """
        return sum(len(item.prepared.units) for item in self.fresh) - sum(len(own) for _, own in self.gone.values())

    @property
    def terms(self) -> int:
        """
        By how many the bank's indexed terms grow.
        """
        won = sum(unit.length for item in self.fresh for unit in item.prepared.units)
        return won - sum(unit.length for _, own in self.gone.values() for unit in own)


class DocumentIndex:
    """
    Keeps the records of a document's passages as its text has them.
    """

    def __init__(self, preparation: Preparation, settings: DocumentSettings, short_term: ShortTermSettings) -> None:
        self._preparation = preparation
        self._settings = settings
        self._short_term = short_term

    def plan(
        self, path: str, content: str, known: Sequence[StoredPassage], settings: Mapping[str, Any], now: datetime
    ) -> Plan:
        """
        From the passages that are known to those of `content`. One with the same titles and text stays as it is.

        Reads and divides texts, which takes seconds for a large document; touches no store.

        Raises:
            TooLarge: when there would be more than `documents.passages_max` passages.
        """
        left: defaultdict[tuple[tuple[str, ...], str], list[StoredPassage]] = defaultdict(list)
        for item in reversed(known):
            left[item.heading, item.record.text].append(item)
        moved: list[tuple[int, Passage, dict[str, Any]]] = []
        fresh: list[Fresh] = []
        for passage in self._passages(path, content):
            same = left[passage.heading, passage.text]
            if same:
                old = same.pop()
                if (old.first_line, old.last_line) != (passage.first_line, passage.last_line):
                    moved.append((old.record.seq, passage, _metadata(path, passage)))
            else:
                made = self._record(path, passage, now)
                fresh.append(Fresh(passage, made, self._preparation.of(made, settings)))
        gone = {
            item.record.seq: (item.record, self._preparation.units(item.record))
            for items in left.values()
            for item in items
        }
        return Plan(moved, gone, fresh)

    def apply(self, connection: Connection, bank: Bank, path: str, plan: Plan, reason: str, now: datetime) -> None:
        """
        Carry out a plan that was made of the document's present state, with an event for each record.
        """
        bank_id, at = bank.bank_id, to_micros(now)
        stale = document_rows.stale(connection, bank_id) if plan.gone else []
        sweep = len(stale) + len(plan.gone) > self._settings.stale_passages_max
        version, first = bank_rows.advance(
            connection,
            bank_id,
            at,
            records=len(plan.fresh),
            units=plan.units,
            terms=plan.terms,
            erased=sweep,
        )
        for seqs in _batches(list(plan.gone)):
            units.remove(connection, bank_id, {seq: plan.gone[seq][1] for seq in seqs})
            document_rows.unlink(connection, bank_id, seqs)
            if not sweep:
                records.empty(connection, bank_id, version, seqs, at)
        if sweep:
            for seqs in _batches([*stale, *plan.gone]):
                records.erase(connection, bank_id, seqs)
        for moved in _batches(plan.moved):
            document_rows.move_passages(connection, bank_id, moved)
        for batch in _batches(list(enumerate(plan.fresh, first))):
            self._insert(connection, bank_id, path, version, batch, at)
        events = [Event("item-changed", "deleted", item.id, reason) for item, _ in plan.gone.values()]
        events += [Event("item-changed", "created", item.record.id, reason) for item in plan.fresh]
        outbox.add(connection, bank.name, events, at)

    def _insert(
        self,
        connection: Connection,
        bank_id: int,
        path: str,
        version: int,
        batch: Sequence[tuple[int, Fresh]],
        at: int,
    ) -> None:
        rows = [records.values_of(replace(item.record, seq=seq), item.prepared.clusters) for seq, item in batch]
        records.add(connection, bank_id, version, rows)
        document_rows.add_passages(connection, bank_id, path, [(seq, item.passage) for seq, item in batch])
        units.add(connection, bank_id, {seq: item.prepared.units for seq, item in batch}, at)

    def _passages(self, path: str, content: str) -> Iterator[Passage]:
        if is_rule(path):
            return
        most = self._settings.passages_max
        found = passages_of(content, self._short_term.passage_chars, self._short_term.passage_overlap)
        for number, passage in enumerate(found, 1):
            if number > most:
                raise TooLarge(f"{path} would have more than {most} passages; divide it into several documents")
            yield passage

    def _record(self, path: str, passage: Passage, now: datetime) -> Record:
        day, at = day_of(path), time_of(passage.heading)
        return Record(
            seq=0,
            id=new_id("doc"),
            tier=Tier.DOCUMENT,
            text=passage.text,
            created_at=now,
            updated_at=now,
            entities=self._preparation.entities(passage.text, ()),
            metadata=_metadata(path, passage),
            occurred_at=None if day is None or at is None else datetime.combine(day, at, self._settings.zone),
        )


def _metadata(path: str, passage: Passage) -> dict[str, Any]:
    return {"path": path, "heading": list(passage.heading), "lines": [passage.first_line, passage.last_line]}


def _batches(items: Sequence[T]) -> Iterator[Sequence[T]]:
    for start in range(0, len(items), AT_ONCE):
        yield items[start : start + AT_ONCE]
