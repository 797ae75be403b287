"""
Extraction: reads a conversation from where it stopped, and keeps what a language model finds worth remembering.

What one call found is written together with the position up to which it read, in one transaction, so that no message is
read twice to an effect and none is passed over.
"""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import structlog
from sqlalchemy import Connection

from app.clock import Clock
from app.config import ExtractionSettings
from app.domain.consolidation.extraction import Finding, Harvest, Limits, Message, harvest, worth_reading
from app.domain.records import Bank, Category
from app.prompts.offered import only_messages
from app.prompts.outputs import ExtractAnswer
from app.prompts.rendering import PromptMessage, Prompts
from app.providers.language_model import ModelError
from app.providers.protocols import ProviderState
from app.services.asking_model import AskingModel
from app.services.bank_settings import extracts
from app.services.conversation import Conversation, Stretch
from app.services.harvest_writer import HarvestWriter
from app.services.indexer import Indexer
from app.storage import banks as bank_rows
from app.storage import cursors
from app.storage.engine import Storage

log = structlog.get_logger(__name__)

TASK = "extract"
NO_MODEL = "no language model is configured; entries wait for one"

Report = dict[str, Any]
Tell = Callable[[Report], Awaitable[None]]


@dataclass(slots=True)
class _Found:
    """What the calls over one stretch gave: harvests, messages that no call could take, and the cost."""

    harvests: list[Harvest] = field(default_factory=list)
    failed: list[tuple[Message, ModelError]] = field(default_factory=list)
    reports: list[Report] = field(default_factory=list)
    calls: int = 0

    def add(self, other: "_Found") -> None:
        self.harvests += other.harvests
        self.failed += other.failed
        self.reports += other.reports
        self.calls += other.calls


