"""
How a set's rows reach the service: as what a bot would have posted, at the times at which it was said.
"""

from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from app.bootstrap import Container, build
from app.clock import FrozenClock
from app.config import load_settings
from app.errors import InvalidInput
from app.services.remember import EntryQuery
from eval.datasets import load
from eval.intake import store
from tests.eval.conftest import WriteSet

NOW = datetime(2026, 1, 1, tzinfo=UTC)
ASKED = [{"query": "what?"}]


@pytest.fixture
def clock() -> FrozenClock:
    return FrozenClock(NOW)


@pytest.fixture
async def service(tmp_path: Path, clock: FrozenClock) -> AsyncIterator[Container]:
    settings = load_settings(
        storage={"data_dir": tmp_path / "data"}, embedding={"provider": "none"}, server={"batch_max": 2}
    )
    container = build(settings, clock)
    await container.start()
    yield container
    await container.stop()


async def test_a_turn_becomes_an_entry_with_its_speaker_and_session(
    write_set: WriteSet, service: Container, clock: FrozenClock
) -> None:
    said = {"id": "t1", "text": "Off to Porto!", "role": "Ana", "created_at": "2025-05-01T08:00:00+02:00"}
    rows: list[dict[str, Any]] = [
        {**said, "tags": ["trip"], "meta": {"session": "s1"}},
        {"id": "talk/S2.1", "text": "Enjoy.", "role": "assistant"},
    ]
    done: list[int] = []
    await store(service, clock, load(write_set(rows, ASKED)), done.append)
    entries, _ = await service.remember.page("home", EntryQuery(), 10, 0)
    found = {entry.record.id: entry for entry in entries}
    first, second = found["t1"].record, found["talk/S2.1"].record
    assert (first.text, first.speaker, first.session_id, first.tags) == ("Off to Porto!", "Ana", "s1", ("trip",))
    assert first.created_at == datetime(2025, 5, 1, 6, tzinfo=UTC)
    assert found["t1"].message_id == "t1"
    assert (second.speaker, second.role, second.session_id) == (None, "assistant", "talk/S2")
    assert second.created_at == NOW
    assert done == [2]


async def test_a_statement_becomes_a_memory_with_all_its_fields(
    write_set: WriteSet, service: Container, clock: FrozenClock
) -> None:
    full = {"id": "m1", "text": "Ana eats no nuts.", "category": "preference", "tags": ["food"], "entities": ["ana"]}
    rows: list[dict[str, Any]] = [
        {**full, "confidence": 0.7, "pinned": True, "created_at": "2024-02-01T00:00:00Z", "role": "Ana"},
        {"id": "m2", "text": "The oven is old.", "bank": "away"},
    ]
    await store(service, clock, load(write_set(rows, ASKED)), lambda _: None)
    record = (await service.memories.get("home", "m1")).record
    assert (record.text, record.category, record.tags) == ("Ana eats no nuts.", "preference", ("food",))
    assert "ana" in record.entities
    assert (record.confidence, record.pinned, record.speaker) == (0.7, True, "Ana")
    assert record.created_at == datetime(2024, 2, 1, tzinfo=UTC)
    assert (await service.memories.get("away", "m2")).record.created_at == NOW


async def test_an_outdated_memory_is_superseded_when_its_successor_was_said(
    write_set: WriteSet, service: Container, clock: FrozenClock
) -> None:
    rows = [
        {"id": "c", "text": "Lives in Kiel.", "created_at": "2025-01-01T00:00:00Z"},
        {"id": "a", "text": "Lives in Bonn.", "created_at": "2023-01-01T00:00:00Z", "superseded_by": "b"},
        {"id": "b", "text": "Lives in Jena.", "created_at": "2024-01-01T00:00:00Z", "superseded_by": "c"},
    ]
    await store(service, clock, load(write_set(rows, ASKED)), lambda _: None)
    first, second = [(await service.memories.get("home", item)).record for item in ("a", "b")]
    assert (first.superseded_by, first.invalid_at) == ("b", datetime(2024, 1, 1, tzinfo=UTC))
    assert (second.superseded_by, second.invalid_at) == ("c", datetime(2025, 1, 1, tzinfo=UTC))
    assert (await service.memories.get("home", "c")).record.is_active
    assert clock.moment == NOW


async def test_rows_go_in_by_batches_that_the_service_takes(
    write_set: WriteSet, service: Container, clock: FrozenClock
) -> None:
    rows = [{"id": f"t.{number}", "text": f"turn {number}", "role": "user"} for number in range(5)]
    done: list[int] = []
    await store(service, clock, load(write_set(rows, ASKED)), done.append)
    assert done == [2, 4, 5]
    assert (await service.remember.page("home", EntryQuery(), 10, 0))[1] == 5


async def test_the_same_statement_twice_is_one_record_and_told_so(
    write_set: WriteSet, service: Container, clock: FrozenClock
) -> None:
    rows = [{"id": "m1", "text": "Ana eats no nuts."}, {"id": "m2", "text": "ana eats no  nuts."}]
    assert await store(service, clock, load(write_set(rows, ASKED)), lambda _: None) == {"home": {"m2": "m1"}}


async def test_turns_of_the_same_text_stay_apart(write_set: WriteSet, service: Container, clock: FrozenClock) -> None:
    rows = [{"id": f"t.{number}", "text": "Yes.", "role": "user"} for number in range(2)]
    assert await store(service, clock, load(write_set(rows, ASKED)), lambda _: None) == {"home": {}}
    assert (await service.remember.page("home", EntryQuery(), 10, 0))[1] == 2


async def test_a_row_that_the_service_does_not_take_is_named(
    write_set: WriteSet, service: Container, clock: FrozenClock
) -> None:
    rows = [{"id": "m1", "text": "Ana eats no nuts."}, {"id": "m2", "text": "Bo eats nuts.", "category": "diet"}]
    with pytest.raises(InvalidInput, match="memory 'm2': category"):
        await store(service, clock, load(write_set(rows, ASKED)), lambda _: None)
