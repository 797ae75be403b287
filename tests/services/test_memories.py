"""
Memories: saved once, reinforced, changed, superseded, deleted; and every index follows.
"""

import asyncio

import pytest

from app.domain.filters import RecordFilter
from app.errors import Conflict, InvalidInput, NotFound, TooLarge
from app.services.drafting import NewMemory
from app.storage.memories import MemoryQuery
from tests.services.asking import BANK, ask, save, texts
from tests.services.conftest import NOW, Launch
from tests.stand_ins import WordEmbedder


async def test_t008_the_same_memory_three_times_is_one(launch: Launch) -> None:
    service = await launch()
    saved = [
        (await service.memories.save(BANK, [NewMemory(content="User plays the cello")], lambda _: ""))[0]
        for _ in range(3)
    ]
    assert [item.created for item in saved] == [True, False, False]
    assert {item.memory.record.id for item in saved} == {saved[0].memory.record.id}
    assert saved[-1].memory.record.observations == 3
    assert await texts(service, "cello") == ["User plays the cello"]


async def test_t010_changing_the_text_keeps_all_else(launch: Launch) -> None:
    service = await launch()
    old = await save(
        service, "Deploys run on Fridays", tags=["ops"], metadata={"team": "infra"}, pinned=True, category="fact"
    )
    new = await service.memories.amend(BANK, old.record.id, {"content": "Deploys run on Mondays"})
    assert new.record.text == "Deploys run on Mondays"
    kept = ("tags", "metadata", "pinned", "source", "category", "created_at", "confidence")
    assert [getattr(new.record, name) for name in kept] == [getattr(old.record, name) for name in kept]
    assert new.record.revision == 2


async def test_t016_delete_and_recreate_of_one_key_end_in_one_of_the_two(launch: Launch) -> None:
    service = await launch()
    for attempt in range(8):
        first = await save(service, f"attempt {attempt} has the key", key="port")

        async def delete(memory_id: str = first.record.id) -> None:
            await service.memories.delete(BANK, [memory_id])

        async def recreate(number: int = attempt) -> None:
            try:
                await save(service, f"attempt {number} made anew", key="port")
            except Conflict:
                return

        await asyncio.gather(delete(), recreate())
        page, total = await service.memories.page(BANK, RecordFilter(clock=NOW), MemoryQuery(key="port"), 10, 0)
        assert total in (0, 1)
        for item in page:
            assert item.record.is_active
            await service.memories.delete(BANK, [item.record.id])


async def test_d04_superseding_twice_reinforces_once(launch: Launch) -> None:
    service = await launch()
    loser = await save(service, "User lives in Porto")
    winner = await save(service, "User lives in Lisbon")
    outcomes = await asyncio.gather(
        *(service.memories.supersede(BANK, loser.record.id, winner.record.id, reinforce=True) for _ in range(2)),
        return_exceptions=True,
    )
    assert sum(isinstance(outcome, Conflict) for outcome in outcomes) == 1
    survivor = await service.memories.get(BANK, winner.record.id)
    assert survivor.record.observations == 2


async def test_d07_a_vector_of_the_old_text_never_answers_for_the_new(launch: Launch) -> None:
    embedder = WordEmbedder()
    service = await launch(embedder)
    memory = await save(service, "port is 3000")
    await service.indexer.drained()
    assert (await ask(service, "port is 3000", mode="semantic")).results
    await service.indexer.stop()
    await service.memories.amend(BANK, memory.record.id, {"content": "server listens on 4000"})
    assert (await ask(service, "port is 3000", mode="semantic")).results == ()
    assert await texts(service, "4000") == ["server listens on 4000"]
    assert await texts(service, "3000", mode="lexical") == []