class Extraction:
    """
    The use case of extraction. `language` is the one in which the model is told to write, if it is told any.
    """

    def __init__(
        self,
        storage: Storage,
        conversation: Conversation,
        writer: HarvestWriter,
        asking: AskingModel,
        prompts: Prompts,
        indexer: Indexer,
        clock: Clock,
        settings: ExtractionSettings,
        language: str | None,
    ) -> None:
        self._storage = storage
        self._conversation = conversation
        self._writer = writer
        self._asking = asking
        self._prompts = prompts
        self._indexer = indexer
        self._clock = clock
        self._settings = settings
        self._language = language

    def state(self) -> ProviderState:
        """
        Whether extraction can be done, for the doctor.
        """
        if not self._settings.enabled:
            return ProviderState("extraction", True, "off (extraction.enabled); banks may turn it on")
        if not self._asking.available(TASK):
            return ProviderState("extraction", True, f"off: {NO_MODEL}")
        return ProviderState("extraction", True, "on")

    async def behind(self, bank: str) -> list[str]:
        """
        The threads of a bank that hold entries which were not read yet.

        Raises:
            NotFound: when there is no such bank.
        """
        return await self._storage.read(
            lambda connection: cursors.behind(connection, bank_rows.require(connection, bank).bank_id, TASK)
        )

    async def extract(self, bank: str, thread: str, tell: Tell) -> Report:
        """
        Read a thread to its end and return what that did; `tell` hears of each step.

        Where extraction is off, or there is no model, nothing is read and the position stays, so that a later run
        begins where the last one ended.

        Raises:
            ModelError: when the model cannot be had; what was written by then stands.
        """
        report = _new_report()
        while True:
            opened = await self._storage.read(lambda connection: bank_rows.find(connection, bank))
            off = self._why_not(opened)
            if off is not None or opened is None:
                return {**report, "extraction": "off", "reason": off}
            stretch = await self._conversation.next_stretch(opened, thread)
            if stretch is None:
                return report
            found = await self._read(opened, stretch)
            done = await self._settle(opened, stretch, found)
            if done is None:
                return {**report, "stopped": "another run reads this thread"}
            _add(report, stretch, found, done)
            await tell(report)

    def _why_not(self, bank: Bank | None) -> str | None:
        if bank is None:
            return "there is no such bank, or it lies in the trash"
        if not extracts(bank.settings, self._settings.enabled):
            return "it is turned off for this bank"
        return None if self._asking.available(TASK) else NO_MODEL

    async def _read(self, bank: Bank, stretch: Stretch) -> _Found:
        found = await self._solve(bank, stretch.before, stretch.fresh)
        if found.failed and not found.harvests:
            # Nothing shows that the model is in order, so that the messages are not to blame.
            raise found.failed[0][1]
        for message, error in found.failed:
            log.warning("message_set_aside", bank=bank.name, entry=message.id, reason=error.reason)
        return found

    async def _solve(self, bank: Bank, before: Sequence[Message], fresh: Sequence[Message]) -> _Found:
        """
        Ask about the messages; where they are at fault, about each half, until the one that nobody can read is alone.
        """
        if not worth_reading(fresh, self._settings.transcript_min):
            return _Found()
        shown = [*before, *fresh]
        prompt = self._prompts.extract(
            [_prompt_message(message) for message in shown], self._settings.memories_max, self._settings.rules_max
        )
        try:
            answered = await self._asking.ask(bank.bank_id, prompt, only_messages(len(shown)))
        except ModelError as error:
            if not error.about_input:
                raise
            if len(fresh) == 1:
                return _Found(failed=[(fresh[0], error)], calls=1)
            half = len(fresh) // 2
            found = _Found(calls=1)
            found.add(await self._solve(bank, before, fresh[:half]))
            read = [*before, *fresh[:half]]
            nearest = read[max(0, len(read) - self._settings.context_messages) :]
            found.add(await self._solve(bank, nearest, fresh[half:]))
            return found
        kept = await asyncio.to_thread(
            harvest,
            _findings(answered.value),
            shown,
            len(before),
            self._conversation.terms,
            self._limits(),
            same_language=self._language is None,
        )
        return _Found([kept], reports=[answered.report()], calls=answered.calls)

    def _limits(self) -> Limits:
        settings = self._settings
        return Limits(
            memories=settings.memories_max,
            rules=settings.rules_max,
            text_max=settings.text_max,
            labels=settings.labels_max,
            stated_confidence=settings.stated_confidence,
            inferred_confidence=settings.inferred_confidence,
        )

    async def _settle(self, bank: Bank, stretch: Stretch, found: _Found) -> Report | None:
        """
        Write what was found and move the position; None where another run has moved it.
        """
        statements = [item for kept in found.harvests for item in kept.statements]
        prepared = await self._writer.prepared(bank, stretch.thread, statements)
        now = self._clock.now()

        def work(connection: Connection) -> Report | None:
            opened = bank_rows.find(connection, bank.name)
            if opened is None or opened.bank_id != bank.bank_id:
                return None
            if cursors.position(connection, bank.bank_id, TASK, stretch.thread) != stretch.since:
                return None
            done = self._writer.write(connection, opened, prepared, now)
            cursors.move(connection, bank.bank_id, TASK, stretch.last, stretch.thread)
            return done

        done = await self._storage.write(work)
        if statements:
            self._indexer.wake()
        return done


def _prompt_message(message: Message) -> PromptMessage:
    role = "user" if message.by_person else "assistant"
    return PromptMessage(message.said_at, role, message.text, message.speaker_name)


def _findings(answer: ExtractAnswer) -> list[Finding]:
    return [
        Finding(
            is_rule=item.kind == "rule",
            text=item.text,
            category=Category(item.category),
            stated=item.confidence == "extracted",
            tags=tuple(item.tags),
            entities=tuple(item.entities),
            occurred=item.occurred,
            sources=tuple(item.sources),
        )
        for item in answer.memories
    ]


def _new_report() -> Report:
    return {
        "read": 0,
        "noise": Counter[str](),
        "calls": 0,
        "memories": Counter[str](),
        "rules": Counter[str](),
        "refused": Counter[str](),
        "set_aside": [],
        "dropped": 0,
        "models": [],
    }


def _add(report: Report, stretch: Stretch, found: _Found, done: Report) -> None:
    report["read"] += stretch.read
    report["noise"].update(stretch.noise)
    report["calls"] += found.calls
    report["set_aside"] += [{"id": message.id, "reason": error.reason} for message, error in found.failed]
    for kept in found.harvests:
        report["refused"].update(kept.refused)
    for name in ("memories", "rules", "refused"):
        report[name].update(done[name])
    for cost in found.reports:
        report["dropped"] += cost["dropped"]
        if cost["model"] not in report["models"]:
            report["models"].append(cost["model"])
