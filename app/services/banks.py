"""
Banks: making, describing, trashing, restoring, erasing and counting them.
"""

import unicodedata
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Connection

from app.clock import Clock
from app.domain.records import Bank
from app.domain.text.legal import legal_text
from app.errors import Conflict, InvalidInput, NotFound
from app.services.bank_settings import check_settings
from app.services.preparation import Preparation
from app.storage import banks as bank_rows
from app.storage import erasure, outbox, records
from app.storage.engine import Storage
from app.storage.moments import from_micros, to_micros
from app.storage.outbox import Event
from app.storage.vectors import spaces

NAME_MAX = 200


@dataclass(frozen=True, slots=True)
class BankStats:
    """
    What a bank holds. `mean_record_bytes` is bytes of text over live records; `tokens` counts indexed terms.
    """

    records: Mapping[str, int]
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


def check_name(name: str) -> str:
    """
    A bank name of 1 to 200 characters of any script, without control characters, `/` and `\\`.

    Raises:
        InvalidInput: saying what is wrong with it.
    """
    if not 1 <= len(name) <= NAME_MAX or not name.strip():
        raise InvalidInput.of("bank", f"a name has 1 to {NAME_MAX} characters, got {len(name)}")
    if any(sign in "/\\" or unicodedata.category(sign) in {"Cc", "Cs"} for sign in name):
        raise InvalidInput.of("bank", "a name holds no control character, slash or backslash")
    return name


def open_for_writing(connection: Connection, name: str, now: int) -> Bank:
    """
    The bank to write to, which comes into being with its first write.

    Raises:
        InvalidInput: when the name cannot be taken.
        Conflict: when a bank of that name lies in the trash.
    """
    found = bank_rows.find(connection, check_name(name), trashed=True)
    if found is None:
        made = bank_rows.create(connection, name, now)
        outbox.add(connection, name, [Event("bank-changed", "created")], now)
        return made
    if found.trashed_at is not None:
        raise Conflict(f"bank {name!r} is in the trash: restore it, or erase it, before writing to it")
    return found


