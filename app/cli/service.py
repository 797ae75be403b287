"""
What the commands ask of a memory service, wherever it is; the shapes are those of the HTTP API.
"""

from typing import Protocol

from app.api.schemas.context import ContextIn, ContextOut
from app.api.schemas.entries import EntriesStored, EntryIn
from app.api.schemas.memories import MemoryIn, MemoryOut
from app.api.schemas.operations import DoctorOut
from app.api.schemas.recall import Answer, Question


class Service(Protocol):
    """
    A memory service. Each call raises the LaminaError that says what is wrong with it.
    """

    async def save_memory(self, bank: str, memory: MemoryIn) -> MemoryOut:
        """
        Store one memory, or reinforce the known one.
        """
        ...

    async def save_entry(self, bank: str, entry: EntryIn) -> EntriesStored:
        """
        Store one short-term entry.
        """
        ...

    async def recall(self, bank: str, question: Question) -> Answer:
        """
        The records that answer a question.
        """
        ...

    async def context(self, bank: str, wanted: ContextIn) -> ContextOut:
        """
        A prompt section within its budget.
        """
        ...

    async def doctor(self) -> DoctorOut:
        """
        The state of each part.
        """
        ...

    async def settle(self, seconds: float) -> int:
        """
        Wait at most so long for what was written to be found by meaning; how many texts still wait then.
        """
        ...
