"""
What is stated of entities: attributes and relations, one row for each record that states them.
"""

from collections.abc import Collection, Sequence
from datetime import datetime

from sqlalchemy import Connection, delete, or_, select
from sqlalchemy.dialects.sqlite import insert

from app.domain.entity_graph import Attribute, Relation
from app.storage.entities import batches
from app.storage.entity_tables import entity_attribute, relation
from app.storage.moments import from_micros, to_micros

BY_PERSON = ""
"""In the place of a record's id: a person states it."""


def put_attributes(connection: Connection, bank_id: int, items: Sequence[Attribute]) -> None:
    """
    State attributes, each in the place of what its source said of that name before.
    """
    for item in items:
        values = {"value": item.value, "valid_from": _micros(item.valid_from), "valid_to": _micros(item.valid_to)}
        row = {"bank_id": bank_id, "handle": item.handle, "name": item.name, "source": item.source or BY_PERSON}
        key = ["bank_id", "handle", "name", "source"]
        connection.execute(
            insert(entity_attribute).values(**row, **values).on_conflict_do_update(index_elements=key, set_=values)
        )


def drop_attributes(connection: Connection, bank_id: int, handles: Collection[str], name: str) -> None:
    """
    Forget an attribute, whoever states it.
    """
    connection.execute(
        delete(entity_attribute).where(
            entity_attribute.c.bank_id == bank_id,
            entity_attribute.c.handle.in_(sorted(handles)),
            entity_attribute.c.name == name,
        )
    )


def attributes(connection: Connection, bank_id: int, handles: Collection[str]) -> list[Attribute]:
    """
    What is stated of the bearers of the handles, by name, what holds since last first.
    """
    rows = connection.execute(
        select(entity_attribute)
        .where(entity_attribute.c.bank_id == bank_id, entity_attribute.c.handle.in_(sorted(handles)))
        .order_by(entity_attribute.c.name, entity_attribute.c.valid_from.desc(), entity_attribute.c.source)
    )
    return [
        Attribute(row.handle, row.name, row.value, row.source or None, _moment(row.valid_from), _moment(row.valid_to))
        for row in rows
    ]


def put_relations(connection: Connection, bank_id: int, items: Sequence[Relation]) -> None:
    """
    State relations, each in the place of what its source said of the same before.
    """
    for item in items:
        values = {"object": item.object, "valid_from": _micros(item.valid_from), "valid_to": _micros(item.valid_to)}
        row = {
            "bank_id": bank_id,
            "subject": item.subject,
            "predicate": item.predicate,
            "object_handle": item.object_handle,
            "source": item.source or BY_PERSON,
        }
        connection.execute(
            insert(relation).values(**row, **values).on_conflict_do_update(index_elements=list(row), set_=values)
        )


def drop_relations(connection: Connection, bank_id: int, items: Sequence[Relation]) -> None:
    """
    Forget relations, each as its source states it.
    """
    for item in items:
        connection.execute(
            delete(relation).where(
                relation.c.bank_id == bank_id,
                relation.c.subject == item.subject,
                relation.c.predicate == item.predicate,
                relation.c.object_handle == item.object_handle,
                relation.c.source == (item.source or BY_PERSON),
            )
        )


def relations(connection: Connection, bank_id: int, handles: Collection[str]) -> list[Relation]:
    """
    The relations in which the bearers of the handles stand, as subject or as object.
    """
    names = sorted(handles)
    rows = connection.execute(
        select(relation)
        .where(relation.c.bank_id == bank_id, or_(relation.c.subject.in_(names), relation.c.object_handle.in_(names)))
        .order_by(relation.c.predicate, relation.c.subject, relation.c.object_handle, relation.c.source)
    )
    return [
        Relation(
            row.subject,
            row.predicate,
            row.object,
            row.object_handle,
            row.source or None,
            _moment(row.valid_from),
            _moment(row.valid_to),
        )
        for row in rows
    ]


def forget(connection: Connection, bank_id: int, handles: Collection[str]) -> None:
    """
    Forget all that is stated of the bearers of the handles, and all relations to them.
    """
    names = sorted(handles)
    connection.execute(
        delete(entity_attribute).where(entity_attribute.c.bank_id == bank_id, entity_attribute.c.handle.in_(names))
    )
    connection.execute(
        delete(relation).where(
            relation.c.bank_id == bank_id, or_(relation.c.subject.in_(names), relation.c.object_handle.in_(names))
        )
    )


def withdraw(connection: Connection, bank_id: int, sources: Collection[str]) -> set[str]:
    """
    Forget what records state, by their ids; what another one states as well stays. Returns the handles concerned.
    """
    concerned: set[str] = set()
    for ids in batches(sorted(sources)):
        stated = delete(entity_attribute).where(
            entity_attribute.c.bank_id == bank_id, entity_attribute.c.source.in_(ids)
        )
        concerned.update(connection.execute(stated.returning(entity_attribute.c.handle)).scalars())
        related = delete(relation).where(relation.c.bank_id == bank_id, relation.c.source.in_(ids))
        for row in connection.execute(related.returning(relation.c.subject, relation.c.object_handle)):
            concerned.update((row.subject, row.object_handle))
    return concerned


def _micros(moment: datetime | None) -> int | None:
    return None if moment is None else to_micros(moment)


def _moment(micros: int | None) -> datetime | None:
    return None if micros is None else from_micros(micros)
