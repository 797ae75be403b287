"""
Entities: shown with what is stated of them and what names them, corrected, joined and parted by a person.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TypeVar

from sqlalchemy import Connection

from app.clock import Clock
from app.domain.entities import normalise_handle
from app.domain.entity_graph import Attribute, Entity, EntityType, Relation
from app.domain.filters import RecordFilter
from app.domain.records import Bank, Record
from app.domain.text.tokenize import fold
from app.errors import Conflict, InvalidInput, NotFound
from app.services.entity_changes import CheckedChanges, EntityChanges, checked, sources_of
from app.storage import banks as bank_rows
from app.storage import entities as entity_rows
from app.storage import entity_facts, idempotency, mentions, outbox, records
from app.storage.engine import Storage
from app.storage.moments import to_micros
from app.storage.outbox import Event

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class EntityView:
    """
    An entity with what is stated of it and the newest records that name it. `known` gives the entities that stand
    behind the handles of the relations; `mentions` counts all live records that name the entity.
    """

    entity: Entity
    attributes: tuple[Attribute, ...]
    relations: tuple[Relation, ...]
    known: dict[str, Entity]
    records: tuple[Record, ...]
    mentions: int


class Entities:
    """
    The use cases of entities. What changes is written through at once: a recall asks for all names of one entity.
    """

    def __init__(self, storage: Storage, clock: Clock) -> None:
        self._storage = storage
        self._clock = clock

    async def page(
        self, bank: str, contains: str | None, kind: str | None, limit: int, offset: int
    ) -> tuple[list[Entity], int]:
        """
        Entities of a bank by name, an exact match first, and how many there are.

        Raises:
            InvalidInput: when there is no such type.
            NotFound: when there is no such bank.
        """
        if kind is not None and kind not in set(EntityType):
            raise InvalidInput.of("type", f"must be one of {', '.join(EntityType)}, got {kind!r}")
        part = None if not contains else normalise_handle(contains) or fold(contains)

        def work(connection: Connection) -> tuple[list[Entity], int]:
            bank_id = bank_rows.require(connection, bank).bank_id
            return entity_rows.page(
                connection, bank_id, part, None if kind is None else EntityType(kind), limit, offset
            )

        return await self._storage.read(work)

    async def get(self, bank: str, entity_id: str, limit: int) -> EntityView:
        """
        An entity, with at most `limit` of the records that name it.

        Raises:
            NotFound: when there is no such bank or entity.
        """

        def work(connection: Connection) -> EntityView:
            opened, found = _present(connection, bank, entity_id)
            return self._view(connection, opened.bank_id, found, limit)

        return await self._storage.read(work)

    async def amend(self, bank: str, entity_id: str, given: EntityChanges, limit: int) -> EntityView:
        """
        Change what is named; returns the entity as it is then.

        Raises:
            InvalidInput: naming every bad field.
            NotFound: when there is no such bank or entity.
            Conflict: when a name belongs to another entity.
        """
        now = self._clock.now()

        def change(connection: Connection, opened: Bank, found: Entity) -> EntityView:
            bank_id, at = opened.bank_id, to_micros(now)
            live = {
                source
                for source in sources_of(given)
                if (record := records.by_id(connection, bank_id, source)) is not None and record.is_active
            }
            changes = checked(given, found.handles[0], live)
            _refuse_taken(connection, bank_id, found, changes)
            entity_rows.amend(
                connection, bank_id, found.id, at, **({} if changes.type is None else {"type": changes.type})
            )
            _rename(connection, bank_id, found, changes)
            _set_aliases(connection, bank_id, _again(connection, bank_id, found), changes, found.handles[0], at)
            _state(connection, bank_id, _again(connection, bank_id, found), changes)
            return self._view(connection, bank_id, _again(connection, bank_id, found), limit)

        return await self._write(bank, entity_id, change)

    async def delete(self, bank: str, entity_id: str) -> None:
        """
        Forget an entity, its names, and all relations from and to it. The records stay, and one that names it anew
        brings it back.

        Raises:
            NotFound: when there is no such bank or entity.
        """

        def change(connection: Connection, opened: Bank, found: Entity) -> None:
            entity_facts.forget(connection, opened.bank_id, found.handles)
            entity_rows.remove(connection, opened.bank_id, [found.id])
            idempotency.forget_bank(connection, bank)

        await self._write(bank, entity_id, change)

    async def merge(self, bank: str, entity_id: str, into: str, limit: int) -> EntityView:
        """
        Let an entity be another one: its names become further names of that one. Returns the one that is left.

        Raises:
            InvalidInput: when both are the same.
            NotFound: when there is no such bank or entity.
        """
        if entity_id == into:
            raise InvalidInput.of("into", "an entity cannot be merged into itself")
        at = to_micros(self._clock.now())

        def change(connection: Connection, opened: Bank, found: Entity) -> EntityView:
            bank_id = opened.bank_id
            other = entity_rows.by_id(connection, bank_id, into)
            if other is None:
                raise _missing(bank, into)
            entity_rows.move_names(connection, bank_id, found.handles, other.id)
            entity_rows.remove(connection, bank_id, [found.id])
            kind = found.type if other.type is EntityType.OTHER else other.type
            entity_rows.amend(connection, bank_id, other.id, at, type=kind)
            return self._view(connection, bank_id, _again(connection, bank_id, other), limit)

        return await self._write(bank, entity_id, change)

    async def unmerge(self, bank: str, entity_id: str, alias: str, limit: int) -> EntityView:
        """
        Make an entity of its own of one of an entity's further names, with what was stated under that name. Returns
        the new one.

        Raises:
            InvalidInput: when the entity has no such name, or no other one.
            NotFound: when there is no such bank or entity.
        """
        handle, at = normalise_handle(alias), to_micros(self._clock.now())

        def change(connection: Connection, opened: Bank, found: Entity) -> EntityView:
            bank_id = opened.bank_id
            if handle not in found.handles:
                raise InvalidInput.of("alias", f"is no name of entity {entity_id!r}")
            if handle == found.handles[0]:
                raise InvalidInput.of("alias", "is the main name; make another one the main name first")
            entity_rows.amend(connection, bank_id, found.id, at)
            made = entity_rows.part(connection, bank_id, handle, found.type, at)
            return self._view(connection, bank_id, _again(connection, bank_id, replace(found, id=made)), limit)

        return await self._write(bank, entity_id, change)

    async def _write(self, bank: str, entity_id: str, change: Callable[[Connection, Bank, Entity], T]) -> T:
        now = to_micros(self._clock.now())

        def work(connection: Connection) -> T:
            opened, found = _present(connection, bank, entity_id)
            done = change(connection, opened, found)
            # Caches that catch up by the version learn of names in this way.
            bank_rows.advance(connection, opened.bank_id, now)
            outbox.add(connection, bank, [Event("bank-changed", "updated")], now)
            return done

        return await self._storage.write(work)

    def _view(self, connection: Connection, bank_id: int, found: Entity, limit: int) -> EntityView:
        wanted = RecordFilter(clock=self._clock.now())
        related = entity_facts.relations(connection, bank_id, found.handles)
        ids = entity_rows.known(
            connection, bank_id, {handle for item in related for handle in (item.subject, item.object_handle)}
        )
        others = {entity_id: entity_rows.by_id(connection, bank_id, entity_id) for entity_id in set(ids.values())}
        newest, total = records.naming(connection, bank_id, found.handles, wanted, limit)
        return EntityView(
            entity=found,
            attributes=tuple(entity_facts.attributes(connection, bank_id, found.handles)),
            relations=tuple(related),
            known={handle: other for handle, key in ids.items() if (other := others[key]) is not None},
            records=tuple(newest),
            mentions=total,
        )


def _present(connection: Connection, bank: str, entity_id: str) -> tuple[Bank, Entity]:
    opened = bank_rows.require(connection, bank)
    found = entity_rows.by_id(connection, opened.bank_id, entity_id)
    if found is None:
        raise _missing(bank, entity_id)
    return opened, found


def _missing(bank: str, entity_id: str) -> NotFound:
    return NotFound(f"there is no entity {entity_id!r} in bank {bank!r}")


def _again(connection: Connection, bank_id: int, found: Entity) -> Entity:
    return entity_rows.by_id(connection, bank_id, found.id) or found


def _refuse_taken(connection: Connection, bank_id: int, found: Entity, changes: CheckedChanges) -> None:
    names = [*([] if changes.name is None else [changes.name]), *(changes.aliases or ())]
    holders = entity_rows.known(connection, bank_id, [item.handle for item in names])
    for item in names:
        holder = holders.get(item.handle, found.id)
        if holder != found.id:
            raise Conflict(f"{item.name!r} is a name of entity {holder!r}: merge the two, or choose another name")


def _rename(connection: Connection, bank_id: int, found: Entity, changes: CheckedChanges) -> None:
    """The old name stays as a further one, for records bear it."""
    if changes.name is None:
        return
    if changes.name.handle not in found.handles:
        entity_rows.add_name(connection, bank_id, found.id, changes.name)
    entity_rows.set_main(connection, bank_id, found.id, changes.name.handle, changes.name.name)


def _set_aliases(
    connection: Connection, bank_id: int, found: Entity, changes: CheckedChanges, old_main: str, at: int
) -> None:
    if changes.aliases is None:
        return
    wanted = {item.handle: item for item in changes.aliases if item.handle != found.handles[0]}
    wanted |= {item.handle: item for item in found.names[1:] if item.handle == old_main}
    for item in found.names[1:]:
        if item.handle in wanted:
            continue
        # Records that bear it go on naming somebody, who is then another one.
        entity_rows.part(connection, bank_id, item.handle, found.type, at)
        mentions.leave(connection, bank_id, [], [item.handle], erased=True)
    for handle, item in wanted.items():
        if handle not in found.handles:
            entity_rows.add_name(connection, bank_id, found.id, item)


def _state(connection: Connection, bank_id: int, found: Entity, changes: CheckedChanges) -> None:
    for name, item in (changes.attributes or {}).items():
        if item is None:
            entity_facts.drop_attributes(connection, bank_id, found.handles, name)
        else:
            entity_facts.put_attributes(connection, bank_id, [item])
    if changes.relations is None:
        return
    wanted = {(item.predicate, item.object_handle): item for item in changes.relations}
    own = [item for item in entity_facts.relations(connection, bank_id, found.handles) if item.subject in found.handles]
    present = {(item.predicate, item.object_handle) for item in own}
    struck = [item for item in own if (item.predicate, item.object_handle) not in wanted]
    entity_facts.drop_relations(connection, bank_id, struck)
    fresh = [
        item
        for key, item in wanted.items()
        # Listed without anything more it is only to stay, with the records that state it.
        if key not in present or item.source or item.valid_from or item.valid_to
    ]
    entity_facts.put_relations(connection, bank_id, fresh)
