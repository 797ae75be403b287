"""
Contacts, as they are written and shown.
"""

from datetime import datetime
from typing import Any

from msgspec import UNSET, Struct, UnsetType

from app.api.schemas.values import Moment
from app.domain.contacts import Profile


class ContactIn(Struct, forbid_unknown_fields=True):
    """
    What to write of a contact; a field that is left out stays as it is.
    """

    display_name: str | UnsetType | None = UNSET
    last_seen_at: Moment | UnsetType | None = UNSET
    last_message_type: str | UnsetType | None = UNSET
    metadata: dict[str, Any] | UnsetType | None = UNSET


class LinkIn(Struct, forbid_unknown_fields=True):
    """
    Another address of the same person (`whatsapp:+15551234`), or a name that the person goes by (`user-alice`).
    """

    alias: str


class AliasOut(Struct, frozen=True):
    """
    Another address of the same person, and when it last wrote.
    """

    platform: str
    id: str
    seen_at: datetime | None


class IdentityOut(Struct, frozen=True):
    """
    What the person goes by, and the other addresses.
    """

    primary: str
    aliases: list[AliasOut]


class ContactOut(Struct, frozen=True):
    """
    A contact. `platform_ids` are the person's ids on each channel, `last_seen_at` is when the contact last wrote.
    """

    jid: str
    display_name: str | None
    identity: IdentityOut
    platform: str
    platform_ids: dict[str, list[str]]
    last_seen_at: datetime | None
    last_message_type: str | None
    metadata: dict[str, Any]
    created_at: datetime
    last_updated: datetime


def contact_out(profile: Profile) -> ContactOut:
    """
    A contact as it is shown.
    """
    item = profile.contact
    aliases = [AliasOut(other.address.platform, other.address.id, other.last_seen_at) for other in profile.others]
    return ContactOut(
        jid=item.address.jid,
        display_name=item.display_name,
        identity=IdentityOut(profile.primary, aliases),
        platform=item.address.platform,
        platform_ids=profile.platform_ids,
        last_seen_at=item.last_seen_at,
        last_message_type=item.last_message_type,
        metadata=dict(item.metadata),
        created_at=item.created_at,
        last_updated=item.updated_at,
    )
