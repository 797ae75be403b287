"""
Entities and their names: made, found, listed, joined and parted.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from sqlalchemy import Connection, and_, bindparam, case, delete, func, insert, select, update

from app.domain.entity_graph import Entity, EntityName, EntityType
from app.domain.identity import new_id
from app.storage.entity_tables import entity, entity_alias
from app.storage.moments import from_micros

PREFIX = "obj"
"""Prefix of an entity's id (`ent-` is an entry's)."""

AT_ONCE = 500
T = TypeVar("T")

# Asked at every recall, so that it is built once.
_SECOND_NAMES = (
    select(entity_alias.c.handle, entity_alias.c.entity_id)
    .where(entity_alias.c.bank_id == bindparam("b_bank"), entity_alias.c.is_main.is_(False))
    .order_by(entity_alias.c.entity_id)
)
_MAIN_NAMES = select(entity_alias.c.handle, entity_alias.c.entity_id).where(
    entity_alias.c.bank_id == bindparam("b_bank"),
    entity_alias.c.is_main.is_(True),
    entity_alias.c.entity_id.in_(bindparam("b_ids", expanding=True)),
)


@dataclass(frozen=True, slots=True)
class Named:
    """
    A name that a record bears: whose it is may not be known yet. `at` is when it was said, in microseconds.
    """

    handle: str
    name: str
    at: int
    vouched: bool
    type: EntityType = EntityType.OTHER


def known(connection: Connection, bank_id: int, handles: Iterable[str]) -> dict[str, str]:
    """
    The ids of the entities that bear the handles, by handle; unknown ones are left out.
    """
    found: dict[str, str] = {}
    for batch in batches(sorted(set(handles))):
        rows = connection.execute(
            select(entity_alias.c.handle, entity_alias.c.entity_id).where(
                entity_alias.c.bank_id == bank_id, entity_alias.c.handle.in_(batch)
            )
        )
        found.update((row.handle, row.entity_id) for row in rows)
    return found


def vouched(connection: Connection, bank_id: int, handles: Collection[str] | None = None) -> set[str]:
    """
    Which of the handles, or of all, belong to a name that a memory or a person uses.
    """
    statement = select(entity_alias.c.handle).where(entity_alias.c.bank_id == bank_id, entity_alias.c.vouched.is_(True))
    if handles is not None:
        statement = statement.where(entity_alias.c.handle.in_(sorted(handles)))
    return set(connection.execute(statement).scalars())


def ensure(connection: Connection, bank_id: int, names: Mapping[str, Named]) -> None:
    """
    Let every name belong to an entity: the one that bears its handle, else a new one.
    """
    present = known(connection, bank_id, names)
    fresh = [(new_id(PREFIX), item) for handle, item in names.items() if handle not in present]
    if fresh:
        connection.execute(
            insert(entity),
            [
                {
                    "bank_id": bank_id,
                    "id": made,
                    "type": item.type,
                    "kept": False,
                    "created_at": item.at,
                    "updated_at": item.at,
                }
                for made, item in fresh
            ],
        )
        connection.execute(
            insert(entity_alias),
            [
                {
                    "bank_id": bank_id,
                    "handle": item.handle,
                    "entity_id": made,
                    "name": item.name,
                    "is_main": True,
                    "vouched": item.vouched,
                }
                for made, item in fresh
            ],
        )
    for batch in batches([handle for handle in present if names[handle].vouched]):
        connection.execute(
            update(entity_alias)
            .where(
                entity_alias.c.bank_id == bank_id,
                entity_alias.c.handle.in_(batch),
                entity_alias.c.vouched.is_(False),
            )
            .values(vouched=True)
        )
    for handle, entity_id in present.items():
        if names[handle].type is not EntityType.OTHER:
            _learn_type(connection, bank_id, entity_id, names[handle].type)


def synonyms(connection: Connection, bank_id: int) -> dict[str, str]:
    """
    Each name of the entities that have several, with their main one; all as handles.
    """
    second = connection.execute(_SECOND_NAMES, {"b_bank": bank_id}).all()
    if not second:
        return {}
    main: dict[str, str] = {}
    for ids in batches(sorted({row.entity_id for row in second})):
        rows = connection.execute(_MAIN_NAMES, {"b_bank": bank_id, "b_ids": ids})
        main.update((row.entity_id, row.handle) for row in rows)
    return {handle: handle for handle in main.values()} | {row.handle: main[row.entity_id] for row in second}


def by_id(connection: Connection, bank_id: int, entity_id: str) -> Entity | None:
    """
    The entity of that id.
    """
    row = connection.execute(select(entity).where(entity.c.bank_id == bank_id, entity.c.id == entity_id)).first()
    return None if row is None else _entities(connection, bank_id, [row])[0]


def page(
    connection: Connection, bank_id: int, contains: str | None, kind: EntityType | None, limit: int, offset: int
) -> tuple[list[Entity], int]:
    """
    Entities by the handle of their main name, one whose handle is `contains` first, and how many there are.

    `contains` is part of a handle, of whichever name.
    """
    where = [entity.c.bank_id == bank_id]
    if kind is not None:
        where.append(entity.c.type == kind)
    if contains is not None:
        bearing = select(entity_alias.c.entity_id).where(
            entity_alias.c.bank_id == bank_id, entity_alias.c.handle.contains(contains, autoescape=True)
        )
        where.append(entity.c.id.in_(bearing))
    total = connection.execute(select(func.count()).select_from(entity).where(*where)).scalar_one()
    main = and_(
        entity_alias.c.bank_id == entity.c.bank_id,
        entity_alias.c.entity_id == entity.c.id,
        entity_alias.c.is_main.is_(True),
    )
    rows = connection.execute(
        select(entity)
        .join(entity_alias, main)
        .where(*where)
        .order_by(case((entity_alias.c.handle == contains, 0), else_=1), entity_alias.c.handle)
        .limit(limit)
        .offset(offset)
    ).all()
    return _entities(connection, bank_id, rows), total


def amend(connection: Connection, bank_id: int, entity_id: str, at: int, **values: Any) -> None:
    """
    Set columns of an entity on a person's behalf.
    """
    connection.execute(
        update(entity)
        .where(entity.c.bank_id == bank_id, entity.c.id == entity_id)
        .values(kept=True, updated_at=at, **values)
    )


def add_name(connection: Connection, bank_id: int, entity_id: str, item: EntityName, *, is_main: bool = False) -> None:
    """
    Give an entity a name whose handle nobody bears.

    Raises:
        sqlalchemy.exc.IntegrityError: when the handle is taken.
    """
    connection.execute(
        insert(entity_alias).values(
            bank_id=bank_id,
            handle=item.handle,
            entity_id=entity_id,
            name=item.name,
            is_main=is_main,
            vouched=item.vouched,
        )
    )


def set_main(connection: Connection, bank_id: int, entity_id: str, handle: str, name: str) -> None:
    """
    Make one of an entity's names the main one, written so.
    """
    own = (entity_alias.c.bank_id == bank_id) & (entity_alias.c.entity_id == entity_id)
    connection.execute(update(entity_alias).where(own).values(is_main=entity_alias.c.handle == handle))
    connection.execute(update(entity_alias).where(own, entity_alias.c.handle == handle).values(name=name, vouched=True))


def move_names(connection: Connection, bank_id: int, handles: Collection[str], entity_id: str) -> None:
    """
    Let names belong to another entity, as further names of it.
    """
    connection.execute(
        update(entity_alias)
        .where(entity_alias.c.bank_id == bank_id, entity_alias.c.handle.in_(sorted(handles)))
        .values(entity_id=entity_id, is_main=False, vouched=True)
    )


def part(connection: Connection, bank_id: int, handle: str, kind: EntityType, at: int) -> str:
    """
    Make an entity of its own from a name of another one; returns its id.
    """
    made = new_id(PREFIX)
    connection.execute(
        insert(entity).values(bank_id=bank_id, id=made, type=kind, kept=True, created_at=at, updated_at=at)
    )
    connection.execute(
        update(entity_alias)
        .where(entity_alias.c.bank_id == bank_id, entity_alias.c.handle == handle)
        .values(entity_id=made, is_main=True)
    )
    return made


def drop_names(connection: Connection, bank_id: int, handles: Collection[str]) -> None:
    """
    Forget names.
    """
    connection.execute(
        delete(entity_alias).where(entity_alias.c.bank_id == bank_id, entity_alias.c.handle.in_(sorted(handles)))
    )


def remove(connection: Connection, bank_id: int, ids: Collection[str]) -> None:
    """
    Forget entities with their names.
    """
    for batch in batches(sorted(ids)):
        connection.execute(
            delete(entity_alias).where(entity_alias.c.bank_id == bank_id, entity_alias.c.entity_id.in_(batch))
        )
        connection.execute(delete(entity).where(entity.c.bank_id == bank_id, entity.c.id.in_(batch)))


def batches(items: Sequence[T]) -> Iterator[Sequence[T]]:
    """
    The items in runs that one statement takes as parameters.
    """
    for start in range(0, len(items), AT_ONCE):
        yield items[start : start + AT_ONCE]


def _learn_type(connection: Connection, bank_id: int, entity_id: str, kind: EntityType) -> None:
    # What a person has worked on keeps the type that the person saw.
    connection.execute(
        update(entity)
        .where(
            entity.c.bank_id == bank_id,
            entity.c.id == entity_id,
            entity.c.type == EntityType.OTHER,
            entity.c.kept.is_(False),
        )
        .values(type=kind)
    )


def _entities(connection: Connection, bank_id: int, rows: Sequence[Any]) -> list[Entity]:
    names: dict[str, list[EntityName]] = {row.id: [] for row in rows}
    for ids in batches(list(names)):
        found = connection.execute(
            select(entity_alias)
            .where(entity_alias.c.bank_id == bank_id, entity_alias.c.entity_id.in_(ids))
            .order_by(entity_alias.c.is_main.desc(), entity_alias.c.handle)
        )
        for row in found:
            names[row.entity_id].append(EntityName(row.handle, row.name, row.vouched))
    return [
        Entity(
            id=row.id,
            name=names[row.id][0].name,
            type=EntityType(row.type),
            names=tuple(names[row.id]),
            created_at=from_micros(row.created_at),
            updated_at=from_micros(row.updated_at),
            kept=row.kept,
        )
        for row in rows
    ]
