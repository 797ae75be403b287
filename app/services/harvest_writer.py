"""
Writes what was found in a conversation: memories through the way that all memories take, rules through that of rules.
"""

import asyncio
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from sqlalchemy import Connection

from app.clock import Clock
from app.config import RuleSettings
from app.domain.consolidation.extraction import Statement
from app.domain.consolidation.learned import Trust
from app.domain.consolidation.noise import ASSISTANT, MACHINE_ROLES
from app.domain.consolidation.sameness import statement_fingerprint
from app.domain.records import Bank, Memory, Source
from app.errors import InvalidInput
from app.services.bank_settings import rules_of
from app.services.drafting import NewMemory
from app.services.learned_rules import Heard, LearnedRules
from app.services.memory_writer import DERIVED, Learning, MemoryWriter
from app.storage import entries as entry_rows
from app.storage import memories as memory_rows
from app.storage.engine import Storage

PRECISION = "precision"
"""Metadata key of how exactly `occurred_at` is known: `year`, `month`, `day` or `minute`."""
REASON = "said again"

Report = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Prepared:
    """
    What is to be written: memories with the records that they rest on, and instructions. `deleted` holds the
    fingerprints of what a person deleted; `refused` counts what is not stored, by reason.
    """

    memories: tuple[tuple[Memory, frozenset[str]], ...] = ()
    rules: tuple[Heard, ...] = ()
    deleted: frozenset[str] = frozenset()
    refused: Mapping[str, int] = field(default_factory=dict)


class HarvestWriter:
    """
    The one way by which statements from conversations are stored, whoever found them.
    """

    def __init__(
        self, storage: Storage, memories: MemoryWriter, rules: LearnedRules, clock: Clock, settings: RuleSettings
    ) -> None:
        self._storage = storage
        self._memories = memories
        self._rules = rules
        self._clock = clock
        self._settings = settings

    async def prepared(self, bank: Bank, thread: str, statements: Sequence[Statement]) -> Prepared:
        """
        The statements of a thread as they will be written, worked out beside the store.
        """
        if not statements:
            return Prepared()

        def look(connection: Connection) -> tuple[int, list[str]]:
            people = entry_rows.people(connection, bank.bank_id, thread, {ASSISTANT, *MACHINE_ROLES})
            return people, memory_rows.deleted_texts(connection, bank.bank_id)

        people, deleted = await self._storage.read(look)
        return await asyncio.to_thread(self._prepare, bank, people, deleted, statements)

    def write(self, connection: Connection, bank: Bank, prepared: Prepared, now: datetime) -> Report:
        """
        Store them inside the caller's transaction; returns how many memories and rules had which outcome.
        """
        outcomes: Counter[str] = Counter()
        for draft, evidence in prepared.memories:
            if statement_fingerprint(draft.record.text) in prepared.deleted:
                outcomes[Learning.DELETED] += 1
            else:
                learned = self._memories.learn(connection, bank, draft, evidence, REASON, now)
                outcomes[learned.outcome] += 1
        heard = self._rules.hear_within(connection, bank, prepared.rules, now)
        return {"memories": dict(outcomes), "rules": dict(heard), "refused": dict(prepared.refused)}

    def _prepare(self, bank: Bank, people: int, deleted: Sequence[str], statements: Sequence[Statement]) -> Prepared:
        now = self._clock.now()
        settings = rules_of(bank.settings, self._settings)
        memories, rules, refused = [], [], Counter[str]()
        for item in statements:
            if item.is_rule:
                if settings.learning:
                    rules.append(_heard(item, settings, alone=people <= 1))
                else:
                    refused["rules_off"] += 1
                continue
            try:
                (draft,) = self._memories.drafting.drafts([_new_memory(item)], now, lambda _: "")
            except InvalidInput:
                refused["invalid"] += 1
            else:
                memories.append((draft, frozenset(message.id for message in item.sources)))
        known = frozenset(statement_fingerprint(text) for text in deleted)
        return Prepared(tuple(memories), tuple(rules), known, refused)


def _new_memory(item: Statement) -> NewMemory:
    metadata: dict[str, Any] = {DERIVED: True}
    if item.occurrence is not None:
        metadata[PRECISION] = item.occurrence.precision.value
    return NewMemory(
        content=item.text,
        category=item.category,
        confidence=item.confidence,
        source=Source.INFERRED,
        tags=item.tags,
        entities=item.entities,
        occurred_at=None if item.occurrence is None else item.occurrence.at,
        metadata=metadata,
        speaker=item.first.speaker_name,
        created_at=item.first.said_at,
        provenance=tuple(message.id for message in item.sources),
    )


def _heard(item: Statement, settings: RuleSettings, *, alone: bool) -> Heard:
    trust = Trust(
        frozenset(role.casefold() for role in settings.trusted_roles),
        frozenset(settings.trusted_sources),
        frozenset(settings.trusted_contacts),
    )
    people = [message.speaker for message in item.sources if message.by_person]
    trusted = all(trust.covers(speaker, alone=alone) for speaker in people)
    if trusted:
        reason = "said by somebody who is trusted"
    elif not alone and not (trust.contacts or trust.sources):
        reason = "said where several people speak"
    else:
        reason = "said by somebody who is not trusted to teach rules"
    return Heard(
        text=item.text,
        trusted=trusted,
        reason=reason,
        speaker=item.first.speaker_name,
        address=item.first.speaker.address,
        provenance=tuple(message.id for message in item.sources),
    )
