"""
What is known of the people, organisations, places and products that a bank names: names, attributes and relations.
"""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum


class EntityType(StrEnum):
    """
    What an entity is.
    """

    PERSON = "person"
    ORGANISATION = "organisation"
    PLACE = "place"
    PRODUCT = "product"
    OTHER = "other"  #: nothing says yet


@dataclass(frozen=True, slots=True)
class EntityName:
    """
    One of an entity's names: as it is written, and the handle by which texts are matched with it.

    `vouched` says that a memory or a person uses it, so that it is recognised in lower case too.
    """

    handle: str
    name: str
    vouched: bool = False


@dataclass(frozen=True, slots=True)
class Entity:
    """
    Somebody or something that records name. `names` begins with the main one.

    `kept` says that a person has worked on it, so that it stays when nothing names it for the time being.
    """

    id: str
    name: str
    type: EntityType
    names: tuple[EntityName, ...]
    created_at: datetime
    updated_at: datetime
    kept: bool = False

    @property
    def handles(self) -> tuple[str, ...]:
        """
        The handles of all its names.
        """
        return tuple(name.handle for name in self.names)

    @property
    def aliases(self) -> tuple[str, ...]:
        """
        Its names beside the main one, as they are written.
        """
        return tuple(name.name for name in self.names[1:])


@dataclass(frozen=True, slots=True)
class Attribute:
    """
    One value that was stated of whoever bears a handle. `source` is the id of the record that states it; without one a
    person did. It holds from `valid_from` until just before `valid_to`, as far as they are known.
    """

    handle: str
    name: str
    value: str
    source: str | None = None
    valid_from: datetime | None = None
    valid_to: datetime | None = None


@dataclass(frozen=True, slots=True)
class Relation:
    """
    That the bearer of one handle stands in a relation (`WORKS_AT`) to something; source and times as of `Attribute`.
    """

    subject: str
    predicate: str
    object: str
    object_handle: str
    source: str | None = None
    valid_from: datetime | None = None
    valid_to: datetime | None = None
