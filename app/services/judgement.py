"""
The judge: a language model that is asked, in one call, what to do with memories that no rule can decide on.

It can act only on what it was offered: merge memories of the same words, end an older memory by a newer one, turn what
was stated again and again into a rule. What was judged once is not offered again.
"""

import asyncio
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from sqlalchemy import Connection

from app.clock import Clock
from app.config import HygieneSettings
from app.domain.consolidation.hygiene import (
    Related,
    Row,
    ends,
    group_mark,
    grouped,
    may_be_merged,
    promotable,
    related,
)
from app.domain.consolidation.sifting import Terms
from app.domain.records import Bank, Memory, Source
from app.prompts.offered import only_offered
from app.prompts.outputs import JudgeAnswer
from app.prompts.rendering import OfferedGroup, OfferedMemory, Prompts
from app.services.asking_model import AskingModel
from app.services.learned_rules import Heard, LearnedRules
from app.services.memory_writer import MemoryWriter
from app.storage import banks as bank_rows
from app.storage import cursors
from app.storage import memories as memory_rows
from app.storage.engine import Storage

TASK = "judge"
GROUP, CANDIDATE, MEMORY = "judged-group", "judged-rule", "judged-memory"
"""Kinds of positions: which groups and candidates were judged, and up to which memory."""

Report = dict[str, Any]


@dataclass(frozen=True, slots=True)
class _Offer:
    groups: tuple[tuple[Row, ...], ...]
    candidates: tuple[Row, ...]
    memories: Related
    since: int

    @property
    def empty(self) -> bool:
        """Whether there is nothing to ask."""
        return not (self.groups or self.candidates or self.memories.rows)


@dataclass(slots=True)
class _Decisions:
    """What the judge's decisions did; `room` is how many more memories may be retired."""

    room: int
    merged: int = 0
    contradictions: int = 0
    rules: Counter[str] = field(default_factory=Counter)
    refused: Counter[str] = field(default_factory=Counter)


