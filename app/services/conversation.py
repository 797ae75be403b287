"""
Reads a conversation on from a position, message by message, without its noise.
"""

import asyncio
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy import Connection

from app.config import ExtractionSettings
from app.domain.consolidation.extraction import Message
from app.domain.consolidation.learned import Speaker
from app.domain.consolidation.sifting import NoiseLimits, Said, Sifted, Terms, may_echo, sift
from app.domain.identity import text_hash
from app.domain.records import Bank, Entry
from app.domain.text.tokenize import Analyzer
from app.storage import cursors
from app.storage import entries as entry_rows
from app.storage import memories as memory_rows
from app.storage.engine import Storage
from app.storage.entries import SENDER

KIND = "extract"
LOOKED_AT_ONCE = 200
"""Entries that are fetched at a time; noise among them makes a stretch longer than its window."""
QUOTED_MAX = 50
SHARED_TERMS_MIN = 2


@dataclass(frozen=True, slots=True)
class Stretch:
    """
    A piece of a thread: what it says beyond position `since`, up to entry number `last`, and what was said before it.

    `read` counts all of its entries and `noise` those that say nothing, by kind.
    """

    thread: str
    since: int
    last: int
    before: tuple[Message, ...]
    fresh: tuple[Message, ...]
    read: int
    noise: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class _Seen:
    since: int
    entries: Sequence[Entry]
    before: Sequence[Entry]
    copies: Mapping[bytes, int]
    remembered: Mapping[str, Sequence[str]]


class Conversation:
    """
    Threads as they are read.
    """

    def __init__(self, storage: Storage, analyzer: Analyzer, settings: ExtractionSettings) -> None:
        self._storage = storage
        self._settings = settings
        self.terms: Terms = analyzer.query_terms
        noise = settings.noise
        self._limits = NoiseLimits(noise.copies, noise.copied_chars, noise.echo_share)

    async def next_stretch(self, bank: Bank, thread: str) -> Stretch | None:
        """
        What follows the position of a thread, at most `extraction.window` messages that are not noise; None at its end.
        """
        seen = await self._storage.read(lambda connection: self._look(connection, bank.bank_id, thread))
        return None if not seen.entries else await asyncio.to_thread(self._stretch, thread, seen)

    def _look(self, connection: Connection, bank_id: int, thread: str) -> _Seen:
        since = cursors.position(connection, bank_id, KIND, thread)
        entries = entry_rows.following(connection, bank_id, thread, since, LOOKED_AT_ONCE)
        remembered = {}
        for item in entries:
            if may_echo(_said(item)):
                terms = set(self.terms(item.record.text))
                remembered[item.record.id] = memory_rows.sharing_terms(
                    connection, bank_id, terms, SHARED_TERMS_MIN, QUOTED_MAX
                )
        return _Seen(
            since,
            entries,
            entry_rows.leading_to(connection, bank_id, thread, since, self._settings.context_messages),
            entry_rows.copies(connection, bank_id, {text_hash(item.record.text) for item in entries}),
            remembered,
        )

    def _stretch(self, thread: str, seen: _Seen) -> Stretch:
        said = [_said(item, seen.copies.get(text_hash(item.record.text), 1)) for item in seen.entries]
        known = {key: [set(self.terms(text)) for text in texts] for key, texts in seen.remembered.items()}
        sifted = sift(said, known, self.terms, self._limits)
        fresh: list[Message] = []
        noise: Counter[str] = Counter()
        read = 0
        for item, kept in zip(seen.entries, sifted, strict=True):
            if kept.noise is None and len(fresh) == self._settings.window:
                break
            read += 1
            if kept.noise is None:
                fresh.append(_message(item, kept))
            else:
                noise[kept.noise] += 1
        before = sift([_said(item) for item in seen.before], {}, self.terms, self._limits)
        return Stretch(
            thread=thread,
            since=seen.since,
            last=seen.entries[read - 1].record.seq,
            before=tuple(
                _message(item, kept) for item, kept in zip(seen.before, before, strict=True) if kept.noise is None
            ),
            fresh=tuple(fresh),
            read=read,
            noise=noise,
        )


def _said(item: Entry, copies: int = 1) -> Said:
    record = item.record
    return Said(record.id, record.role or "", record.text, item.message_type, item.skill, copies)


def _message(item: Entry, kept: Sifted) -> Message:
    record = item.record
    sender = record.metadata.get(SENDER)
    contact = record.source_id if sender is None else str(sender)
    speaker = Speaker(record.role or "", record.speaker, record.source, contact)
    return Message(record.id, record.seq, speaker, kept.text, record.created_at)
