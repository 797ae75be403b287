"""
The core tier is kept at hand, and is never that of another bank, another limit or another time.
"""

from datetime import timedelta

import pytest

from app.clock import FrozenClock
from app.config import CoreSettings
from app.errors import NotFound
from app.services.context_model import ContextAnswer, ContextRequest
from app.services.core_tier import CoreTier
from tests.services.context_stand_ins import NOW, StandInRecords, full_records, memory, service


def _ids(answer: ContextAnswer, section: str) -> list[str]:
    return [item.id for bill in answer.sections if bill.name == section for item in bill.items]


async def test_o20_the_core_tier_is_read_once_while_the_bank_stays_the_same() -> None:
    records, clock = full_records(), FrozenClock(NOW)
    assembler = service(records, clock)
    request = ContextRequest("trip", sections=("core",))
    for _ in range(3):
        await assembler.assemble("main", request)
    assert (records.calls.count("core"), records.calls.count("version")) == (1, 1)
    clock.moment += timedelta(seconds=299)
    await assembler.assemble("main", request)
    assert (records.calls.count("core"), records.calls.count("version")) == (1, 2)
    clock.moment += timedelta(seconds=1)
    await assembler.assemble("main", request)
    assert (records.calls.count("core"), records.calls.count("version")) == (2, 2)


async def test_o45_a_change_of_the_bank_is_seen_after_two_seconds() -> None:
    records, clock = full_records(), FrozenClock(NOW)
    assembler = service(records, clock)
    request = ContextRequest("trip", sections=("core",))
    await assembler.assemble("main", request)
    records.core_memories.append(memory("mem-9", "User is called Ana"))
    records.revision += 1
    clock.moment += timedelta(seconds=1.9)
    assert "mem-9" not in _ids(await assembler.assemble("main", request), "core")
    clock.moment += timedelta(seconds=0.1)
    assert "mem-9" in _ids(await assembler.assemble("main", request), "core")


async def test_c22_an_own_write_is_seen_at_once() -> None:
    records = full_records()
    tier = CoreTier(records, CoreSettings(), FrozenClock(NOW))
    await tier.of("main", 20)
    records.core_memories.append(memory("mem-9", "User is called Ana"))
    records.revision += 1
    records.writes += 1
    assert [item.record.id for item in await tier.of("main", 20)] == ["mem-1", "mem-2", "mem-9"]


async def test_c22_a_write_while_the_version_is_looked_up_is_seen_at_once() -> None:
    records = full_records()
    tier = CoreTier(records, CoreSettings(refresh_s=0), FrozenClock(NOW))
    await tier.of("main", 20)

    async def slow_version(bank: str) -> tuple[str, int]:
        seen = (bank, records.revision)
        records.core_memories.append(memory("mem-9", "User is called Ana"))
        records.revision += 1
        records.writes += 1
        return seen

    records.version = slow_version  # type: ignore[method-assign]
    assert [item.record.id for item in await tier.of("main", 20)] == ["mem-1", "mem-2", "mem-9"]


async def test_d25_neither_another_bank_nor_another_limit_gets_what_was_kept() -> None:
    records = StandInRecords(core_memories=[memory(f"mem-{number}", f"fact {number}") for number in range(20)])
    tier = CoreTier(records, CoreSettings(), FrozenClock(NOW))
    assert len(await tier.of("main", 5)) == 5
    assert len(await tier.of("main", 20)) == 20
    assert {item.record.entities for item in await tier.of("other", 5)} == {("other",)}
    assert {item.record.entities for item in await tier.of("main", 5)} == {("main",)}


async def test_d44_a_bank_that_is_gone_is_not_answered_from_memory() -> None:
    records, clock = full_records(), FrozenClock(NOW)
    tier = CoreTier(records, CoreSettings(), clock)
    await tier.of("main", 5)
    records.failing["version"] = NotFound("there is no bank 'main'")
    clock.moment += timedelta(seconds=2)
    for _ in range(2):
        with pytest.raises(NotFound):
            await tier.of("main", 5)


async def test_a_core_memory_expires_on_time_although_it_is_kept() -> None:
    records, clock = StandInRecords(), FrozenClock(NOW)
    records.core_memories = [memory("mem-1", "on leave", expires_at=NOW + timedelta(seconds=10))]
    tier = CoreTier(records, CoreSettings(), clock)
    assert len(await tier.of("main", 5)) == 1
    clock.moment += timedelta(seconds=10)
    assert await tier.of("main", 5) == []


async def test_d23_settings_of_zero_keep_nothing() -> None:
    records = full_records()
    for settings in (CoreSettings(cache_banks=0), CoreSettings(cache_s=0)):
        records.calls.clear()
        tier = CoreTier(records, settings, FrozenClock(NOW))
        await tier.of("main", 5)
        await tier.of("main", 5)
        assert records.calls.count("core") == 2
    assert await CoreTier(records, CoreSettings(limit=0), FrozenClock(NOW)).of("main", 5) == []


async def test_the_least_recently_used_bank_is_let_go() -> None:
    records = full_records()
    tier = CoreTier(records, CoreSettings(cache_banks=2), FrozenClock(NOW))
    for bank in ("a", "b", "a", "c", "a", "b"):
        await tier.of(bank, 5)
    assert records.calls.count("core") == 4