@pytest.mark.parametrize("mode", ["hybrid", "lexical", "semantic"])
@pytest.mark.parametrize("resident", [0, 64])
async def test_d43_what_is_deleted_or_superseded_is_not_recalled(launch: Launch, mode: str, resident: int) -> None:
    service = await launch(WordEmbedder(), resident={"max_mb": resident})
    deleted = await save(service, "the vault code is heron")
    old = await save(service, "the vault code is osprey")
    new = await save(service, "the vault code is kestrel")
    await service.indexer.drained()
    assert len(await texts(service, "the vault code", mode=mode)) == 3
    await service.memories.delete(BANK, [deleted.record.id])
    await service.memories.supersede(BANK, old.record.id, new.record.id)
    assert await texts(service, "the vault code", mode=mode) == ["the vault code is kestrel"]
    seen = await texts(service, "the vault code", mode=mode, include_superseded=True)
    assert sorted(seen) == ["the vault code is kestrel", "the vault code is osprey"]


async def test_d50_deleting_counts_what_was_there(launch: Launch) -> None:
    service = await launch()
    real = await save(service, "User is left-handed")
    result = await service.memories.delete(BANK, [real.record.id, "mem-0000000000000000"])
    assert (result.deleted, result.not_found) == ((real.record.id,), ("mem-0000000000000000",))
    again = await service.memories.delete(BANK, [real.record.id])
    assert (again.deleted, again.not_found) == ((), (real.record.id,))


async def test_i12_history_keeps_every_state(launch: Launch) -> None:
    service = await launch()
    memory = await save(service, "User drives a van")
    await service.memories.amend(BANK, memory.record.id, {"pinned": True})
    await service.memories.amend(BANK, memory.record.id, {"content": "User drives a bus"})
    await service.memories.delete(BANK, [memory.record.id])
    history = await service.memories.history(BANK, memory.record.id)
    assert [item.change for item in history] == ["created", "updated", "updated", "deleted"]
    assert [item.body["content"] for item in history][1:3] == ["User drives a van", "User drives a bus"]
    back = await save(service, "User drives a bus")
    assert (back.record.id, back.record.revision, back.record.is_active) == (memory.record.id, 5, True)


async def test_i13_a_pinned_memory_is_not_retired_by_another(launch: Launch) -> None:
    service = await launch()
    pinned = await save(service, "User is called Noor", pinned=True)
    other = await save(service, "User is called Nora")
    with pytest.raises(Conflict, match="pinned"):
        await service.memories.supersede(BANK, pinned.record.id, other.record.id)


async def test_o13_raw_input_has_a_limit_in_bytes(launch: Launch) -> None:
    service = await launch()
    fits = "ß" * 2048
    saved = await service.memories.save(BANK, [NewMemory(raw_input=fits)], lambda _: "")
    assert saved[0].memory.raw_input == fits
    with pytest.raises(TooLarge) as caught:
        await service.memories.save(BANK, [NewMemory(raw_input=fits + "ß")], lambda _: "")
    assert caught.value.fields[0].field == "raw_input"


async def test_o38_free_text_without_a_model_is_kept_as_it_is(launch: Launch) -> None:
    service = await launch()
    text = "I went to see the doctor about my knee and she told me to swim twice a week"
    memory = (await service.memories.save(BANK, [NewMemory(raw_input=text)], lambda _: ""))[0].memory
    assert (memory.record.text, memory.record.category, memory.record.confidence) == (text, "general", 0.5)
    assert len(memory.summary) <= 49
    assert text.startswith(memory.summary.rstrip("…").rstrip())


async def test_bad_fields_are_all_named_and_nothing_is_stored(launch: Launch) -> None:
    service = await launch()
    bad = NewMemory(content="ok then", category="mood", confidence=1.5, tags=["", "x" * 300])
    with pytest.raises(InvalidInput) as caught:
        await service.memories.save(BANK, [NewMemory(content="fine text"), bad], lambda place: f"memories[{place}].")
    assert {fault.field for fault in caught.value.fields} == {
        "memories[1].category",
        "memories[1].confidence",
        "memories[1].tags[0]",
        "memories[1].tags[1]",
    }
    with pytest.raises(NotFound):
        await service.banks.get(BANK)


async def test_a_key_belongs_to_one_live_memory(launch: Launch) -> None:
    service = await launch()
    first = await save(service, "staging listens on 8080", key="staging")
    with pytest.raises(Conflict, match=first.record.id):
        await save(service, "staging listens on 9090", key="staging")
    await service.memories.delete(BANK, [first.record.id])
    second = await save(service, "staging listens on 9090", key="staging")
    assert second.key == "staging"
