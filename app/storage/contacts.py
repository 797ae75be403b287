"""
Contacts of a bank: seen, found, listed, changed, and linked with others of the same person.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Connection, Row, and_, case, func, or_, select, update
from sqlalchemy.dialects.sqlite import insert

from app.domain.contacts import Address, Contact
from app.storage.contact_tables import contact
from app.storage.moments import from_micros, offset_of, to_micros

_KEY = ["bank_id", "platform", "contact_id"]


@dataclass(frozen=True, slots=True)
class Seen:
    """
    A message in a contact's conversation. `said_at` and `message_type` are those of what the contact wrote itself,
    None where others wrote to it. `name` is the contact's, if the message tells it.
    """

    address: Address
    said_at: datetime | None = None
    message_type: str | None = None
    name: str | None = None


def see(connection: Connection, bank_id: int, messages: Sequence[Seen], now: int) -> None:
    """
    Keep the contacts of messages up to date: one row each, whatever the number of messages. A name that is known stays.
    """
    latest: dict[Address, Seen] = {}
    for item in messages:
        known = latest.get(item.address)
        latest[item.address] = item if known is None else _later(known, item)
    if not latest:
        return
    statement = insert(contact)
    new = statement.excluded
    newer = and_(
        new.last_seen_at.is_not(None),
        or_(contact.c.last_seen_at.is_(None), new.last_seen_at >= contact.c.last_seen_at),
    )
    seen = ("last_seen_at", "last_seen_offset", "last_message_type")
    changes: dict[str, Any] = {name: case((newer, new[name]), else_=contact.c[name]) for name in seen}
    changes |= {"display_name": func.coalesce(contact.c.display_name, new.display_name), "updated_at": now}
    connection.execute(
        statement.on_conflict_do_update(index_elements=_KEY, set_=changes),
        [
            {
                **_key(bank_id, item.address),
                "display_name": item.name,
                "last_seen_at": None if item.said_at is None else to_micros(item.said_at),
                "last_seen_offset": 0 if item.said_at is None else offset_of(item.said_at),
                "last_message_type": item.message_type,
                "metadata": {},
                "created_at": now,
                "updated_at": now,
            }
            for item in latest.values()
        ],
    )


def find(connection: Connection, bank_id: int, address: Address) -> Contact | None:
    """
    The contact at an address.
    """
    row = connection.execute(select(contact).where(_is(bank_id, address))).first()
    return None if row is None else _contact(row)


def put(connection: Connection, bank_id: int, item: Contact) -> None:
    """
    Write a contact, new or over what is known of it.
    """
    values = {
        "display_name": item.display_name,
        "link": item.link,
        "last_seen_at": None if item.last_seen_at is None else to_micros(item.last_seen_at),
        "last_seen_offset": 0 if item.last_seen_at is None else offset_of(item.last_seen_at),
        "last_message_type": item.last_message_type,
        "metadata": dict(item.metadata),
        "created_at": to_micros(item.created_at),
        "updated_at": to_micros(item.updated_at),
    }
    connection.execute(
        insert(contact)
        .values(**_key(bank_id, item.address), **values)
        .on_conflict_do_update(index_elements=_KEY, set_=values)
    )


def page(
    connection: Connection, bank_id: int, platform: str | None, limit: int, offset: int
) -> tuple[list[Contact], int]:
    """
    Contacts, the one that wrote last first, and how many there are.
    """
    where = [contact.c.bank_id == bank_id]
    if platform is not None:
        where.append(contact.c.platform == platform)
    total = connection.execute(select(func.count()).select_from(contact).where(*where)).scalar_one()
    rows = connection.execute(
        select(contact)
        .where(*where)
        .order_by(contact.c.last_seen_at.desc().nulls_last(), contact.c.platform, contact.c.contact_id)
        .limit(limit)
        .offset(offset)
    )
    return [_contact(row) for row in rows], total


def linked(connection: Connection, bank_id: int, links: Collection[str]) -> dict[str, list[Contact]]:
    """
    The contacts under each of the links, the one that wrote last first.
    """
    rows = connection.execute(
        select(contact)
        .where(contact.c.bank_id == bank_id, contact.c.link.in_(sorted(links)))
        .order_by(contact.c.last_seen_at.desc().nulls_last(), contact.c.platform, contact.c.contact_id)
    )
    found: dict[str, list[Contact]] = {}
    for row in rows:
        found.setdefault(row.link, []).append(_contact(row))
    return found


def set_link(connection: Connection, bank_id: int, address: Address, link: str | None, now: int) -> None:
    """
    Let a contact that is known go under a link, or by itself again.
    """
    connection.execute(update(contact).where(_is(bank_id, address)).values(link=link, updated_at=now))


def _later(known: Seen, item: Seen) -> Seen:
    name = known.name if item.name is None else item.name
    if item.said_at is None or (known.said_at is not None and known.said_at > item.said_at):
        return Seen(known.address, known.said_at, known.message_type, name)
    return Seen(known.address, item.said_at, item.message_type, name)


def _key(bank_id: int, address: Address) -> dict[str, Any]:
    return {"bank_id": bank_id, "platform": address.platform, "contact_id": address.id}


def _is(bank_id: int, address: Address) -> ColumnElement[bool]:
    return and_(
        contact.c.bank_id == bank_id, contact.c.platform == address.platform, contact.c.contact_id == address.id
    )


def _contact(row: Row[*tuple[Any, ...]]) -> Contact:
    return Contact(
        address=Address(row.platform, row.contact_id),
        created_at=from_micros(row.created_at),
        updated_at=from_micros(row.updated_at),
        display_name=row.display_name,
        link=row.link,
        last_seen_at=None if row.last_seen_at is None else from_micros(row.last_seen_at, row.last_seen_offset),
        last_message_type=row.last_message_type,
        metadata=row._mapping["metadata"],  # noqa: SLF001 - public under this name in SQLAlchemy
    )
