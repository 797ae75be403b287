"""
Puts a set's memories into a service, by the use cases that a bot would call.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import groupby

from app.bootstrap import Container
from app.clock import FrozenClock
from app.services.drafting import NewMemory
from app.services.remember import DIALOGUE_ROLES, NewEntry
from eval.datasets import Bank, Dataset, Row

BATCH = 500
"""Rows in one request, unless the service takes fewer."""

Kept = Mapping[str, Mapping[str, str]]
"""By bank: the id of a row to the id under which the service knows it, where they differ."""


async def store(container: Container, clock: FrozenClock, dataset: Dataset, progress: Callable[[int], None]) -> Kept:
    """
    Store everything, in the order of the files, then let outdated memories be superseded when their successor was said.

    A row that repeats what its bank knows word for word is the service's to merge; the answer says which id it has
    then. `progress` is told how many rows are stored.

    Raises:
        InvalidInput, TooLarge: a row is not what the service takes; names its place.
    """
    kept = {}
    done = 0
    for bank in dataset.banks:
        known: dict[str, str] = {}
        for rows in _batches(bank, min(BATCH, container.settings.server.batch_max)):
            known.update(zip((row.id for row in rows), await _save(container, bank.name, rows), strict=True))
            done += len(rows)
            progress(done)
        await _supersede(container, clock, bank, known)
        kept[bank.name] = {given: own for given, own in known.items() if given != own}
    return kept


def _batches(bank: Bank, size: int) -> Iterator[list[Row]]:
    for _, group in groupby(bank.rows, key=lambda row: row.is_memory):
        rows = list(group)
        for start in range(0, len(rows), size):
            yield rows[start : start + size]


async def _save(container: Container, bank: str, rows: Sequence[Row]) -> list[str]:
    if not rows[0].is_memory:
        return [result.id for result in (await container.remember.entries(bank, [_entry(row) for row in rows])).results]
    saved = await container.memories.save(
        bank, [_memory(row) for row in rows], lambda place: f"memory {rows[place].id!r}: "
    )
    return [item.memory.record.id for item in saved]


def _entry(row: Row) -> NewEntry:
    # `meta` stays behind: it is the set's own book-keeping and may name the questions that a row answers.
    return NewEntry(
        content=row.text,
        role=row.role or "user",
        timestamp=row.created_at,
        session_id=row.session,
        message_id=row.id,
        tags=row.tags,
        id=row.id,
    )


def _memory(row: Row) -> NewMemory:
    is_name = row.role is not None and row.role.casefold() not in DIALOGUE_ROLES
    return NewMemory(
        content=row.text,
        category=row.category,
        confidence=row.confidence,
        tags=row.tags,
        entities=row.entities,
        pinned=row.pinned,
        session_id=row.session,
        speaker=row.role if is_name else None,
        created_at=row.created_at,
        id=row.id,
    )


async def _supersede(container: Container, clock: FrozenClock, bank: Bank, known: Mapping[str, str]) -> None:
    standing = clock.moment
    said = {row.id: row.created_at or standing for row in bank.rows}
    pairs = [(said[row.superseded_by], row.id, row.superseded_by) for row in bank.rows if row.superseded_by is not None]
    try:
        # In the order in which they were said, so that of a chain each link is alive when its turn comes.
        for moment, loser, winner in sorted(pairs):
            clock.moment = moment
            await container.memories.supersede(bank.name, known[loser], known[winner])
    finally:
        clock.moment = standing
