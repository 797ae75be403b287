"""
What a person changes of an entity, checked field by field before anything is written.
"""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from app.domain.entities import normalise_handle
from app.domain.entity_graph import Attribute, EntityName, EntityType, Relation
from app.services.faults import LABELS_MAX, Faults

TEXT_MAX = 200
"""Characters of a name, an attribute's name, or the object of a relation."""
VALUE_MAX = 1000
"""Characters of an attribute's value."""

_PREDICATE = re.compile(r"[A-Z][A-Z0-9_]{0,63}")


@dataclass(frozen=True, slots=True)
class Value:
    """
    The value of an attribute as it is given; `source` is the id of the record that states it.
    """

    value: str
    source: str | None = None
    valid_from: datetime | None = None
    valid_to: datetime | None = None


@dataclass(frozen=True, slots=True)
class Link:
    """
    A relation as it is given: what the entity is to `object`.
    """

    predicate: str
    object: str
    source: str | None = None
    valid_from: datetime | None = None
    valid_to: datetime | None = None


@dataclass(frozen=True, slots=True)
class EntityChanges:
    """
    What is to change; what is None stays. `aliases` and `relations` replace all that there are, `attributes` are merged
    by name, None removing one.
    """

    name: str | None = None
    type: str | None = None
    aliases: Sequence[str] | None = None
    attributes: Mapping[str, Value | None] | None = None
    relations: Sequence[Link] | None = None


@dataclass(frozen=True, slots=True)
class CheckedChanges:
    """
    Changes that can be written. Attributes and relations are those of `handle`; a None removes an attribute.
    """

    name: EntityName | None = None
    type: EntityType | None = None
    aliases: tuple[EntityName, ...] | None = None
    attributes: Mapping[str, Attribute | None] | None = None
    relations: tuple[Relation, ...] | None = None


def checked(given: EntityChanges, handle: str, live: Collection[str]) -> CheckedChanges:
    """
    The changes of the entity that bears `handle`, where every source is one of the `live` records.

    All text that a person enters of entities passes through here.

    Raises:
        InvalidInput: naming every bad field.
    """
    faults = Faults()
    name = None if given.name is None else _name("name", given.name, faults)
    own = handle if name is None else name.handle
    checked_changes = CheckedChanges(
        name=name,
        type=_type(given.type, faults),
        aliases=None if given.aliases is None else _aliases(given.aliases, faults),
        attributes=None if given.attributes is None else _attributes(given.attributes, own, live, faults),
        relations=None if given.relations is None else _relations(given.relations, own, live, faults),
    )
    faults.raise_if_any()
    return checked_changes


def sources_of(given: EntityChanges) -> set[str]:
    """
    The ids of the records that the changes name as their sources.
    """
    stated = [None if item is None else item.source for item in (given.attributes or {}).values()]
    stated += [item.source for item in given.relations or ()]
    return {source for source in stated if source is not None}


def _name(field: str, value: str, faults: Faults) -> EntityName:
    name = (faults.name(field, value, TEXT_MAX) or "").strip()
    handle = normalise_handle(name)
    if name and not handle:
        faults.add(field, "must hold a letter or a digit")
    return EntityName(handle, name, vouched=True)


def _type(value: str | None, faults: Faults) -> EntityType | None:
    if value is None:
        return None
    if value not in set(EntityType):
        faults.add("type", f"must be one of {', '.join(EntityType)}, got {value!r}")
        return None
    return EntityType(value)


def _aliases(values: Sequence[str], faults: Faults) -> tuple[EntityName, ...]:
    if len(values) > LABELS_MAX:
        faults.add("aliases", f"at most {LABELS_MAX}, got {len(values)}")
    names = [_name(f"aliases[{place}]", value, faults) for place, value in enumerate(values)]
    return tuple({item.handle: item for item in names}.values())


def _attributes(
    values: Mapping[str, Value | None], handle: str, live: Collection[str], faults: Faults
) -> dict[str, Attribute | None]:
    if len(values) > LABELS_MAX:
        faults.add("attributes", f"at most {LABELS_MAX} at once, got {len(values)}")
    found: dict[str, Attribute | None] = {}
    for key, item in values.items():
        place = f"attributes.{key}"
        name = (faults.name(place, key, TEXT_MAX) or "").strip()
        if item is None:
            found[name] = None
            continue
        value = faults.name(place, item.value, VALUE_MAX) or ""
        _check_source(place, item.source, live, faults)
        since, until = _validity(place, item.valid_from, item.valid_to, faults)
        found[name] = Attribute(handle, name, value, item.source, since, until)
    return found


def _relations(values: Sequence[Link], handle: str, live: Collection[str], faults: Faults) -> tuple[Relation, ...]:
    if len(values) > LABELS_MAX:
        faults.add("relations", f"at most {LABELS_MAX}, got {len(values)}")
    found = []
    for place, item in enumerate(values):
        at = f"relations[{place}]"
        if not _PREDICATE.fullmatch(item.predicate):
            faults.add(f"{at}.predicate", "must be capital letters, digits and underscores, such as WORKS_AT")
        other = _name(f"{at}.object", item.object, faults)
        if other.handle == handle:
            faults.add(f"{at}.object", "is the entity itself")
        _check_source(at, item.source, live, faults)
        since, until = _validity(at, item.valid_from, item.valid_to, faults)
        found.append(Relation(handle, item.predicate, other.name, other.handle, item.source, since, until))
    return tuple(found)


def _check_source(place: str, source: str | None, live: Collection[str], faults: Faults) -> None:
    if source is not None and source not in live:
        faults.add(f"{place}.source", f"there is no live record {source!r}")


def _validity(
    place: str, since: datetime | None, until: datetime | None, faults: Faults
) -> tuple[datetime | None, datetime | None]:
    since, until = faults.moment(f"{place}.valid_from", since), faults.moment(f"{place}.valid_to", until)
    if since is not None and until is not None and until <= since:
        faults.add(f"{place}.valid_to", "must lie after valid_from")
    return since, until
