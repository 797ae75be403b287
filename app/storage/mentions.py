"""
What records mean for entities: names that come with them, relations that they state, and what goes when they go.

`app.storage.records` calls these wherever a record's handles are written, so that no way of writing or erasing records
can pass them by.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from sqlalchemy import ColumnElement, Connection, Row, exists, or_, select

from app.domain.entities import as_written, normalise_handle
from app.domain.entity_graph import EntityType, Relation
from app.domain.records import Tier
from app.domain.relations import Stated, stated_relations
from app.storage import entities, entity_facts
from app.storage.entities import Named, batches
from app.storage.entity_tables import entity, entity_alias, entity_attribute, relation
from app.storage.moments import from_micros
from app.storage.tables import record, record_entity

NAMING_TIERS = frozenset({Tier.ENTRY, Tier.EPISODE, Tier.MEMORY})
"""Tiers whose records bring names; the headings of a document would bring too many that are none."""


def come(connection: Connection, bank_id: int, rows: Iterable[Mapping[str, Any]], *, stating: bool = True) -> None:
    """
    Take in what live records, as rows of their table, name and, if `stating`, state.
    """
    found: dict[str, Named] = {}
    bearers: dict[str, Mapping[str, Any]] = {}
    relations: list[Relation] = []
    for row in rows:
        if row["tier"] not in NAMING_TIERS or row["invalid_at"] is not None or not row["entities"]:
            continue
        stated = _stated(row) if stating and row["tier"] == Tier.MEMORY else []
        relations += [_relation(row, item) for item in stated]
        types = _types(stated)
        for handle in row["entities"]:
            first = found.get(handle)
            known_type = EntityType.OTHER if first is None else first.type
            bearers.setdefault(handle, row)
            found[handle] = Named(
                handle,
                handle,
                row["created_at"] if first is None else first.at,
                vouched=row["tier"] != Tier.ENTRY or (first is not None and first.vouched),
                type=types.get(handle, known_type),
            )
    if not found:
        return
    present = entities.known(connection, bank_id, found)
    for handle, named in found.items():
        if handle not in present:
            found[handle] = replace(named, name=as_written(bearers[handle]["text"], handle))
    entities.ensure(connection, bank_id, found)
    entity_facts.put_relations(connection, bank_id, relations)


def change(connection: Connection, bank_id: int, old: Row[*tuple[Any, ...]], row: Mapping[str, Any]) -> None:
    """
    Follow a record from its old state to the row that was written over it.

    What it states is read anew only where it says something else, or is live again: a relation that a person struck out
    does not come back because the record was confirmed.
    """
    if (old.text, old.invalid_at is None) != (row["text"], row["invalid_at"] is None):
        leave(connection, bank_id, [row["id"]], old.entities)
        come(connection, bank_id, [row])
    elif list(old.entities) != row["entities"]:
        leave(connection, bank_id, [], set(old.entities).difference(row["entities"]))
        come(connection, bank_id, [row], stating=False)


def leave(
    connection: Connection, bank_id: int, ids: Collection[str], handles: Collection[str], *, erased: bool = False
) -> None:
    """
    Withdraw what records state that are no longer live, or say something else now; `handles` are those they bore.

    An entity that nothing names any more goes with them, unless a person has worked on it and nothing is erased.
    """
    concerned = {*handles, *entity_facts.withdraw(connection, bank_id, ids)}
    gone: set[str] = set()
    for batch in batches(sorted(concerned)):
        bearing = select(entity_alias.c.entity_id).where(
            entity_alias.c.bank_id == bank_id, entity_alias.c.handle.in_(batch)
        )
        where: list[ColumnElement[bool]] = [entity.c.bank_id == bank_id, entity.c.id.in_(bearing)]
        if not erased:
            where.append(entity.c.kept.is_(False))
        gone.update(connection.execute(select(entity.c.id).where(*where, ~_is_meant(bank_id))).scalars())
    entities.remove(connection, bank_id, gone)


def _is_meant(bank_id: int) -> ColumnElement[bool]:
    """Whether a live record names the entity, or anything is stated of it."""
    own = (entity_alias.c.bank_id == bank_id) & (entity_alias.c.entity_id == entity.c.id)
    handle = entity_alias.c.handle
    named = select(record_entity.c.seq).where(
        own,
        record_entity.c.bank_id == bank_id,
        record_entity.c.handle == handle,
        record.c.bank_id == bank_id,
        record.c.seq == record_entity.c.seq,
        record.c.invalid_at.is_(None),
    )
    described = select(entity_attribute.c.name).where(
        own, entity_attribute.c.bank_id == bank_id, entity_attribute.c.handle == handle
    )
    related = select(relation.c.predicate).where(
        own, relation.c.bank_id == bank_id, or_(relation.c.subject == handle, relation.c.object_handle == handle)
    )
    return or_(*(exists(each.correlate(entity)) for each in (named, described, related)))


def _stated(row: Mapping[str, Any]) -> list[Stated]:
    """What a memory states of those whom it names."""
    return [item for item in stated_relations(row["text"]) if normalise_handle(item.subject) in row["entities"]]


def _relation(row: Mapping[str, Any], item: Stated) -> Relation:
    since = row["created_at"] if row["occurred_at"] is None else row["occurred_at"]
    return Relation(
        normalise_handle(item.subject),
        item.predicate.name,
        item.object,
        normalise_handle(item.object),
        row["id"],
        from_micros(since),
    )


def _types(stated: Sequence[Stated]) -> dict[str, EntityType]:
    found = {}
    for item in stated:
        found[normalise_handle(item.object)] = item.predicate.object
        found[normalise_handle(item.subject)] = item.predicate.subject
    return found
