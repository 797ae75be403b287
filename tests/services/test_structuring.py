"""
Structuring: free text is kept at once, and gets its structure from a model without anybody's change being lost.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from app.bootstrap import Container
from app.domain.jobs import Job, JobState
from app.domain.records import Memory
from app.providers.language_model import ModelError, ModelRequest
from app.services.drafting import NewMemory, Saved
from app.storage import jobs
from tests.services.asking import BANK, save, texts
from tests.services.conftest import Launch
from tests.services.learning import Learner, SteeredModel

RAW = "btw i swapped the night shift, im on mornings since yesterday"
ANSWER = {
    "content": "The user swapped the night shift and works mornings since 29 June 2026.",
    "summary": "Works mornings since 29 June 2026",
    "category": "fact",
    "confidence": 0.9,
    "tags": ["Work", "shift"],
    "entities": ["night shift"],
}


def answers(**changes: Any) -> SteeredModel:
    return SteeredModel(lambda _: {**ANSWER, **changes})


async def keep(service: Container, wait_s: float = 0.0, raw: str = RAW, **fields: Any) -> Saved:
    (saved,) = await service.memories.save(BANK, [NewMemory(raw_input=raw, **fields)], lambda _: "", wait_s)
    return saved


async def settled(learner: Learner, saved: Saved) -> Job:
    await learner.worker.run_due()
    job = await learner.service.storage.read(lambda connection: jobs.by_id(connection, saved.job or ""))
    assert job is not None
    return job


async def present(learner: Learner, saved: Saved) -> Memory:
    return await learner.service.memories.get(BANK, saved.memory.record.id)


@asynccontextmanager
async def working(learner: Learner) -> AsyncIterator[None]:
    learner.worker.start()
    try:
        yield
    finally:
        await learner.worker.stop()


async def test_o36_free_text_is_stored_at_once_and_structured_by_a_job(launch: Launch) -> None:
    learner = Learner(await launch(), answers())
    saved = await keep(learner.service)
    assert (saved.memory.record.text, saved.memory.structured) == (RAW, False)
    assert await texts(learner.service, "night shift") == [RAW]
    job = await settled(learner, saved)
    assert job.report is not None
    assert job.report["structured"] is True
    memory = await present(learner, saved)
    assert (memory.record.text, memory.raw_input, memory.structured) == (ANSWER["content"], RAW, True)
    assert (memory.summary, memory.record.category, memory.record.confidence) == (ANSWER["summary"], "fact", 0.9)
    assert memory.record.tags == ("work", "shift")
    assert await texts(learner.service, "works mornings") == [ANSWER["content"]]
    history = await learner.service.memories.history(BANK, memory.record.id)
    assert [(item.change, item.reason) for item in history] == [
        ("created", None),
        ("structured", "structured by steered/model"),
    ]


async def test_o14_a_long_summary_is_cut_below_fifty_characters(launch: Launch) -> None:
    learner = Learner(await launch(), answers(summary="The user works mornings now, after a long time of nights"))
    saved = await keep(learner.service)
    await settled(learner, saved)
    assert len((await present(learner, saved)).summary) <= 49


async def test_o37_waiting_shows_the_structure(launch: Launch) -> None:
    learner = Learner(await launch(jobs={"poll_s": 0.01}), answers())
    async with working(learner):
        saved = await keep(learner.service, wait_s=5.0)
    assert (saved.memory.record.text, saved.memory.structured) == (ANSWER["content"], True)


async def test_o37_waiting_ends_with_the_time_and_the_structure_comes_later(launch: Launch) -> None:
    gate = asyncio.Event()

    class SlowModel(SteeredModel):
        async def complete(self, bank_id: int, request: ModelRequest) -> Any:
            await gate.wait()
            return await super().complete(bank_id, request)

    learner = Learner(await launch(jobs={"poll_s": 0.01}), SlowModel(lambda _: ANSWER))
    async with working(learner):
        saved = await keep(learner.service, wait_s=0.1)
        assert (saved.memory.record.text, saved.memory.structured) == (RAW, False)
        gate.set()
    assert (await present(learner, saved)).structured


@pytest.mark.parametrize(
    "answer",
    [
        ModelError("model_rejected", "no", retryable=False),
        ModelError("model_refused", "declined", retryable=False),
        "I am sorry, I cannot do that.",
    ],
)
async def test_o38_a_failure_leaves_the_preview(launch: Launch, answer: Any) -> None:
    learner = Learner(await launch(jobs={"first_retry_s": 0.0}), SteeredModel(lambda _: answer))
    saved = await keep(learner.service)
    job = await settled(learner, saved)
    assert job.state is JobState.FAILED
    memory = await present(learner, saved)
    assert memory == saved.memory
    assert (memory.record.text, memory.record.category, memory.record.confidence) == (RAW, "general", 0.5)


async def test_o38_without_a_model_there_is_no_job(launch: Launch) -> None:
    service = Learner(await launch(), SteeredModel(tasks=frozenset())).service
    (saved,) = await service.memories.save(BANK, [NewMemory(raw_input=RAW)], lambda _: "", 5.0)
    assert saved.job is None
    assert saved.memory.record.text == RAW


async def test_o40_what_is_structured_already_gets_no_job(launch: Launch) -> None:
    service = Learner(await launch(), answers()).service
    (saved,) = await service.memories.save(BANK, [NewMemory(content=RAW, raw_input=RAW)], lambda _: "")
    assert saved.job is None


@pytest.mark.parametrize(
    "changes", [{"content": "Something else"}, {"pinned": True}, {"tags": ["mine"]}, {"summary": "mine"}]
)
async def test_o36_a_memory_that_changed_meanwhile_is_left_alone(launch: Launch, changes: dict[str, Any]) -> None:
    class MeddledModel(SteeredModel):
        async def complete(self, bank_id: int, request: ModelRequest) -> Any:
            await learner.service.memories.amend(BANK, saved.memory.record.id, changes)
            return await super().complete(bank_id, request)

    learner = Learner(await launch(), MeddledModel(lambda _: ANSWER))
    saved = await keep(learner.service)
    job = await settled(learner, saved)
    assert job.report is not None
    assert job.report["skipped"] == "it was changed meanwhile"
    memory = await present(learner, saved)
    assert memory.record.text == changes.get("content", RAW)
    assert memory.record.revision == 2


async def test_o36_that_it_was_stated_again_meanwhile_does_not_matter(launch: Launch) -> None:
    class InterruptedModel(SteeredModel):
        async def complete(self, bank_id: int, request: ModelRequest) -> Any:
            again = await keep(learner.service)
            assert again.job == saved.job
            return await super().complete(bank_id, request)

    learner = Learner(await launch(), InterruptedModel(lambda _: ANSWER))
    saved = await keep(learner.service)
    await settled(learner, saved)
    memory = await present(learner, saved)
    assert (memory.record.text, memory.record.observations) == (ANSWER["content"], 2)


async def test_o36_a_deleted_memory_is_not_brought_back(launch: Launch) -> None:
    learner = Learner(await launch(), answers())
    saved = await keep(learner.service)
    await learner.service.memories.delete(BANK, [saved.memory.record.id])
    job = await settled(learner, saved)
    assert job.report == {"structured": False, "skipped": "it is no longer there"}
    assert learner.model.asked == []


async def test_t019_two_wordings_with_one_structure_are_one_memory(launch: Launch) -> None:
    learner = Learner(await launch(), answers())
    known = await save(learner.service, str(ANSWER["content"]))
    saved = await keep(learner.service)
    job = await settled(learner, saved)
    assert job.report is not None
    assert job.report["same_as"] == known.record.id
    (left,) = await learner.memories()
    assert (left.record.id, left.record.observations) == (known.record.id, 2)
    assert (await present(learner, saved)).record.superseded_by == known.record.id


async def test_a_pinned_wording_stays_beside_its_twin(launch: Launch) -> None:
    learner = Learner(await launch(), answers())
    await save(learner.service, str(ANSWER["content"]))
    saved = await keep(learner.service, pinned=True, key="shift")
    await settled(learner, saved)
    memory = await present(learner, saved)
    assert memory.record.is_active
    assert (memory.record.text, memory.summary, memory.structured) == (RAW, ANSWER["summary"], True)


async def test_what_the_caller_gave_with_the_text_stays(launch: Launch) -> None:
    learner = Learner(await launch(), answers())
    saved = await keep(learner.service, category="preference", confidence=0.7, tags=["mine"], summary="my own words")
    await settled(learner, saved)
    memory = await present(learner, saved)
    assert (memory.record.category, memory.record.confidence, memory.summary) == ("preference", 0.7, "my own words")
    assert memory.record.tags == ("mine", "work", "shift")
