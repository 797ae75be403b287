"""
The recall index in memory: one resident bank for each bank in use, brought up to date inside the reader's snapshot.
"""

import threading
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Collection, Sequence
from typing import Any

from sqlalchemy import Connection, Row, and_, select

from app.domain.filters import RecordFilter
from app.domain.units import Unit
from app.storage import entities, records
from app.storage.banks import BankState
from app.storage.handles import QUERY_CHARS_MAX
from app.storage.protocols import Gathered, Question, RecallIndex, Space
from app.storage.resident import search
from app.storage.resident.bank import ResidentBank
from app.storage.tables import record, unit, vector

AT_ONCE = 500

_COLUMNS = (
    record.c.seq,
    record.c.id,
    record.c.tier,
    record.c.text,
    record.c.speaker,
    record.c.source,
    record.c.source_id,
    record.c.category,
    record.c.entities,
    record.c.clusters,
    record.c.created_at,
    record.c.updated_at,
    record.c.occurred_at,
    record.c.expires_at,
    record.c.invalid_at,
    record.c.invalid_reason,
    record.c.last_accessed_at,
    record.c.access_count,
    record.c.confidence,
    record.c.pinned,
    record.c.observations,
    record.c.previous,
)


class ResidentIndex:
    """
    Answers from memory, within `max_bytes`; beyond them the least recently used bank goes. A bank that alone is larger
    is answered by `fallback`.
    """

    def __init__(
        self,
        fallback: RecallIndex,
        units_of: Callable[[str, str | None, Sequence[str]], Sequence[Unit]],
        max_bytes: int,
    ) -> None:
        self._fallback = fallback
        self._units_of = units_of
        self._max_bytes = max_bytes
        self._banks: OrderedDict[int, ResidentBank] = OrderedDict()
        self._too_large: dict[int, int] = {}
        self._locks: defaultdict[int, threading.Lock] = defaultdict(threading.Lock)
        self._guard = threading.Lock()

    @property
    def nbytes(self) -> int:
        """
        Bytes taken by all banks, about.
        """
        with self._guard:
            return sum(bank.nbytes for bank in self._banks.values())

    def gather(self, connection: Connection, bank: BankState, question: Question, wanted: RecordFilter) -> Gathered:
        """
        The candidates that the filter lets through; filters hold before any limit.
        """
        allowed = records.allowed(connection, bank.bank_id, wanted) if wanted.needs_look_up else None
        with self._guard:
            own = self._locks[bank.bank_id]
        with own:
            resident = self._current(connection, bank, question.space)
            if resident is not None:
                handles = resident.asked_in(question.text[:QUERY_CHARS_MAX])
                return search.gather(resident, bank, question, wanted, handles, allowed)
        return self._fallback.gather(connection, bank, question, wanted)

    def forget(self) -> None:
        """
        Drop every bank; each is loaded anew when it is asked for.
        """
        with self._guard:
            self._banks.clear()
            self._too_large.clear()

    def _current(self, connection: Connection, bank: BankState, space: Space | None) -> ResidentBank | None:
        """The bank as this snapshot has it; None where it does not fit, or another reader's snapshot is newer."""
        with self._guard:
            if self._too_large.get(bank.bank_id) == bank.version:
                return None
            resident = self._banks.get(bank.bank_id)
        if resident is not None and resident.epoch == bank.epoch and resident.version > bank.version:
            return None
        if resident is None or resident.epoch != bank.epoch or resident.space != space or resident.is_sparse:
            resident = ResidentBank(bank.epoch, space)
        if resident.version != bank.version:
            self._catch_up(connection, bank, resident)
        with self._guard:
            self._banks[bank.bank_id] = resident
            self._banks.move_to_end(bank.bank_id)
            self._evict(bank)
            return self._banks.get(bank.bank_id)

    def _catch_up(self, connection: Connection, bank: BankState, resident: ResidentBank) -> None:
        is_new = resident.version == 0
        changed = (record.c.bank_id == bank.bank_id) & (record.c.changed > resident.version)
        rows = connection.execute(select(*_COLUMNS).where(changed).order_by(record.c.seq)).all()
        resident.take(rows, lambda row: self._units_of(row.text, row.speaker, row.entities))
        if resident.space is not None:
            seqs = None if is_new else [row.seq for row in rows]
            resident.take_vectors(_vectors(connection, bank.bank_id, resident.space.space_id, seqs))
        resident.synonyms = entities.synonyms(connection, bank.bank_id)
        resident.version = bank.version

    def _evict(self, newest: BankState) -> None:
        sizes = {bank_id: bank.nbytes for bank_id, bank in self._banks.items()}
        total = sum(sizes.values())
        while total > self._max_bytes:
            bank_id, _ = self._banks.popitem(last=False)
            total -= sizes[bank_id]
            if bank_id == newest.bank_id:
                self._too_large[bank_id] = newest.version


def _vectors(
    connection: Connection, bank_id: int, space_id: int, seqs: Collection[int] | None
) -> list[Row[*tuple[Any, ...]]]:
    statement = (
        select(vector.c.seq, vector.c.part, vector.c.text_hash, vector.c.embedding)
        .join(
            unit,
            and_(
                unit.c.bank_id == vector.c.bank_id,
                unit.c.seq == vector.c.seq,
                unit.c.part == vector.c.part,
                unit.c.text_hash == vector.c.text_hash,
            ),
        )
        .where(vector.c.bank_id == bank_id, vector.c.space_id == space_id, vector.c.embedding.is_not(None))
    )
    if seqs is None:
        return list(connection.execute(statement))
    numbers = sorted(seqs)
    found: list[Row[*tuple[Any, ...]]] = []
    for start in range(0, len(numbers), AT_ONCE):
        found += connection.execute(statement.where(vector.c.seq.in_(numbers[start : start + AT_ONCE])))
    return found
