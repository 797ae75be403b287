"""
The memory service in this process, on a data directory.
"""

import asyncio
import time

from app.api.schemas.context import ContextIn, ContextOut, context_out, context_request
from app.api.schemas.entries import EntriesStored, EntryIn, new_entry, stored_out
from app.api.schemas.memories import MemoryIn, MemoryOut, memory_out, new_memory
from app.api.schemas.operations import DoctorOut, doctor_out
from app.api.schemas.recall import Answer, Question, answer_out, recall_request
from app.bootstrap import Container
from app.config import Settings
from app.services.indexer import IndexerState

LOOK_EVERY_S = 0.05


class LocalService:
    """
    Calls the use cases of a container directly.
    """

    def __init__(self, container: Container) -> None:
        self._container = container

    async def save_memory(self, bank: str, memory: MemoryIn) -> MemoryOut:
        (saved,) = await self._container.memories.save(bank, [new_memory(memory)], lambda _: "")
        return memory_out(bank, saved.memory, self._container.clock.now(), reinforced=not saved.created)

    async def save_entry(self, bank: str, entry: EntryIn) -> EntriesStored:
        asked = [new_entry(entry)]
        return stored_out(await self._container.remember.entries(bank, asked), asked)

    async def recall(self, bank: str, question: Question) -> Answer:
        return answer_out(await self._container.recall.recall(bank, recall_request(question)))

    async def context(self, bank: str, wanted: ContextIn) -> ContextOut:
        return context_out(await self._container.context.assemble(bank, context_request(wanted)))

    async def doctor(self) -> DoctorOut:
        return doctor_out(await self._container.doctor.check())

    async def settle(self, seconds: float) -> int:
        give_up_at = time.monotonic() + seconds
        state = await self._container.indexer.state()
        while is_working(state) and time.monotonic() < give_up_at:
            await asyncio.sleep(LOOK_EVERY_S)
            state = await self._container.indexer.state()
        return waiting(self._container.settings, state)


def is_working(state: IndexerState) -> bool:
    """
    Whether texts wait for their vectors and are getting them.
    """
    return state.running and state.waiting > 0 and state.problem is None


def waiting(settings: Settings, state: IndexerState) -> int:
    """
    How many texts wait for their vectors; none where there are to be no vectors.
    """
    return 0 if settings.embedding.provider == "none" else state.waiting
