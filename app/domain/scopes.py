"""
Session scopes: whose messages one conversation may see, and the one function that builds a scope's id.
"""

from dataclasses import dataclass
from enum import StrEnum

from app.domain.contacts import Address
from app.errors import InvalidInput


class ScopeMode(StrEnum):
    """
    How far a conversation sees within its bank.
    """

    MAIN = "main"  #: one pool for all: a single user
    PER_PEER = "per-peer"  #: one person on all channels, as far as their addresses are linked
    PER_CHANNEL_PEER = "per-channel-peer"  #: each contact on each channel by itself


@dataclass(frozen=True, slots=True)
class Scope:
    """
    What a conversation sees of messages and of the episodes made of them; everything else is the whole bank's.

    `contacts` None means everybody's. `session_id` narrows the newest messages, not what is recalled. `id` is None
    where a request names no conversation at all.
    """

    id: str | None = None
    contacts: frozenset[Address] | None = None
    session_id: str | None = None


EVERYTHING = Scope()
"""The whole bank, for a request that names no conversation."""


def conversation(
    mode: ScopeMode, session_id: str | None, source: str | None, source_id: str | None, *, required: bool = False
) -> Address | None:
    """
    The contact whose conversation a request means; None in a pool for all, and where it names none. `required` refuses
    the latter.

    Raises:
        InvalidInput: naming `source` or `source_id`, when only one of the two is given. Half a scope is never taken for
            everybody's.
    """
    if mode is ScopeMode.MAIN:
        return None
    given = {"source": source, "source_id": source_id}
    missing = [name for name, value in given.items() if value is None]
    if len(missing) == 1:
        raise InvalidInput.of(
            missing[0], f"conversations of this bank are kept apart ({mode}): source and source_id belong together"
        )
    if source is not None and source_id is not None:
        return Address(source, source_id)
    if required and session_id is None:
        raise InvalidInput.of(
            "source", f"conversations of this bank are kept apart ({mode}): name source and source_id, or session_id"
        )
    return None


def scope_id(mode: ScopeMode, address: Address | None, link: str | None = None) -> str | None:
    """
    The id of a scope: `scope:main`, `scope:peer:<link>`, `scope:peer:<source>:<user>` or
    `scope:channel-peer:<source>:<chat>`; None without an address where the mode asks for one.

    Different scopes have different ids, whatever signs their parts hold: a link's own name holds no colon, an address
    is written as `Address.jid` writes it.
    """
    if mode is ScopeMode.MAIN:
        return "scope:main"
    if address is None:
        return None
    if mode is ScopeMode.PER_PEER:
        return f"scope:peer:{link or address.jid}"
    return f"scope:channel-peer:{address.jid}"
