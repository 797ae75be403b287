"""
The passages of documents: recalled with their titles, kept as long as they say the same, gone with their text.
"""

import pytest
from sqlalchemy import Connection, func, select

from app.services.remember import NewEntry
from app.storage.tables import metadata, passage, posting, record, unit, vector, vector_job
from tests.services.asking import BANK, ask, save, texts
from tests.services.conftest import Launch
from tests.services.documents_seen import ANA, found, totals_agree
from tests.stand_ins import WordEmbedder


async def test_a_passage_is_recalled_with_the_titles_above_it(launch: Launch) -> None:
    service = await launch()
    await service.documents.put(BANK, "USER.md", ANA)
    (item,) = (await ask(service, "oat milk")).results
    assert item.text == "Ana > Food\nLikes oat milk"
    assert item.record.id.startswith("doc-")
    assert item.record.tier == "document"
    assert item.record.metadata == {"path": "USER.md", "heading": ["Ana", "Food"], "lines": [5, 5]}
    assert await texts(service, "food") == ["Ana > Food\nLikes oat milk"]
    assert await texts(service, "nurse", metadata={"path": "WORLD.md"}) == []


async def test_t002_a_transcript_of_three_megabytes_is_recalled_to_its_last_page(launch: Launch) -> None:
    service = await launch()
    filler = "Ana: we talked about the weather, the garden and the long way home from work again.\n"
    facts = ["Ben: the tortoise is called Agathe.", "Ben: my locker is 4711.", "Ben: the piano moves to Lisbon."]
    block = filler * (1_500_000 // len(filler))
    text = "\n".join([facts[0], block + facts[1], block + facts[2]])
    assert len(text) > 2_990_000
    stored = await service.documents.put(BANK, "transcripts/2026.md", text)
    assert (await service.documents.get(BANK, "transcripts/2026.md")).content == text
    lines = stored.document.content.count("\n") + 1
    for query, fact, line in (
        ("tortoise Agathe", facts[0], 1),
        ("locker 4711", facts[1], lines // 2),
        ("piano Lisbon", facts[2], lines),
    ):
        (best,) = (await ask(service, query, limit=1)).results
        assert fact in best.text
        first, last = best.record.metadata["lines"]
        assert first - 20 <= line <= last + 20
    assert (await service.banks.stats(BANK)).records["document"] > 2500


@pytest.mark.parametrize("resident", [0, 64])
async def test_only_what_changed_is_indexed_anew(launch: Launch, resident: int) -> None:
    embedder = WordEmbedder()
    service = await launch(embedder, resident={"max_mb": resident})
    await service.documents.put(BANK, "USER.md", ANA)
    await service.indexer.drained()
    ((milk, _),) = await found(service, "oat milk", mode="lexical", record_access=True)
    await service.access_log.flush()
    ((nurse, _),) = await found(service, "nurse", mode="lexical")
    embedder.documents.clear()
    edited = f"---\nlang: en\n---\n{ANA}".replace("Nurse", "Doctor")
    await service.documents.put(BANK, "USER.md", edited)
    await service.indexer.drained()
    assert embedder.documents == ["---\nlang: en\n---", "Ana > Work\nDoctor in Pune"]
    (item,) = (await ask(service, "oat milk", mode="lexical")).results
    assert (item.record.id, item.record.access_count) == (milk, 1)
    assert item.record.metadata["lines"] == [8, 8]
    assert await found(service, "nurse", mode="lexical") == []
    assert nurse not in {name for name, _ in await found(service, "Ana > Work Nurse in Pune", mode="semantic")}
    assert len(await found(service, "Ana > Food Likes oat milk", mode="semantic", threshold=0.99)) == 1
    assert await service.storage.read(totals_agree)


async def test_the_same_words_twice_are_two_passages(launch: Launch) -> None:
    service = await launch()
    twice = "# Log\n\nherons\n\n# Log\n\nherons\n"
    await service.documents.put(BANK, "JOURNAL.md", twice)
    before = await found(service, "herons")
    await service.documents.put(BANK, "JOURNAL.md", f"intro\n\n{twice}")
    assert sorted(name for name, _ in before) == sorted(name for name, _ in await found(service, "herons"))
    await service.documents.put(BANK, "JOURNAL.md", "# Log\n\nherons\n")
    assert len(await found(service, "herons")) == 1


@pytest.mark.parametrize("resident", [0, 64])
async def test_a_deleted_document_leaves_every_index(launch: Launch, resident: int) -> None:
    service = await launch(WordEmbedder(), resident={"max_mb": resident})
    await service.documents.put(BANK, "USER.md", ANA)
    await service.documents.put(BANK, "WORLD.md", "Zanzibar quince")
    await service.indexer.drained()
    assert len(await found(service, "zanzibar")) == 1
    await service.documents.delete(BANK, "WORLD.md")
    assert await found(service, "zanzibar quince", mode="lexical") == []
    assert await found(service, "zanzibar quince", mode="semantic", threshold=0.9) == []
    assert await found(service, "", limit=1, metadata={"path": "WORLD.md"}) == []

    def left(connection: Connection) -> bool:
        alive = select(record.c.seq).where(record.c.invalid_at.is_(None))
        for table in (unit, posting, vector, vector_job, passage):
            assert not connection.execute(select(table.c.seq).where(table.c.seq.not_in(alive))).all()
        return any("anzibar" in text for text in connection.execute(select(record.c.text)).scalars())

    assert not await service.storage.read(left)
    assert await service.storage.read(totals_agree)
    stats = await service.banks.stats(BANK)
    assert (stats.records["document"], stats.superseded, stats.vectors) == (2, 0, 2)


@pytest.mark.parametrize("resident", [0, 64])
async def test_emptied_records_do_not_heap_up(launch: Launch, resident: int) -> None:
    service = await launch(resident={"max_mb": resident}, documents={"stale_passages_max": 3})
    await save(service, "herons are birds")
    for number in range(10):
        await service.documents.put(BANK, "WORLD.md", f"there are {number} herons")
        assert sorted(await texts(service, "herons")) == ["herons are birds", f"there are {number} herons"]
        stored = await service.storage.read(
            lambda connection: connection.execute(select(func.count()).select_from(record)).scalar_one()
        )
        assert stored <= 2 + 3
    assert await service.storage.read(totals_agree)


async def test_erasing_a_bank_erases_its_documents(launch: Launch) -> None:
    service = await launch()
    for name in (BANK, "other"):
        await service.documents.put(name, "USER.md", "Zanzibar quince")
        await service.documents.append(name, "USER.md", "more")
    await service.banks.erase(BANK)

    def rows(connection: Connection) -> dict[str, int]:
        return {
            name: connection.execute(select(func.count()).select_from(metadata.tables[name])).scalar_one()
            for name in ("document", "document_revision", "passage", "unit")
        }

    assert await service.storage.read(rows) == {"document": 1, "document_revision": 2, "passage": 1, "unit": 1}


async def test_t056_what_is_derived_is_found_by_an_exact_rare_word(launch: Launch) -> None:
    service = await launch()
    await service.documents.put(BANK, "LEARNING.md", "# Boats\n\n- Keels are heavy\n")
    await service.documents.append(BANK, "LEARNING.md", "- A xebec carries lateen sails", heading="Boats")
    await service.remember.entries(BANK, [NewEntry("We spoke of harbours. " * 400 + "Then of the zarzuela.")])
    for word, tier in (("xebec", "document"), ("zarzuela", "entry")):
        answer = await ask(service, word, mode="lexical")
        assert [(item.record.tier, word in item.text) for item in answer.results] == [(tier, True)]
