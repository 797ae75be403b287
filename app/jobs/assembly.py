"""
Puts background work together: the use cases of consolidation, their handlers, the worker and the schedule.
"""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass

from app.clock import Clock
from app.config import Settings
from app.domain.text.tokenize import Analyzer
from app.jobs.consolidation import consolidation_handlers
from app.jobs.schedule import Schedule
from app.jobs.worker import Worker
from app.prompts.loader import load_prompts
from app.prompts.rendering import Prompts
from app.providers.llm_factory import LanguageModels
from app.services.asking_model import AskingModel
from app.services.conversation import Conversation
from app.services.documents import Documents
from app.services.due import HygieneDue, UnreadDue
from app.services.extraction import TASK as EXTRACTING
from app.services.extraction import Extraction
from app.services.harvest_writer import HarvestWriter
from app.services.hygiene import Hygiene
from app.services.indexer import Indexer
from app.services.judgement import Judgement
from app.services.learned_rules import LearnedRules
from app.services.memory_writer import MemoryWriter
from app.services.structuring import Structuring
from app.services.triggers import ExtractionTrigger, Triggers
from app.storage.engine import Storage


@dataclass(frozen=True, slots=True)
class Background:
    """
    Background work put together.
    """

    extraction: Extraction
    rules: LearnedRules
    worker: Worker
    schedule: Schedule

    def start(self) -> None:
        """
        Begin to work jobs and to enqueue what is due.
        """
        self.worker.start()
        self.schedule.start()

    async def stop(self) -> None:
        """
        Take no more jobs, end or give back those in hand, and enqueue no more.
        """
        await self.schedule.stop()
        await self.worker.stop()


def triggers(settings: Settings, models: LanguageModels, bell: asyncio.Event) -> Triggers:
    """
    What the storing of entries sets going; `bell` wakes the worker.
    """
    return Triggers([ExtractionTrigger(settings.extraction, reads(models))], bell.set)


def reads(models: LanguageModels) -> Callable[[], bool]:
    """
    Whether there is a model for extraction.
    """
    return lambda: models.available(EXTRACTING)


def background(
    storage: Storage,
    documents: Documents,
    writer: MemoryWriter,
    analyzer: Analyzer,
    models: LanguageModels,
    indexer: Indexer,
    clock: Clock,
    settings: Settings,
    bell: asyncio.Event,
) -> Background:
    """
    Background work over a store, on the models that there are.
    """
    asking = AskingModel(models, settings.llm.answer_max)
    prompts = Prompts(load_prompts(), settings.llm.language, settings.llm.message_max)
    rules = LearnedRules(storage, documents, clock, settings.rules)
    conversation = Conversation(storage, analyzer, settings.extraction)
    extraction = Extraction(
        storage,
        conversation,
        HarvestWriter(storage, writer, rules, clock, settings.rules),
        asking,
        prompts,
        indexer,
        clock,
        settings.extraction,
        settings.llm.language,
    )
    structuring = Structuring(storage, writer, asking, prompts, indexer, clock, settings.memory)
    judgement = Judgement(storage, writer, rules, asking, prompts, conversation.terms, clock, settings.hygiene)
    hygiene = Hygiene(storage, writer, judgement, clock, settings.hygiene)
    handlers = consolidation_handlers(structuring, extraction, hygiene)
    return Background(
        extraction,
        rules,
        Worker(storage, handlers, clock, settings.jobs, bell),
        Schedule(
            storage,
            clock,
            settings.jobs,
            bell.set,
            often=[HygieneDue(settings.hygiene)],
            rare=[UnreadDue(settings.extraction, reads(models))],
        ),
    )
