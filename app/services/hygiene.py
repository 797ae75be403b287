"""
Hygiene: memories of a bank that state the same become one; the rest is reported, and shown to a judge if one is wanted.

Each group is merged in a transaction of its own that looks at the memories again, so that a run that is cut short, or
done twice, leaves nothing half done and nothing done twice.
"""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from sqlalchemy import Connection

from app.clock import Clock
from app.config import HygieneSettings
from app.domain.consolidation.hygiene import Group, Plan, Row, plan
from app.domain.records import Bank, Memory
from app.services.judgement import Judgement
from app.services.memory_writer import MemoryWriter
from app.storage import banks as bank_rows
from app.storage import jobs
from app.storage import memories as memory_rows
from app.storage.engine import Storage
from app.storage.moments import to_micros

Report = dict[str, Any]
Tell = Callable[[Report], Awaitable[None]]


def schedule_name(bank_id: int) -> str:
    """
    Under which name it is noted when a bank's hygiene was last done without a fault.
    """
    return f"hygiene:{bank_id}"


class Hygiene:
    """
    The use case of tidying a bank's memories.
    """

    def __init__(
        self, storage: Storage, writer: MemoryWriter, judgement: Judgement, clock: Clock, settings: HygieneSettings
    ) -> None:
        self._storage = storage
        self._writer = writer
        self._judgement = judgement
        self._clock = clock
        self._settings = settings

    async def run(self, bank: str, tell: Tell, *, dry_run: bool = False) -> Report:
        """
        Tidy a bank once, or with `dry_run` only say what would be done. Memories that are pinned stay as they are.

        `merged` counts the memories that were retired; a `dry_run` counts them as `would_merge`. What goes beyond
        `hygiene.supersedes_max` is `capped` and left to the next run.

        Raises:
            ModelError: when the judge is wanted and cannot be had; the deterministic part is done by then.
        """
        opened = await self._storage.read(lambda connection: bank_rows.find(connection, bank))
        if opened is None:
            return {"skipped": "there is no such bank, or it lies in the trash"}
        rows = await self._rows(opened)
        decided = await asyncio.to_thread(plan, rows, self._settings.supersedes_max)
        report = _report(decided, dry_run=dry_run)
        if dry_run:
            return report
        for group in decided.groups:
            report["merged"] += await self._storage.write(self._merging(opened, group))
            await tell({"merged": report["merged"], "of": decided.merges})
        room = self._settings.supersedes_max - report["merged"]
        if self._settings.judge:
            report["judge"] = await self._judgement.run(opened, await self._rows(opened), decided.reordered, room)
            report["merged"] += report["judge"].get("merged", 0)
        await self._storage.write(self._noting(opened))
        return report

    async def _rows(self, bank: Bank) -> list[Row]:
        clock = to_micros(self._clock.now())
        found = await self._storage.read(lambda connection: memory_rows.live(connection, bank.bank_id, clock))
        return [row_of(item) for item in found]

    def _merging(self, bank: Bank, group: Group) -> Callable[[Connection], int]:
        now = self._clock.now()

        def work(connection: Connection) -> int:
            opened = bank_rows.find(connection, bank.name)
            if opened is None or opened.bank_id != bank.bank_id:
                return 0
            return self._writer.merge(connection, opened, group, "states the same as", now)

        return work

    def _noting(self, bank: Bank) -> Callable[[Connection], None]:
        now = to_micros(self._clock.now())
        return lambda connection: jobs.note_done(connection, schedule_name(bank.bank_id), now)


def row_of(item: Memory) -> Row:
    """
    A memory as hygiene sees it.
    """
    record = item.record
    return Row(
        id=record.id,
        seq=record.seq,
        text=record.text,
        speaker=record.speaker,
        pinned=record.pinned,
        observations=record.observations,
        created_at=record.created_at,
        happened_at=record.occurred_at or record.created_at,
    )


def _report(decided: Plan, *, dry_run: bool) -> Report:
    groups = [
        {"survivor": group.survivor.id, "losers": [row.id for row in group.losers]}
        for group in decided.groups
        if group.losers
    ]
    return {
        "dry_run": dry_run,
        "merged": 0,
        "would_merge": decided.merges,
        "groups": groups,
        "capped": decided.capped,
        "pinned": decided.pinned,
        "reordered": [[row.id for row in rows] for rows in decided.reordered],
    }
