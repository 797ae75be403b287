"""
Contacts: who writes to a bank and on which channels, and which addresses are one person's.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from sqlalchemy import Connection

from app.clock import Clock
from app.domain.consolidation.noise import ASSISTANT, MACHINE_ROLES
from app.domain.contacts import Address, Contact, Profile, address_of
from app.domain.records import Record
from app.domain.text.legal import legal_text
from app.errors import Conflict, NotFound
from app.services.banks import open_for_writing
from app.services.faults import NAME_MAX, Faults
from app.storage import banks as bank_rows
from app.storage import contacts as contact_rows
from app.storage.contacts import Seen
from app.storage.engine import Storage
from app.storage.entries import SENDER
from app.storage.moments import to_micros


class Contacts:
    """
    The use cases of contacts.
    """

    def __init__(self, storage: Storage, clock: Clock) -> None:
        self._storage = storage
        self._clock = clock

    async def page(self, bank: str, platform: str | None, limit: int, offset: int) -> tuple[list[Profile], int]:
        """
        Contacts of a bank, the one that wrote last first, and how many there are.

        Raises:
            NotFound: when there is no such bank.
        """

        def work(connection: Connection) -> tuple[list[Profile], int]:
            bank_id = bank_rows.require(connection, bank).bank_id
            found, total = contact_rows.page(connection, bank_id, platform, limit, offset)
            return _profiles(connection, bank_id, found), total

        return await self._storage.read(work)

    async def get(self, bank: str, jid: str) -> Profile:
        """
        A contact with its person's other addresses.

        Raises:
            InvalidInput: when `jid` is no address.
            NotFound: when there is no such bank or contact.
        """
        address = address_of(jid)

        def work(connection: Connection) -> Profile:
            return _profile(connection, bank_rows.require(connection, bank).bank_id, bank, address)

        return await self._storage.read(work)

    async def put(self, bank: str, jid: str, given: Mapping[str, Any]) -> tuple[Profile, bool]:
        """
        Write a contact's `display_name`, `metadata`, `last_seen_at` and `last_message_type`: what is named replaces
        what is known, the rest stays.

        Returns:
            The contact, and whether it is new.

        Raises:
            InvalidInput: naming every bad field.
        """
        address = address_of(jid)
        faults = Faults()
        address = _storable(address, "jid", faults)
        changes = _changes(given, faults)
        faults.raise_if_any()
        now = self._clock.now()

        def work(connection: Connection) -> tuple[Profile, bool]:
            bank_id = open_for_writing(connection, bank, to_micros(now)).bank_id
            known = contact_rows.find(connection, bank_id, address)
            old = known or Contact(address, now, now)
            contact_rows.put(connection, bank_id, replace(old, updated_at=now, **changes))
            return _profile(connection, bank_id, bank, address), known is None

        return await self._storage.write(work)

    async def link(self, bank: str, jid: str, alias: str) -> Profile:
        """
        Let two addresses be one person's. `alias` is another address, or a name that the person goes by; an address
        that never wrote is taken, too.

        Raises:
            InvalidInput: when one of them is no address, or both are the same.
            NotFound: when there is no such bank, or no such contact as `jid`.
            Conflict: when each goes by another name already.
        """
        address = address_of(jid)
        faults = Faults()
        name = faults.name("alias", alias) or ""
        other = _storable(address_of(name, "alias"), "alias", faults) if ":" in name else None
        if other == address:
            faults.add("alias", "is the contact itself")
        faults.raise_if_any()
        now = self._clock.now()

        def work(connection: Connection) -> Profile:
            bank_id = bank_rows.require(connection, bank).bank_id
            found = _required(connection, bank_id, bank, address)
            if other is None:
                self._go_under(connection, bank_id, found, name, now)
            else:
                twin = contact_rows.find(connection, bank_id, other) or Contact(other, now, now)
                link = found.link or twin.link or address.jid
                contact_rows.put(connection, bank_id, twin)
                for item in (found, twin):
                    self._go_under(connection, bank_id, item, link, now)
            bank_rows.advance(connection, bank_id, to_micros(now))
            return _profile(connection, bank_id, bank, address)

        return await self._storage.write(work)

    async def unlink(self, bank: str, jid: str, alias: str) -> Profile:
        """
        Take an address, or the name that the contact goes by, from the contact again; what goes stands alone.

        Raises:
            InvalidInput: when one of them is no address.
            NotFound: when there is no such bank or contact, or the two are not linked.
        """
        address = address_of(jid)
        other = address_of(alias, "alias") if ":" in alias else address
        now = to_micros(self._clock.now())

        def work(connection: Connection) -> Profile:
            bank_id = bank_rows.require(connection, bank).bank_id
            found = _required(connection, bank_id, bank, address)
            twin = contact_rows.find(connection, bank_id, other)
            apart = other == address and found.link != alias
            if found.link is None or twin is None or twin.link != found.link or apart:
                raise NotFound(f"contact {jid!r} is not linked with {alias!r}")
            contact_rows.set_link(connection, bank_id, other, None, now)
            left = contact_rows.linked(connection, bank_id, [found.link]).get(found.link, [])
            if len(left) == 1 and ":" in found.link:
                # It went by an address, which says nothing where only one is left.
                contact_rows.set_link(connection, bank_id, left[0].address, None, now)
            bank_rows.advance(connection, bank_id, now)
            return _profile(connection, bank_id, bank, address)

        return await self._storage.write(work)

    def _go_under(self, connection: Connection, bank_id: int, item: Contact, link: str, now: datetime) -> None:
        if item.link not in (None, link):
            raise Conflict(f"contact {item.address.jid!r} goes by {item.link!r} already: unlink it first")
        contact_rows.set_link(connection, bank_id, item.address, link, to_micros(now))


def seen_in(records: Sequence[tuple[Record, str | None]]) -> list[Seen]:
    """
    What messages, each with its type, tell of the contacts in whose conversations they stand.
    """
    found = []
    for item, message_type in records:
        if item.source is None or item.source_id is None:
            continue
        address = Address(item.source, item.source_id)
        if (item.role or "").casefold() in {ASSISTANT, *MACHINE_ROLES}:
            found.append(Seen(address))
            continue
        # In a chat of several people the name is that of one of them.
        alone = str(item.metadata.get(SENDER, item.source_id)) == item.source_id
        found.append(Seen(address, item.created_at, message_type, item.speaker if alone else None))
    return found


def _changes(given: Mapping[str, Any], faults: Faults) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in given.items():
        match name:
            case "display_name":
                found[name] = faults.name(name, value)
            case "last_message_type":
                found[name] = faults.name(name, value, 64)
            case "last_seen_at":
                found[name] = faults.moment(name, value)
            case "metadata":
                found[name] = faults.mapping(name, value or {})
            case _:
                faults.add(name, "cannot be changed")
    return found


def _storable(address: Address, field: str, faults: Faults) -> Address:
    if max(len(address.platform), len(address.id)) > NAME_MAX:
        faults.add(field, f"at most {NAME_MAX} characters for the platform and for the id")
    return Address(legal_text(address.platform), legal_text(address.id))


def _required(connection: Connection, bank_id: int, bank: str, address: Address) -> Contact:
    found = contact_rows.find(connection, bank_id, address)
    if found is None:
        raise NotFound(f"there is no contact {address.jid!r} in bank {bank!r}")
    return found


def _profile(connection: Connection, bank_id: int, bank: str, address: Address) -> Profile:
    return _profiles(connection, bank_id, [_required(connection, bank_id, bank, address)])[0]


def _profiles(connection: Connection, bank_id: int, found: Sequence[Contact]) -> list[Profile]:
    links = {item.link for item in found if item.link is not None}
    groups = contact_rows.linked(connection, bank_id, links) if links else {}
    return [
        Profile(item, tuple(other for other in groups.get(item.link or "", ()) if other.address != item.address))
        for item in found
    ]