class Judgement:
    """
    The use case of having a bank's memories judged.
    """

    def __init__(
        self,
        storage: Storage,
        writer: MemoryWriter,
        rules: LearnedRules,
        asking: AskingModel,
        prompts: Prompts,
        terms: Terms,
        clock: Clock,
        settings: HygieneSettings,
    ) -> None:
        self._storage = storage
        self._writer = writer
        self._rules = rules
        self._asking = asking
        self._prompts = prompts
        self._terms = terms
        self._clock = clock
        self._settings = settings

    async def run(self, bank: Bank, rows: Sequence[Row], reordered: Sequence[tuple[Row, ...]], room: int) -> Report:
        """
        Have a bank judged that holds these live memories, retiring at most `room` of them; no call is made where there
        is nothing new to judge.

        Raises:
            ModelError: when the model gives no answer; nothing is done then.
        """
        if not self._asking.available(TASK):
            return {"skipped": "no language model is configured for the judge"}
        if room < 1:
            return {"skipped": "the pass has retired as many memories as it may"}
        offer = await self._offer(bank, rows, reordered)
        if offer.empty:
            if offer.memories.looked_at > offer.since:
                await self._storage.write(lambda connection: self._move(connection, bank.bank_id, offer))
            return {"calls": 0}
        groups = dict(enumerate(offer.groups))
        prompt = self._prompts.judge(
            [OfferedGroup(place, tuple(row.text for row in group)) for place, group in groups.items()],
            [_offered(row, row.observations) for row in offer.candidates]
            + [_offered(row, None) for row in offer.memories.rows],
        )
        check = only_offered(groups, {row.id for row in offer.candidates}, {row.id for row in offer.memories.rows})
        answered = await self._asking.ask(bank.bank_id, prompt, check)
        done = await self._storage.write(lambda connection: self._apply(connection, bank, offer, answered.value, room))
        return {**done, **answered.report()}

    async def _offer(self, bank: Bank, rows: Sequence[Row], reordered: Sequence[tuple[Row, ...]]) -> _Offer:
        def look(connection: Connection) -> tuple[dict[str, int], dict[str, int], int]:
            return (
                cursors.positions(connection, bank.bank_id, GROUP),
                cursors.positions(connection, bank.bank_id, CANDIDATE),
                cursors.position(connection, bank.bank_id, MEMORY),
            )

        judged, candidates, since = await self._storage.read(look)
        settings = self._settings

        def choose() -> _Offer:
            groups = [group for group in reordered if group_mark(group) not in judged and may_be_merged(group)]
            most = settings.judge_groups_max
            return _Offer(
                tuple(groups[:most]),
                tuple(promotable(rows, settings.promote_corroboration, candidates.keys(), most)),
                related(rows, since, self._terms, settings.related_share, settings.judge_memories_max),
                since,
            )

        return await asyncio.to_thread(choose)

    def _apply(self, connection: Connection, bank: Bank, offer: _Offer, answer: JudgeAnswer, room: int) -> Report:
        opened = bank_rows.find(connection, bank.name)
        if opened is None or cursors.position(connection, bank.bank_id, MEMORY) != offer.since:
            return {"skipped": "another run judged meanwhile"}
        now = self._clock.now()
        done = _Decisions(room)
        for place in dict.fromkeys(answer.merge_groups):
            group = grouped(offer.groups[place])
            kept = replace(group, losers=group.losers[: done.room])
            merged = self._writer.merge(connection, opened, kept, "judged to state the same as", now)
            done.merged += merged
            done.room -= merged
        self._end_older(connection, opened, offer, answer, done, now)
        self._promote(connection, opened, offer, answer, done, now)
        self._move(connection, bank.bank_id, offer)
        return {
            "merged": done.merged + done.contradictions,
            "contradictions": done.contradictions,
            "rules": dict(done.rules),
            "refused": dict(done.refused),
        }

    def _end_older(
        self, connection: Connection, bank: Bank, offer: _Offer, answer: JudgeAnswer, done: _Decisions, now: datetime
    ) -> None:
        rows = {row.id: row for row in offer.memories.rows}
        for item in answer.contradictions:
            older, newer = rows[item.older], rows[item.newer]
            loser = memory_rows.by_id(connection, bank.bank_id, older.id)
            winner = memory_rows.by_id(connection, bank.bank_id, newer.id)
            if not ends(older, newer):
                done.refused["not_newer"] += 1
            elif done.room < 1:
                done.refused["capped"] += 1
            elif loser is None or winner is None or not (_says(loser, older) and _says(winner, newer)):
                done.refused["changed_meanwhile"] += 1
            elif loser.record.pinned:
                done.refused["pinned"] += 1
            else:
                since = min(max(newer.happened_at, older.created_at), now)
                why = f"ended by {newer.id}: {item.reason}"
                self._writer.supersede(connection, bank, loser, winner, now, reason=why, since=since)
                done.contradictions += 1
                done.room -= 1

    def _promote(
        self, connection: Connection, bank: Bank, offer: _Offer, answer: JudgeAnswer, done: _Decisions, now: datetime
    ) -> None:
        rows = {row.id: row for row in offer.candidates}
        heard = []
        for item in answer.promotions:
            found = memory_rows.by_id(connection, bank.bank_id, rows[item.id].id)
            if found is None or not found.record.is_active:
                done.refused["changed_meanwhile"] += 1
                continue
            asked_for = found.record.source == Source.EXPLICIT
            reason = f"stated {found.record.observations} times as {item.id}"
            heard.append(Heard(item.rule, asked_for, reason, found.record.speaker, None, (item.id,)))
        done.rules.update(self._rules.hear_within(connection, bank, heard, now))

    def _move(self, connection: Connection, bank_id: int, offer: _Offer) -> None:
        for group in offer.groups:
            cursors.move(connection, bank_id, GROUP, len(group), group_mark(group))
        for row in offer.candidates:
            cursors.move(connection, bank_id, CANDIDATE, row.observations, row.id)
        if offer.memories.looked_at > offer.since:
            cursors.move(connection, bank_id, MEMORY, offer.memories.looked_at)


def _says(item: Memory, row: Row) -> bool:
    return item.record.is_active and item.record.text == row.text


def _offered(row: Row, times_observed: int | None) -> OfferedMemory:
    return OfferedMemory(row.id, row.text, row.happened_at.date(), times_observed)
