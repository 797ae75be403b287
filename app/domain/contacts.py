"""
Contacts: the address of somebody on a channel as one text and as its parts, and what is known of who stands behind it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, NamedTuple

from app.errors import InvalidInput


class Address(NamedTuple):
    """
    A channel, and an id there of whatever form: colons, slashes and spaces are part of it.
    """

    platform: str
    id: str

    @property
    def jid(self) -> str:
        """
        The address as one text, `platform:id`. The id stands as it is; a colon in the platform is percent-encoded, so
        that the first colon always parts the two.
        """
        return f"{self.platform.replace('%', '%25').replace(':', '%3A')}:{self.id}"


def address_of(jid: str, name: str = "jid") -> Address:
    """
    The address that a text of the form `platform:id` means.

    Raises:
        InvalidInput: naming the field `name`, when it has no such form.
    """
    platform, colon, contact_id = jid.partition(":")
    if not colon or not platform.strip() or not contact_id.strip():
        raise InvalidInput.of(name, "must have the form platform:id, such as telegram:123456789")
    # In this order, and only these two: any other percent sign stands for itself.
    return Address(platform.replace("%3A", ":").replace("%3a", ":").replace("%25", "%"), contact_id)


@dataclass(frozen=True, slots=True)
class Contact:
    """
    Somebody, or a chat, on a channel. `link` is the name under which all addresses of one person go, None for an
    address that stands alone. `last_seen_at` is when they last wrote, None where they never did.
    """

    address: Address
    created_at: datetime
    updated_at: datetime
    display_name: str | None = None
    link: str | None = None
    last_seen_at: datetime | None = None
    last_message_type: str | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Profile:
    """
    A contact with the other addresses of the same person, most recently seen first.
    """

    contact: Contact
    others: Sequence[Contact] = ()

    @property
    def primary(self) -> str:
        """
        What the person goes by: the common name of all addresses, else the only address.
        """
        return self.contact.link or self.contact.address.jid

    @property
    def platform_ids(self) -> dict[str, list[str]]:
        """
        The person's ids on each channel.
        """
        found: dict[str, list[str]] = {}
        for item in (self.contact, *self.others):
            found.setdefault(item.address.platform, []).append(item.address.id)
        return found
