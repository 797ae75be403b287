"""
Structuring: free text that somebody asked to keep gets the content, summary and labels that a language model reads in
it.
"""

from dataclasses import replace
from datetime import datetime
from typing import Any

from sqlalchemy import Connection

from app.clock import Clock
from app.config import MemorySettings
from app.domain.records import Bank, Category, Memory
from app.domain.text.shorten import shorten, summarise
from app.prompts.outputs import StructureAnswer
from app.prompts.rendering import Prompts
from app.services.asking_model import Answered, AskingModel
from app.services.drafting import PREVIEW_CONFIDENCE
from app.services.indexer import Indexer
from app.services.memory_writer import MemoryWriter, same_text
from app.storage import banks as bank_rows
from app.storage import memories as memory_rows
from app.storage.engine import Storage

TASK = "structure"
Report = dict[str, Any]


class Structuring:
    """
    The use case of structuring one memory. Until it has succeeded, the deterministic preview stands.
    """

    def __init__(
        self,
        storage: Storage,
        writer: MemoryWriter,
        asking: AskingModel,
        prompts: Prompts,
        indexer: Indexer,
        clock: Clock,
        settings: MemorySettings,
    ) -> None:
        self._storage = storage
        self._writer = writer
        self._asking = asking
        self._prompts = prompts
        self._indexer = indexer
        self._clock = clock
        self._settings = settings

    async def structure(self, bank: str, memory_id: str) -> Report:
        """
        Ask for the structure of a memory and write it, unless the memory is gone, has one, or says something else by
        the time the answer is there.

        Raises:
            ModelError: when the model gives no answer; the preview stands then.
            InvalidInput: when what it gives cannot be stored.
        """
        found = await self._storage.read(lambda connection: _waiting(connection, bank, memory_id))
        if isinstance(found, str):
            return {"structured": False, "skipped": found}
        opened, read = found
        record = read.record
        prompt = self._prompts.structure(read.raw_input or record.text, record.created_at, record.speaker)
        answered = await self._asking.ask(opened.bank_id, prompt)
        done = await self._storage.write(lambda connection: self._apply(connection, bank, read, answered))
        if "skipped" not in done:
            self._indexer.wake()
        return {**done, **answered.report()}

    def _apply(self, connection: Connection, bank: str, read: Memory, answered: Answered[StructureAnswer]) -> Report:
        found = _waiting(connection, bank, read.record.id)
        if isinstance(found, str):
            return {"structured": False, "skipped": found}
        opened, present = found
        if _meaning(present) != _meaning(read):
            return {"structured": False, "skipped": "it was changed meanwhile"}
        now = self._clock.now()
        reason = f"structured by {answered.model}"
        structured = replace(self._structured(present, answered.value, now), structured=True)
        twin = same_text(connection, opened.bank_id, structured)
        if twin is not None and twin.record.is_active and twin.record.seq != present.record.seq:
            return self._join(connection, opened, present, structured, twin, reason, now)
        self._writer.journal.change(connection, opened, present, structured, "structured", reason, now)
        return {"structured": True}

    def _join(
        self,
        connection: Connection,
        bank: Bank,
        present: Memory,
        structured: Memory,
        twin: Memory,
        reason: str,
        now: datetime,
    ) -> Report:
        """What the text says is known: it confirms that memory, unless it is itself one that must not go."""
        if present.record.pinned or present.key is not None:
            kept = replace(structured, record=replace(structured.record, text=present.record.text))
            self._writer.journal.change(connection, bank, present, kept, "structured", reason, now)
        else:
            self._writer.supersede(
                connection, bank, present, twin, now, reinforce=True, reason=f"{reason}; the same as {twin.record.id}"
            )
        return {"structured": True, "same_as": twin.record.id}

    def _structured(self, present: Memory, answer: StructureAnswer, now: datetime) -> Memory:
        """The memory as the answer has it; what the caller gave along with the text stays."""
        record, most = present.record, self._settings.summary_max
        given_summary = present.summary != summarise(record.text, most)
        changes: dict[str, Any] = {
            "content": answer.content,
            "summary": present.summary if given_summary else shorten(answer.summary, most)[0],
            "tags": list(dict.fromkeys((*record.tags, *answer.tags))),
            "entities": list(dict.fromkeys((*answer.entities, *record.entities))),
        }
        if record.category is Category.GENERAL:
            changes["category"] = answer.category
        if record.confidence == PREVIEW_CONFIDENCE:
            changes["confidence"] = answer.confidence
        return self._writer.drafting.amended(present, changes, now)


def _waiting(connection: Connection, bank: str, memory_id: str) -> tuple[Bank, Memory] | str:
    """The memory if it waits for its structure, or why it does not."""
    opened = bank_rows.find(connection, bank)
    if opened is None:
        return "there is no such bank, or it lies in the trash"
    found = memory_rows.by_id(connection, opened.bank_id, memory_id)
    if found is None or not found.record.is_active:
        return "it is no longer there"
    if found.structured or found.raw_input is None:
        return "it has a structure"
    return opened, found


def _meaning(item: Memory) -> tuple[object, ...]:
    """All of a memory that a person may have changed; that it was stated or used once more does not count."""
    record = item.record
    return (
        record.text,
        item.summary,
        item.key,
        record.category,
        record.confidence,
        record.tags,
        record.entities,
        record.pinned,
        record.occurred_at,
        record.expires_at,
        record.metadata,
    )
