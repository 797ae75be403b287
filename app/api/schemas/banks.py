"""
Banks, as they are asked for and shown.
"""

from datetime import datetime
from typing import Any

from msgspec import UNSET, Struct, UnsetType

from app.domain.records import Bank
from app.services.banks import BankStats


class NewBank(Struct, forbid_unknown_fields=True):
    """
    A bank to make.
    """

    name: str
    description: str | None = None
    settings: dict[str, Any] | None = None


class BankChanges(Struct, forbid_unknown_fields=True):
    """
    What is to change of a bank. Settings are merged key by key; null removes a key.
    """

    description: str | UnsetType | None = UNSET
    settings: dict[str, Any] | UnsetType | None = UNSET


class BankOut(Struct, frozen=True):
    """
    A bank. `revision` grows with every change of what it remembers.
    """

    name: str
    description: str
    settings: dict[str, Any]
    revision: int
    created_at: datetime
    updated_at: datetime


class BankStatsOut(Struct, frozen=True):
    """
    What a bank holds: live records by tier, sizes in bytes of UTF-8, vectors of the present model.
    """

    records: dict[str, int]
    total: int
    superseded: int
    text_bytes: int
    mean_record_bytes: float
    vectors: int
    pending_vectors: int
    pending_consolidation: int
    tokens: int
    entities: int
    contacts: int
    last_consolidation: datetime | None
    oldest: datetime | None
    newest: datetime | None


class TagCount(Struct, frozen=True):
    """
    A tag, and on how many live records it is.
    """

    tag: str
    count: int


class Erased(Struct, frozen=True):
    """
    How many records are gone.
    """

    deleted: int


def bank_out(bank: Bank) -> BankOut:
    """
    A bank as it is shown.
    """
    return BankOut(bank.name, bank.description, bank.settings, bank.revision, bank.created_at, bank.updated_at)


def stats_out(stats: BankStats) -> BankStatsOut:
    """
    A bank's figures as they are shown.
    """
    return BankStatsOut(
        records=dict(stats.records),
        total=stats.total,
        superseded=stats.superseded,
        text_bytes=stats.text_bytes,
        mean_record_bytes=stats.mean_record_bytes,
        vectors=stats.vectors,
        pending_vectors=stats.pending_vectors,
        pending_consolidation=stats.pending_consolidation,
        tokens=stats.tokens,
        entities=stats.entities,
        contacts=stats.contacts,
        last_consolidation=stats.last_consolidation,
        oldest=stats.oldest,
        newest=stats.newest,
    )
