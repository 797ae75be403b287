"""
Banks: finding, making, changing, trashing and counting them.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Row, bindparam, func, insert, select, update

from app.domain.records import Bank, Tier
from app.errors import NotFound
from app.storage.contact_tables import contact
from app.storage.entity_tables import entity
from app.storage.moments import from_micros
from app.storage.tables import bank, entry, memory, record, record_tag, unit, vector, vector_job

_COLUMNS = (
    bank.c.bank_id,
    bank.c.name,
    bank.c.description,
    bank.c.settings,
    bank.c.revision,
    bank.c.created_at,
    bank.c.updated_at,
    bank.c.trashed_at,
)


# Statements of every recall are built once: building one anew costs more than running it.
_STATE = select(
    bank.c.bank_id,
    bank.c.revision,
    bank.c.version,
    bank.c.epoch,
    bank.c.live_units,
    bank.c.live_terms,
    bank.c.total_accesses,
    bank.c.settings,
).where(bank.c.name == bindparam("bank_name"), bank.c.trashed_at.is_(None))


@dataclass(frozen=True, slots=True)
class BankState:
    """
    What a recall needs of a bank before it begins: its identity, its version and its totals.

    `revision` grows with every change of what is remembered, `version` with every change at all, `epoch` when rows were
    erased. `live_units` and `live_terms` are the number of indexed passages and of their terms.
    """

    bank_id: int
    revision: int
    version: int
    epoch: int
    live_units: int
    live_terms: int
    total_accesses: int
    settings: dict[str, Any]


@dataclass(frozen=True, slots=True)
class BankCounts:
    """
    What a bank holds. Sizes are bytes of UTF-8 text; times are microseconds.
    """

    by_tier: dict[str, int]
    text_bytes: int
    superseded: int
    vectors: int
    pending_vectors: int
    pending_consolidation: int
    terms: int
    entities: int
    contacts: int
    oldest: int | None
    newest: int | None


def find(connection: Connection, name: str, *, trashed: bool = False) -> Bank | None:
    """
    The bank of that name; one in the trash only when asked for.
    """
    statement = select(*_COLUMNS).where(bank.c.name == name)
    if not trashed:
        statement = statement.where(bank.c.trashed_at.is_(None))
    row = connection.execute(statement).first()
    return None if row is None else _bank(row)


def require(connection: Connection, name: str) -> Bank:
    """
    The bank of that name.

    Raises:
        NotFound: when there is none, or it is in the trash.
    """
    found = find(connection, name)
    if found is None:
        raise NotFound(f"there is no bank {name!r}")
    return found


def state(connection: Connection, name: str) -> BankState | None:
    """
    The state of a bank that is not in the trash.
    """
    row = connection.execute(_STATE, {"bank_name": name}).first()
    return None if row is None else BankState(*row)


def require_state(connection: Connection, name: str) -> BankState:
    """
    The state of the bank of that name.

    Raises:
        NotFound: when there is none, or it is in the trash.
    """
    found = state(connection, name)
    if found is None:
        raise NotFound(f"there is no bank {name!r}")
    return found


def create(
    connection: Connection, name: str, now: int, description: str = "", settings: dict[str, Any] | None = None
) -> Bank:
    """
    Add a bank.

    Raises:
        sqlalchemy.exc.IntegrityError: when the name is taken, also by a bank in the trash.
    """
    connection.execute(
        insert(bank).values(
            name=name, description=description, settings=settings or {}, created_at=now, updated_at=now, revision=0
        )
    )
    made = find(connection, name)
    if made is None:
        raise LookupError(name)
    return made


def every(connection: Connection) -> list[Bank]:
    """
    All banks that are not in the trash, by name.
    """
    return [
        _bank(row)
        for row in connection.execute(select(*_COLUMNS).where(bank.c.trashed_at.is_(None)).order_by(bank.c.name))
    ]


def amend(connection: Connection, bank_id: int, values: dict[str, Any]) -> None:
    """
    Set columns of a bank.
    """
    connection.execute(update(bank).where(bank.c.bank_id == bank_id).values(**values))


def advance(
    connection: Connection,
    bank_id: int,
    now: int,
    *,
    records: int = 0,
    units: int = 0,
    terms: int = 0,
    erased: bool = False,
) -> tuple[int, int]:
    """
    Count one change of what is remembered: reserve `records` numbers and adjust the totals of the index.

    Returns:
        The bank's new version, and the first of the reserved numbers.
    """
    row = connection.execute(
        update(bank)
        .where(bank.c.bank_id == bank_id)
        .values(
            revision=bank.c.revision + 1,
            version=bank.c.version + 1,
            next_seq=bank.c.next_seq + records,
            live_units=bank.c.live_units + units,
            live_terms=bank.c.live_terms + terms,
            epoch=bank.c.epoch + int(erased),
            updated_at=now,
        )
        .returning(bank.c.version, bank.c.next_seq)
    ).one()
    return row.version, row.next_seq - records


def touch(connection: Connection, bank_id: int) -> int:
    """
    Count a change that leaves what is remembered as it was, such as a new vector; returns the bank's new version.
    """
    version: int = connection.execute(
        update(bank).where(bank.c.bank_id == bank_id).values(version=bank.c.version + 1).returning(bank.c.version)
    ).scalar_one()
    return version


def counts(connection: Connection, bank_id: int, space_id: int | None) -> BankCounts:
    """
    What the bank holds; vectors are those of `space_id`.
    """
    live = (record.c.bank_id == bank_id) & record.c.invalid_at.is_(None)
    by_tier = dict.fromkeys(Tier, 0)
    for tier, number in connection.execute(select(record.c.tier, func.count()).where(live).group_by(record.c.tier)):
        by_tier[Tier(tier)] = number
    size, oldest, newest = connection.execute(
        select(
            func.coalesce(func.sum(func.octet_length(record.c.text)), 0),
            func.min(record.c.created_at),
            func.max(record.c.created_at),
        ).where(live)
    ).one()
    superseded = connection.execute(
        select(func.count()).where(
            record.c.bank_id == bank_id, record.c.invalid_at.is_not(None), record.c.tier != Tier.DOCUMENT
        )
    ).scalar_one()
    vectors = connection.execute(
        select(func.count()).where(
            vector.c.bank_id == bank_id, vector.c.space_id == space_id, vector.c.embedding.is_not(None)
        )
    ).scalar_one()
    pending = connection.execute(
        select(func.count()).select_from(vector_job).where(vector_job.c.bank_id == bank_id)
    ).scalar_one()
    unconsolidated = connection.execute(
        select(func.count()).where(entry.c.bank_id == bank_id, entry.c.consolidated_into.is_(None))
    ).scalar_one()
    terms = connection.execute(
        select(func.coalesce(func.sum(unit.c.terms), 0)).where(unit.c.bank_id == bank_id)
    ).scalar_one()
    named, known = (
        connection.execute(select(func.count()).select_from(table).where(table.c.bank_id == bank_id)).scalar_one()
        for table in (entity, contact)
    )
    return BankCounts(
        by_tier={str(tier): number for tier, number in by_tier.items()},
        text_bytes=size,
        superseded=superseded,
        vectors=vectors,
        pending_vectors=pending,
        pending_consolidation=unconsolidated,
        terms=terms,
        entities=named,
        contacts=known,
        oldest=oldest,
        newest=newest,
    )


def tag_counts(connection: Connection, bank_id: int) -> list[tuple[str, int]]:
    """
    Each tag of the bank's live records and on how many it is, most used first.
    """
    number = func.count().label("number")
    rows = connection.execute(
        select(record_tag.c.tag, number)
        .join(record, (record.c.bank_id == record_tag.c.bank_id) & (record.c.seq == record_tag.c.seq))
        .where(record_tag.c.bank_id == bank_id, record.c.invalid_at.is_(None))
        .group_by(record_tag.c.tag)
        .order_by(number.desc(), record_tag.c.tag)
    )
    return [(row.tag, row.number) for row in rows]


def memories_per_bank(connection: Connection, names: Sequence[str]) -> dict[str, int]:
    """
    How many live memories each of the named banks holds; banks without any are left out.
    """
    rows = connection.execute(
        select(bank.c.name, func.count())
        .join(record, record.c.bank_id == bank.c.bank_id)
        .join(memory, (memory.c.bank_id == record.c.bank_id) & (memory.c.seq == record.c.seq))
        .where(bank.c.name.in_(names), record.c.invalid_at.is_(None))
        .group_by(bank.c.name)
        .order_by(bank.c.name)
    )
    return {row[0]: row[1] for row in rows}


def _bank(row: Row[*tuple[Any, ...]]) -> Bank:
    return Bank(
        bank_id=row.bank_id,
        name=row.name,
        description=row.description,
        settings=row.settings,
        revision=row.revision,
        created_at=from_micros(row.created_at),
        updated_at=from_micros(row.updated_at),
        trashed_at=None if row.trashed_at is None else from_micros(row.trashed_at),
    )
