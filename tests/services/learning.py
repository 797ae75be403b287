"""
A service with a language model that a test steers: what it was asked, what it answers, and the jobs that ask it.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import Connection

from app.bootstrap import Container, load_analyzer
from app.config import Settings
from app.devtools.fake_answers import answer, records_in, task_of
from app.domain.consolidation.work import extract_job, hygiene_job
from app.domain.filters import RecordFilter
from app.domain.jobs import Job, JobState, NewJob
from app.domain.records import Memory
from app.jobs.consolidation import consolidation_handlers
from app.jobs.worker import Worker
from app.prompts.loader import load_prompts
from app.prompts.rendering import Prompts
from app.providers.language_model import FinishReason, ModelReply, ModelRequest
from app.services.asking_model import AskingModel
from app.services.conversation import Conversation
from app.services.extraction import Extraction
from app.services.harvest_writer import HarvestWriter
from app.services.hygiene import Hygiene
from app.services.judgement import Judgement
from app.services.learned_rules import LearnedRules
from app.services.structuring import Structuring
from app.storage import banks as bank_rows
from app.storage import jobs
from app.storage.memories import MemoryQuery
from app.storage.moments import to_micros
from tests.services.asking import BANK

Brain = Callable[[ModelRequest], Any]
"""What a model answers: text, plain values that become JSON, or an error to raise."""


def understands(request: ModelRequest) -> Any:
    """
    The answer of a model that reads simple English sentences.
    """
    return answer(task_of(request.system), records_in(request.turns[0].content))


def facts(*texts: str, **fields: Any) -> dict[str, Any]:
    """
    An answer to the task of extraction, each statement citing the last message that was shown.
    """
    plain = {"kind": "memory", "category": "fact", "confidence": "extracted", "entities": [], "tags": []}
    return {"memories": [{**plain, "occurred": None, "sources": [1], "text": text, **fields} for text in texts]}


@dataclass
class SteeredModel:
    """
    A language model, in the place of all the configured ones.
    """

    brain: Brain = understands
    name: str = "steered/model"
    asked: list[ModelRequest] = field(default_factory=list)
    tasks: frozenset[str] = frozenset({"structure", "extract", "episode", "judge", "reflect"})

    def available(self, task: str) -> bool:
        return task in self.tasks

    def for_task(self, task: str) -> "SteeredModel":
        return self

    async def complete(self, bank_id: int, request: ModelRequest) -> ModelReply:
        self.asked.append(request)
        said = self.brain(request)
        if isinstance(said, Exception):
            raise said
        text = said if isinstance(said, str) else json.dumps(said, ensure_ascii=False)
        return ModelReply(text, 100, 20, FinishReason.STOP, self.name)

    @property
    def prompts(self) -> list[str]:
        """
        What it was shown, call by call.
        """
        return [request.turns[-1].content for request in self.asked]


class Learner:
    """
    The use cases of consolidation over a service, and a worker for their jobs.
    """

    def __init__(self, service: Container, model: SteeredModel | None = None) -> None:
        self.service = service
        self.model = model or SteeredModel()
        service.memories._structures = lambda: self.model.available("structure")
        settings: Settings = service.settings
        storage, clock, writer = service.storage, service.clock, service.memories.writer
        asking = AskingModel(self.model, settings.llm.answer_max)  # type: ignore[arg-type]
        prompts = Prompts(load_prompts(), settings.llm.language, settings.llm.message_max)
        self.rules = LearnedRules(storage, service.documents, clock, settings.rules)
        conversation = Conversation(storage, load_analyzer(), settings.extraction)
        self.extraction = Extraction(
            storage,
            conversation,
            HarvestWriter(storage, writer, self.rules, clock, settings.rules),
            asking,
            prompts,
            service.indexer,
            clock,
            settings.extraction,
            settings.llm.language,
        )
        structuring = Structuring(storage, writer, asking, prompts, service.indexer, clock, settings.memory)
        judgement = Judgement(storage, writer, self.rules, asking, prompts, conversation.terms, clock, settings.hygiene)
        self.hygiene = Hygiene(storage, writer, judgement, clock, settings.hygiene)
        self.worker = Worker(
            storage, consolidation_handlers(structuring, self.extraction, self.hygiene), clock, settings.jobs
        )

    async def extract(self, bank: str = BANK) -> list[Job]:
        """
        Read all threads of a bank to their ends, by jobs.
        """
        bank_id = await self.bank_id(bank)
        return await self.work(*[extract_job(bank_id, thread) for thread in await self.extraction.behind(bank)])

    async def tidy(self, bank: str = BANK, *, dry_run: bool = False) -> dict[str, Any]:
        """
        Run hygiene by a job, and return its report.
        """
        (job,) = await self.work(hygiene_job(await self.bank_id(bank), dry_run=dry_run))
        assert job.state is JobState.DONE, job.error
        return job.report or {}

    async def work(self, *new: NewJob) -> list[Job]:
        """
        Enqueue jobs, run all that is due, and return how the new ones stand.
        """
        now = to_micros(self.service.clock.now())
        ids = await self.service.storage.write(
            lambda connection: [jobs.enqueue(connection, item, now)[0] for item in new]
        )
        await self.worker.run_due()

        def look(connection: Connection) -> list[Job]:
            found = (jobs.by_id(connection, job_id) for job_id in ids)
            return [job for job in found if job is not None]

        return await self.service.storage.read(look)

    async def bank_id(self, bank: str = BANK) -> int:
        """
        The number of a bank.
        """
        return await self.service.storage.read(lambda connection: bank_rows.require(connection, bank).bank_id)

    async def memories(self, bank: str = BANK) -> list[Memory]:
        """
        The live memories of a bank in the order of their arrival.
        """
        wanted = RecordFilter(clock=self.service.clock.now())
        found, _ = await self.service.memories.page(bank, wanted, MemoryQuery(), 500, 0)
        return sorted(found, key=lambda item: item.record.seq)

    async def texts(self, bank: str = BANK) -> list[str]:
        """
        What the live memories of a bank state.
        """
        return [item.record.text for item in await self.memories(bank)]

    async def learned_rules(self, bank: str = BANK) -> list[str]:
        """
        The lines of the document of learned rules.
        """
        found = {rule.path: rule.content for rule in await self.service.documents.rules(bank)}
        return [line[2:] for line in found.get("rules/learned.md", "").splitlines() if line.startswith("- ")]
