"""
Entities, as they are changed and shown.
"""

from datetime import datetime
from typing import TypeAlias

from msgspec import UNSET, Struct, UnsetType

from app.api.schemas.values import Moment
from app.domain.entity_graph import Attribute, Entity, Relation
from app.domain.records import Record
from app.services.entities import EntityView
from app.services.entity_changes import EntityChanges, Link, Value


class ValueIn(Struct, forbid_unknown_fields=True):
    """
    The value of an attribute, the record that states it (none: you do), and for how long it holds.
    """

    value: str
    source: str | None = None
    valid_from: Moment | None = None
    valid_to: Moment | None = None


class RelationIn(Struct, forbid_unknown_fields=True):
    """
    What the entity is to another one, such as WORKS_AT; `object` is a name.
    """

    predicate: str
    object: str
    source: str | None = None
    valid_from: Moment | None = None
    valid_to: Moment | None = None


Given: TypeAlias = str | ValueIn | None


class EntityIn(Struct, forbid_unknown_fields=True):
    """
    What is to change of an entity. `aliases` and `relations` (of this entity to others) replace all that there are,
    `attributes` are merged by name, null removing one.
    """

    name: str | UnsetType = UNSET
    type: str | UnsetType = UNSET
    aliases: list[str] | UnsetType = UNSET
    attributes: dict[str, Given] | UnsetType = UNSET
    relations: list[RelationIn] | UnsetType = UNSET


class MergeIn(Struct, forbid_unknown_fields=True):
    """
    The id of the entity that is left.
    """

    into: str


class UnmergeIn(Struct, forbid_unknown_fields=True):
    """
    The name that becomes an entity of its own.
    """

    alias: str


class EntityListed(Struct, frozen=True):
    """
    An entity as a list shows it. `type` is `person`, `organisation`, `place`, `product`, or `other` while nothing says.
    """

    id: str
    name: str
    type: str
    aliases: list[str]
    created_at: datetime
    updated_at: datetime


class AttributeOut(Struct, frozen=True):
    """
    One value of an attribute, and the record that states it; null: a person does.
    """

    name: str
    value: str
    source: str | None
    valid_from: datetime | None
    valid_to: datetime | None


class SideOut(Struct, frozen=True):
    """
    One side of a relation; `id` is null where it is no entity.
    """

    id: str | None
    name: str


class RelationOut(Struct, frozen=True):
    """
    A relation in which the entity is one of the sides, and the records that state it (none: a person does).
    """

    subject: SideOut
    predicate: str
    object: SideOut
    sources: list[str]
    valid_from: datetime | None
    valid_to: datetime | None


class MentionOut(Struct, frozen=True):
    """
    A record that names the entity.
    """

    id: str
    tier: str
    text: str
    created_at: datetime
    session_id: str | None


class EntityOut(Struct, frozen=True):
    """
    An entity with what is stated of it, and the newest live records that name it; `mentions` counts all of these.
    """

    id: str
    name: str
    type: str
    aliases: list[str]
    attributes: list[AttributeOut]
    relations: list[RelationOut]
    records: list[MentionOut]
    mentions: int
    created_at: datetime
    updated_at: datetime


def entity_changes(given: EntityIn) -> EntityChanges:
    """
    The changes as the service takes them.
    """
    attributes = None
    if given.attributes is not UNSET:
        attributes = {name: _value(item) for name, item in given.attributes.items()}
    relations = None
    if given.relations is not UNSET:
        relations = [
            Link(item.predicate, item.object, item.source, item.valid_from, item.valid_to) for item in given.relations
        ]
    return EntityChanges(
        name=None if given.name is UNSET else given.name,
        type=None if given.type is UNSET else given.type,
        aliases=None if given.aliases is UNSET else given.aliases,
        attributes=attributes,
        relations=relations,
    )


def listed_out(item: Entity) -> EntityListed:
    """
    An entity as a list shows it.
    """
    return EntityListed(item.id, item.name, item.type, list(item.aliases), item.created_at, item.updated_at)


def entity_out(view: EntityView) -> EntityOut:
    """
    An entity as it is shown.
    """
    item = view.entity
    return EntityOut(
        id=item.id,
        name=item.name,
        type=item.type,
        aliases=list(item.aliases),
        attributes=[_attribute(each) for each in view.attributes],
        relations=_relations(view),
        records=[_mention(each) for each in view.records],
        mentions=view.mentions,
        created_at=item.created_at,
        updated_at=item.updated_at,
    )


def _value(item: Given) -> Value | None:
    if item is None:
        return None
    if isinstance(item, str):
        return Value(item)
    return Value(item.value, item.source, item.valid_from, item.valid_to)


def _attribute(item: Attribute) -> AttributeOut:
    return AttributeOut(item.name, item.value, item.source, item.valid_from, item.valid_to)


def _relations(view: EntityView) -> list[RelationOut]:
    """One line for what several records state alike; it holds since the first of them says so."""
    alike: dict[tuple[SideOut, str, SideOut], list[Relation]] = {}
    for item in view.relations:
        subject = _side(view, item.subject, item.subject)
        alike.setdefault((subject, item.predicate, _side(view, item.object_handle, item.object)), []).append(item)
    found = []
    for (subject, predicate, other), items in alike.items():
        since = [item.valid_from for item in items if item.valid_from is not None]
        until = [item.valid_to for item in items if item.valid_to is not None]
        found.append(
            RelationOut(
                subject,
                predicate,
                other,
                [item.source for item in items if item.source is not None],
                min(since, default=None),
                max(until) if len(until) == len(items) else None,
            )
        )
    return found


def _side(view: EntityView, handle: str, name: str) -> SideOut:
    known = view.known.get(handle)
    return SideOut(None, name) if known is None else SideOut(known.id, known.name)


def _mention(item: Record) -> MentionOut:
    return MentionOut(item.id, item.tier, item.text, item.created_at, item.session_id)