class Banks:
    """
    The use cases of banks.
    """

    def __init__(
        self,
        storage: Storage,
        preparation: Preparation,
        clock: Clock,
        space_identity: str | None,
    ) -> None:
        self._storage = storage
        self._preparation = preparation
        self._clock = clock
        self._space_identity = space_identity

    async def create(self, name: str, description: str = "", settings: Mapping[str, Any] | None = None) -> Bank:
        """
        Make a bank.

        Raises:
            InvalidInput: when the name cannot be taken.
            Conflict: when there is one of that name, also in the trash.
        """
        check_name(name)
        check_settings(settings or {})
        now = to_micros(self._clock.now())

        def work(connection: Connection) -> Bank:
            known = bank_rows.find(connection, name, trashed=True)
            if known is not None:
                raise Conflict(f"bank {name!r} exists" + (" in the trash" if known.trashed_at else ""))
            made = bank_rows.create(connection, name, now, legal_text(description), dict(settings or {}))
            outbox.add(connection, name, [Event("bank-changed", "created")], now)
            return made

        return await self._storage.write(work)

    async def get(self, name: str) -> Bank:
        """
        The bank of that name.

        Raises:
            NotFound: when there is none, or it is in the trash.
        """
        return await self._storage.read(lambda connection: bank_rows.require(connection, name))

    async def page(self, limit: int, offset: int, visible: Callable[[str], bool]) -> tuple[list[Bank], int]:
        """
        The banks that `visible` lets through, by name, and how many there are.
        """

        def work(connection: Connection) -> list[Bank]:
            return [item for item in bank_rows.every(connection) if visible(item.name)]

        found = await self._storage.read(work)
        return found[offset : offset + limit], len(found)

    async def amend(self, name: str, description: str | None = None, settings: Mapping[str, Any] | None = None) -> Bank:
        """
        Change a bank's description, and merge into its settings (a null value removes a key).

        New cluster words hold for what the bank has already, too.

        Raises:
            NotFound: when there is no such bank.
        """
        check_settings(settings or {})
        now = to_micros(self._clock.now())

        def work(connection: Connection) -> Bank:
            found = bank_rows.require(connection, name)
            merged = {**found.settings, **(settings or {})}
            kept = {key: value for key, value in merged.items() if value is not None}
            text = found.description if description is None else legal_text(description)
            bank_rows.amend(connection, found.bank_id, {"description": text, "settings": kept})
            version, _ = bank_rows.advance(connection, found.bank_id, now)
            if kept.get("clusters") != found.settings.get("clusters"):
                records.relabel_clusters(
                    connection, found.bank_id, version, lambda text: self._preparation.clusters_of(text, kept)
                )
            outbox.add(connection, name, [Event("bank-changed", "updated")], now)
            return bank_rows.require(connection, name)

        return await self._storage.write(work)

    async def trash(self, name: str) -> None:
        """
        Move a bank to the trash, from where `restore` brings it back.

        Raises:
            NotFound: when there is no such bank.
        """
        await self._set_trashed(name, to_trash=True)

    async def restore(self, name: str) -> Bank:
        """
        Bring a bank back from the trash.

        Raises:
            NotFound: when no bank of that name lies there.
        """
        await self._set_trashed(name, to_trash=False)
        return await self.get(name)

    async def erase(self, name: str) -> int:
        """
        Remove a bank for good, in the trash or not: its texts, vectors, indexes and events; returns how many records.

        Raises:
            NotFound: when there is no such bank.
        """
        number = await self.erase_if_there(name)
        if number is None:
            raise NotFound(f"there is no bank {name!r}")
        return number

    async def erase_if_there(self, name: str) -> int | None:
        """
        As `erase`, but None where there is no such bank.
        """

        def work(connection: Connection) -> int | None:
            found = bank_rows.find(connection, name, trashed=True)
            return None if found is None else erasure.erase_bank(connection, found.bank_id, name)

        number = await self._storage.write(work)
        if number is not None:
            await self._storage.checkpoint()
        return number

    async def stats(self, name: str) -> BankStats:
        """
        What the bank holds.

        Raises:
            NotFound: when there is no such bank.
        """
        identity = self._space_identity

        def work(connection: Connection) -> bank_rows.BankCounts:
            bank_id = bank_rows.require(connection, name).bank_id
            space_id = None if identity is None else spaces.find(connection, identity)
            return bank_rows.counts(connection, bank_id, space_id)

        counts = await self._storage.read(work)
        total = sum(counts.by_tier.values())
        return BankStats(
            records=counts.by_tier,
            total=total,
            superseded=counts.superseded,
            text_bytes=counts.text_bytes,
            mean_record_bytes=counts.text_bytes / total if total else 0.0,
            vectors=counts.vectors,
            pending_vectors=counts.pending_vectors,
            pending_consolidation=counts.pending_consolidation,
            tokens=counts.terms,
            entities=counts.entities,
            contacts=counts.contacts,
            last_consolidation=None,
            oldest=None if counts.oldest is None else from_micros(counts.oldest),
            newest=None if counts.newest is None else from_micros(counts.newest),
        )

    async def tags(self, name: str) -> list[tuple[str, int]]:
        """
        Each tag of the bank and on how many live records it is, most used first.

        Raises:
            NotFound: when there is no such bank.
        """
        return await self._storage.read(
            lambda connection: bank_rows.tag_counts(connection, bank_rows.require(connection, name).bank_id)
        )

    async def _set_trashed(self, name: str, *, to_trash: bool) -> None:
        now = to_micros(self._clock.now())

        def work(connection: Connection) -> None:
            found = bank_rows.find(connection, name, trashed=True)
            if found is None or (found.trashed_at is None) != to_trash:
                raise NotFound(f"there is no bank {name!r}" + ("" if to_trash else " in the trash"))
            bank_rows.amend(connection, found.bank_id, {"trashed_at": now if to_trash else None})
            bank_rows.advance(connection, found.bank_id, now)
            event = "trashed" if to_trash else "restored"
            outbox.add(connection, name, [Event("bank-changed", event)], now)

        await self._storage.write(work)
