"""
Extraction when something is wrong: no model, an outage, answers that are none, and two runs at once.
"""

from typing import Any

from sqlalchemy import Connection

from app.domain.jobs import JobState
from app.providers.language_model import ModelError, ModelRequest
from app.storage import cursors
from tests.services.asking import BANK, say
from tests.services.conftest import Launch
from tests.services.learning import Learner, SteeredModel, understands


def shown(request: ModelRequest) -> str:
    return request.turns[0].content


async def test_t014_without_a_model_the_entries_wait_for_one(launch: Launch) -> None:
    learner = Learner(await launch(), SteeredModel(tasks=frozenset()))
    await say(learner.service, "I live in northern Porto.", name="Ana")
    (job,) = await learner.extract()
    assert job.report is not None
    assert job.report["extraction"] == "off"
    assert "no language model" in job.report["reason"]
    assert "no language model" in learner.extraction.state().detail
    assert len(await learner.extraction.behind(BANK)) == 1
    learner.model.tasks = frozenset({"extract"})
    await learner.extract()
    assert await learner.texts() == ["Ana lives in northern Porto."]


async def test_t014_an_outage_is_made_up_for_once(launch: Launch) -> None:
    down = ModelError("model_unreachable", "no connection", retryable=True)
    learner = Learner(await launch(jobs={"first_retry_s": 0.0}), SteeredModel(lambda _: down))
    for number, place in enumerate(["Porto", "Lisbon", "Faro"]):
        await say(learner.service, f"My sister {place} lives in {place}.", name="Ana", message_id=str(number))

    def recovers(request: ModelRequest) -> Any:
        return down if len(learner.model.asked) < 20 else understands(request)

    learner.model.brain = recovers
    (job,) = await learner.extract()
    assert job.state is JobState.DONE
    assert job.attempts == 20
    assert [item.record.observations for item in await learner.memories()] == [1, 1, 1]


async def test_a_message_that_no_model_can_read_is_set_aside_by_name(launch: Launch) -> None:
    def chokes(request: ModelRequest) -> Any:
        if "PLUTONIUM" in shown(request):
            return ModelError("model_rejected", "not this one", retryable=False)
        return understands(request)

    learner = Learner(await launch(extraction={"context_messages": 0}), SteeredModel(chokes))
    said = await say(
        learner.service,
        "My sister Marta lives in Faro.",
        "All about PLUTONIUM and nothing else.",
        "My brother Rui lives in Braga.",
        "I work at Siemens in Porto.",
        name="Ana",
    )
    (job,) = await learner.extract()
    assert job.state is JobState.DONE
    assert job.report is not None
    assert job.report["set_aside"] == [{"id": said[1].id, "reason": "model_rejected"}]
    assert len(await learner.memories()) == 3
    assert await learner.extraction.behind(BANK) == []


async def test_t028_a_model_that_never_answers_in_form_loses_no_message(launch: Launch) -> None:
    learner = Learner(await launch(jobs={"first_retry_s": 0.0}), SteeredModel(lambda _: "I would rather not."))
    await say(learner.service, "I live in northern Porto.", "I work at Siemens in Porto.", name="Ana")
    (job,) = await learner.extract()
    assert job.state is JobState.FAILED
    assert len(await learner.extraction.behind(BANK)) == 1
    learner.model.brain = understands
    await learner.extract()
    assert len(await learner.memories()) == 2


async def test_a_run_that_finds_the_position_moved_writes_nothing(launch: Launch) -> None:
    learner = Learner(await launch())
    await say(learner.service, "I live in northern Porto.", name="Ana")
    bank_id = await learner.bank_id()
    (thread,) = await learner.extraction.behind(BANK)

    def overtaken(request: ModelRequest) -> Any:
        def work(connection: Connection) -> None:
            cursors.move(connection, bank_id, "extract", 1, thread)

        learner.service.storage.write_now(work)
        return understands(request)

    learner.model.brain = overtaken
    (job,) = await learner.extract()
    assert job.report is not None
    assert "another run" in job.report["stopped"]
    assert await learner.memories() == []
