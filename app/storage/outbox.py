"""
Change events, written in the transaction of the change itself.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, insert

from app.storage.tables import outbox


@dataclass(frozen=True, slots=True)
class Event:
    """
    One change: `kind` is `item-changed` or `bank-changed`, `event_type` what happened.
    """

    kind: str
    event_type: str
    record_id: str | None = None
    reason: str | None = None


def add(connection: Connection, bank: str, events: Sequence[Event], now: int) -> None:
    """
    Append events of one bank.
    """
    if events:
        connection.execute(
            insert(outbox),
            [
                {
                    "bank": bank,
                    "kind": item.kind,
                    "event_type": item.event_type,
                    "record_id": item.record_id,
                    "reason": item.reason,
                    "created_at": now,
                }
                for item in events
            ],
        )
