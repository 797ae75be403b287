"""
Short ways to store and to ask, for tests that are about something else.
"""

from typing import Any

from app.bootstrap import Container
from app.domain.records import Memory
from app.services.drafting import NewMemory
from app.services.recall_model import Mode, RecallAnswer, RecallRequest
from app.services.remember import EntryResult, NewEntry

BANK = "main"


async def save(container: Container, content: str, bank: str = BANK, **fields: Any) -> Memory:
    """
    Save one memory.
    """
    saved = await container.memories.save(bank, [NewMemory(content=content, **fields)], lambda _: "")
    return saved[0].memory


async def say(container: Container, *contents: str, bank: str = BANK, **fields: Any) -> list[EntryResult]:
    """
    Post entries.
    """
    stored = await container.remember.entries(bank, [NewEntry(content=content, **fields) for content in contents])
    return list(stored.results)


async def ask(container: Container, query: str, bank: str = BANK, **fields: Any) -> RecallAnswer:
    """
    Recall, without counting the access unless told to.
    """
    given = {"record_access": False, **fields, "mode": Mode(fields.get("mode", "hybrid"))}
    return await container.recall.recall(bank, RecallRequest(query, **given))


async def texts(container: Container, query: str, bank: str = BANK, **fields: Any) -> list[str]:
    """
    The texts that a recall finds.
    """
    return [result.text for result in (await ask(container, query, bank, **fields)).results]
