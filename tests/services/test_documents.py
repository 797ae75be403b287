"""
Long-term documents: revisions that never lose a word, appends that all arrive, and passages that are recalled.
"""

import asyncio
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from sqlalchemy import Connection, select

from app.clock import FrozenClock
from app.config import StorageSettings
from app.domain.documents.appending import DailyCategory
from app.domain.documents.model import Change
from app.domain.documents.paths import WELL_KNOWN
from app.errors import Conflict, InvalidInput, NotFound, PreconditionFailed, TooLarge
from app.services.documents import ABSENT, ANY
from app.storage import banks as bank_rows
from app.storage import migrate
from app.storage.engine import Storage
from app.storage.tables import metadata, outbox
from tests.services.asking import BANK, ask, save, texts
from tests.services.conftest import NOW, Launch
from tests.services.documents_seen import ANA, content, found, totals_agree

DAILY = "daily/2026-06-30.md"


class TestWriting:
    async def test_b17_the_well_known_documents_are_kept_and_recalled(self, launch: Launch) -> None:
        service = await launch()
        for number, path in enumerate(WELL_KNOWN):
            await service.documents.put(BANK, path, f"# Notes\n\nThe codeword is quince{number}\n")
        items, total = await service.documents.page(BANK, 3, 1)
        assert ([item.path for item in items], total) == (sorted(WELL_KNOWN)[1:4], 5)
        assert [metadata["path"] for _, metadata in await found(service, "quince3")] == [WELL_KNOWN[3]]

    async def test_the_same_content_again_changes_nothing(self, launch: Launch) -> None:
        service = await launch()
        first = await service.documents.put(BANK, "USER.md", ANA)
        before = await service.banks.get(BANK)
        again = await service.documents.put(BANK, "USER.md", ANA)
        assert (first.change, again.change, again.document) == (Change.CREATED, None, first.document)
        assert await service.banks.get(BANK) == before

    async def test_any_text_is_kept_to_the_letter(self, launch: Launch) -> None:
        service = await launch()
        odd = "\ufeff# T\r\n\r\n```\r\n# no\n\x0b\u2028 猫 👩‍👩‍👧\ttail  "
        await service.documents.put(BANK, "USER.md", odd)
        assert await content(service) == odd
        await service.documents.put(BANK, "USER.md", "a\x00b\ud800c")
        assert await content(service) == "a\ufffdb\ufffdc"

    async def test_of_two_writers_that_saw_the_same_revision_one_is_refused(self, launch: Launch) -> None:
        service = await launch()
        await service.documents.put(BANK, "USER.md", "one")
        results = await asyncio.gather(
            *(service.documents.put(BANK, "USER.md", text, 1) for text in ("two", "three")), return_exceptions=True
        )
        refused = [item for item in results if isinstance(item, PreconditionFailed)]
        assert len(refused) == 1
        assert (await service.documents.get(BANK, "USER.md")).revision == 2

    async def test_a_revision_can_be_expected_to_be_none_or_any(self, launch: Launch) -> None:
        service = await launch()
        with pytest.raises(PreconditionFailed):
            await service.documents.put(BANK, "USER.md", "one", ANY)
        await service.documents.put(BANK, "USER.md", "one", ABSENT)
        with pytest.raises(PreconditionFailed):
            await service.documents.put(BANK, "USER.md", "two", ABSENT)
        assert (await service.documents.put(BANK, "USER.md", "two", ANY)).document.revision == 2
        with pytest.raises(PreconditionFailed):
            await service.documents.delete(BANK, "USER.md", 1)
        assert (await service.documents.delete(BANK, "USER.md", 2)).change is Change.DELETED

    async def test_a_document_beyond_its_size_is_refused_whole(self, launch: Launch) -> None:
        service = await launch(documents={"max_bytes": 1024, "passages_max": 3})
        await service.documents.put(BANK, "USER.md", "é" * 512)
        for act in (
            service.documents.put(BANK, "USER.md", "é" * 512 + "x"),
            service.documents.append(BANK, "USER.md", "x"),
            service.documents.put(BANK, "MEMORY.md", "# A\na\n# B\nb\n# C\nc\n# D\nd\n"),
        ):
            with pytest.raises(TooLarge):
                await act
        assert (await service.documents.get(BANK, "USER.md")).revision == 1
        assert (await service.documents.page(BANK, 10, 0))[1] == 1

    async def test_what_cannot_be_named_is_not_stored(self, launch: Launch) -> None:
        service = await launch()
        for path in ("../a.md", "a.txt"):
            for act in (
                service.documents.put(BANK, path, "x"),
                service.documents.append(BANK, path, "x"),
                service.documents.get(BANK, path),
                service.documents.delete(BANK, path),
                service.documents.history(BANK, path, 10, 0),
            ):
                with pytest.raises(InvalidInput):
                    await act
        with pytest.raises(NotFound):
            await service.banks.get(BANK)

    async def test_a_bank_in_the_trash_takes_no_document(self, launch: Launch) -> None:
        service = await launch()
        await service.documents.put(BANK, "USER.md", ANA)
        await service.banks.trash(BANK)
        with pytest.raises(Conflict):
            await service.documents.append(BANK, "USER.md", "more")
        with pytest.raises(NotFound):
            await service.documents.get(BANK, "USER.md")
        await service.banks.restore(BANK)
        assert await content(service) == ANA


class TestAppending:
    async def test_t004_twenty_parallel_appends_are_all_there(self, launch: Launch) -> None:
        service = await launch()
        await asyncio.gather(
            *(service.documents.append(BANK, "MEMORY.md", f"- fact number n{number}n") for number in range(20))
        )
        text = await content(service, "MEMORY.md")
        assert all(text.count(f"n{number}n") == 1 for number in range(20))
        assert (await service.documents.get(BANK, "MEMORY.md")).revision == 20
        assert await service.storage.read(totals_agree)

    async def test_t004_t007_appends_of_two_processes_on_one_file_are_all_there(self, launch: Launch) -> None:
        services = [await launch(), await launch()]
        await asyncio.gather(
            *(
                services[number % 2].documents.append(BANK, "MEMORY.md", f"fact n{number}n", "Facts")
                for number in range(20)
            )
        )
        for service in services:
            text = await content(service, "MEMORY.md")
            assert all(text.count(f"n{number}n") == 1 for number in range(20))
            assert (await service.documents.get(BANK, "MEMORY.md")).revision == 20
            assert len(await texts(service, "fact", limit=50)) == 20
        assert await services[0].storage.read(totals_agree)

    async def test_t005_consolidating_twice_a_day_keeps_the_first_sections(self, launch: Launch) -> None:
        clock = FrozenClock(NOW)
        service = await launch(clock=clock)
        await service.documents.append(BANK, DAILY, "Summary of the morning", "consolidation")
        clock.moment += timedelta(hours=6)
        await service.documents.append(BANK, DAILY, "Summary of the evening", "consolidation")
        text = await content(service, DAILY)
        assert text == (
            "# 2026-06-30\n\n## 12:00 - Consolidation\n\nSummary of the morning\n\n"
            "## 18:00 - Consolidation\n\nSummary of the evening\n"
        )
        with pytest.raises(Conflict):
            await service.documents.put(BANK, DAILY, "# 2026-06-30\n\nOnly the evening\n")
        assert await content(service, DAILY) == text
        grown = await service.documents.put(BANK, DAILY, text + "\nAnd a line by hand\n")
        assert (grown.change, grown.document.revision) == (Change.APPENDED, 3)

    async def test_t022_a_flush_that_repeats_the_document_duplicates_no_section(self, launch: Launch) -> None:
        service = await launch()
        await service.documents.put(BANK, "USER.md", ANA)
        rewrite = f"{ANA}\n## Pets\n\nMiso, a cat\n"
        await service.documents.append(BANK, "USER.md", rewrite, only_new=True)
        text = await content(service)
        assert text == rewrite
        unchanged = await service.documents.append(BANK, "USER.md", rewrite, only_new=True)
        assert (unchanged.change, unchanged.document.revision) == (None, 2)

    async def test_a_request_that_comes_again_is_not_done_again(self, launch: Launch) -> None:
        service = await launch()
        for _ in range(3):
            written = await service.documents.append(BANK, "MEMORY.md", "once", request_key="job-1/3")
            assert written.change is Change.CREATED
        await service.documents.append(BANK, "MEMORY.md", "once", request_key="job-2/1")
        assert await content(service, "MEMORY.md") == "once\n\nonce\n"

    async def test_b29_an_event_is_logged_with_the_change_it_tells_of(self, launch: Launch) -> None:
        service = await launch(documents={"time_zone": "Europe/Berlin"}, clock=FrozenClock(NOW.replace(hour=23)))
        await save(service, "something to begin with")

        def work(connection: Connection, *, fail: bool) -> None:
            opened = bank_rows.require(connection, BANK)
            service.documents.log_within(connection, opened, "20 entries", DailyCategory.CONSOLIDATION)
            there = datetime(2026, 5, 1, 19, 0, tzinfo=timezone(timedelta(hours=-5)))
            service.documents.log_within(connection, opened, "Adopted a cat", DailyCategory.SYSTEM, there)
            if fail:
                raise LookupError("the change itself")

        with pytest.raises(LookupError):
            await service.storage.write(lambda connection: work(connection, fail=True))
        assert (await service.documents.page(BANK, 10, 0))[1] == 0
        await service.storage.write(lambda connection: work(connection, fail=False))
        assert "## 01:00 - Consolidation\n\n20 entries\n" in await content(service, "daily/2026-07-01.md")
        assert "## 19:00 - System\n" in await content(service, "daily/2026-05-01.md")
        assert await texts(service, "adopted cat", limit=1) == ["2026-05-01 > 19:00 - System\nAdopted a cat"]

    async def test_a_passage_of_a_daily_log_happened_when_its_heading_says(self, launch: Launch) -> None:
        service = await launch(documents={"time_zone": "America/New_York"})
        await service.documents.put(BANK, "daily/2026-01-05.md", "# Day\n\n## 08:30 - Research\n\nRead about herons\n")
        (item,) = (await ask(service, "herons")).results
        assert item.record.occurred_at == datetime(2026, 1, 5, 13, 30, tzinfo=UTC)


class TestHistory:
    async def test_every_state_is_kept_whole(self, launch: Launch) -> None:
        clock = FrozenClock(NOW)
        service = await launch(clock=clock)
        documents = service.documents
        await documents.put(BANK, "USER.md", "one\n")
        clock.moment += timedelta(hours=1)
        await documents.append(BANK, "USER.md", "two", reason="reflection")
        await documents.append(BANK, "USER.md", "three")
        await documents.put(BANK, "USER.md", "new\n")
        await documents.append(BANK, "USER.md", "four")
        await documents.delete(BANK, "USER.md", reason="no longer true")
        with pytest.raises(NotFound):
            await documents.get(BANK, "USER.md")
        with pytest.raises(NotFound):
            await documents.delete(BANK, "USER.md")
        again = await documents.append(BANK, "USER.md", "back")
        assert (again.change, again.document.revision) == (Change.CREATED, 7)
        states, total = await documents.history(BANK, "USER.md", 10, 0)
        assert total == 7
        assert [(state.revision, state.change, state.content, state.reason) for state in states] == [
            (1, "created", "one\n", None),
            (2, "appended", "one\n\ntwo\n", "reflection"),
            (3, "appended", "one\n\ntwo\n\nthree\n", None),
            (4, "replaced", "new\n", None),
            (5, "appended", "new\n\nfour\n", None),
            (6, "deleted", "", "no longer true"),
            (7, "created", "back\n", None),
        ]
        assert states[1].changed_at - states[0].changed_at == timedelta(hours=1)
        for offset in range(8):
            page, _ = await documents.history(BANK, "USER.md", 2, offset)
            assert page == states[offset : offset + 2]

    async def test_a_page_of_history_holds_no_more_than_a_document_may(self, launch: Launch) -> None:
        service = await launch(documents={"max_bytes": 1024})
        for sign in "abc":
            await service.documents.put(BANK, "USER.md", sign * 500)
        await service.documents.put(BANK, "USER.md", "d" * 1024)
        states, total = await service.documents.history(BANK, "USER.md", 10, 0)
        assert ([state.revision for state in states], total) == ([1, 2], 4)
        states, _ = await service.documents.history(BANK, "USER.md", 10, 3)
        assert [state.revision for state in states] == [4]

    async def test_a_document_that_never_was_has_no_history(self, launch: Launch) -> None:
        service = await launch()
        await service.documents.put(BANK, "USER.md", "x")
        with pytest.raises(NotFound):
            await service.documents.history(BANK, "WORLD.md", 10, 0)


class TestRules:
    async def test_i37_a_rule_is_listed_whole_and_removed_by_empty_content(self, launch: Launch) -> None:
        service = await launch()
        await service.documents.put(BANK, "rules/style.md", "# Style\n\nNever begin with zanzibar\n")
        await service.documents.put(BANK, "rules/learned.md", "- Be brief\n")
        for path in ("USER.md", "Rules/style.md", "rules.md", "rules0/a.md"):
            await service.documents.put(BANK, path, ANA)
        rules = await service.documents.rules(BANK)
        assert [(rule.path, rule.revision) for rule in rules] == [("rules/style.md", 1), ("rules/learned.md", 1)]
        assert rules[0].content == "# Style\n\nNever begin with zanzibar\n"
        assert await found(service, "zanzibar") == []
        removed = await service.documents.put(BANK, "rules/style.md", " \n")
        assert removed.change is Change.DELETED
        assert [rule.path for rule in await service.documents.rules(BANK)] == ["rules/learned.md"]
        with pytest.raises(NotFound):
            await service.documents.put(BANK, "rules/style.md", "")
        assert len((await service.documents.history(BANK, "rules/style.md", 10, 0))[0]) == 2


async def test_i40_i41_each_change_is_told_with_its_reason(launch: Launch) -> None:
    service = await launch()
    await service.documents.put(BANK, "USER.md", "likes tea")
    ((tea, _),) = await found(service, "tea")
    await service.documents.put(BANK, "USER.md", "likes coffee", reason="changed her mind")
    ((coffee, _),) = await found(service, "coffee")
    await service.documents.put(BANK, "rules/style.md", "Be brief")

    def work(connection: Connection) -> list[tuple[Any, ...]]:
        columns = outbox.c
        rows = connection.execute(
            select(columns.kind, columns.event_type, columns.record_id, columns.reason).order_by(columns.event_id)
        )
        return [tuple(row) for row in rows]

    told = "USER.md replaced: changed her mind"
    assert await service.storage.read(work) == [
        ("bank-changed", "created", None, None),
        ("item-changed", "created", tea, "USER.md created"),
        ("bank-changed", "document-changed", None, "USER.md created"),
        ("item-changed", "deleted", tea, told),
        ("item-changed", "created", coffee, told),
        ("bank-changed", "document-changed", None, told),
        ("bank-changed", "rules-changed", None, "rules/style.md created"),
    ]


async def test_a_database_without_documents_is_brought_up_to_date(launch: Launch, tmp_path: Path) -> None:
    storage = Storage(StorageSettings(data_dir=tmp_path / "data"))
    with storage.writer_engine.begin() as connection:
        command.upgrade(migrate.alembic_config(connection), "0001")
        # In words of its own: the tables as they are now have columns that this database has not.
        connection.exec_driver_sql(
            "INSERT INTO bank (name, description, settings, revision, version, epoch, next_seq, live_units, live_terms,"
            " total_accesses, created_at, updated_at) VALUES ('old', '', '{}', 0, 0, 0, 1, 0, 0, 0, 0, 0)"
        )
    storage.close()
    service = await launch()
    assert (await service.banks.get("old")).name == "old"
    await service.documents.put("old", "USER.md", ANA)
    assert await texts(service, "oat milk", bank="old") == ["Ana > Food\nLikes oat milk"]

    def differences(connection: Connection) -> list[Any]:
        context = MigrationContext.configure(connection, opts={"compare_type": True})
        return list(compare_metadata(context, metadata))

    assert await service.storage.read(differences) == []
    shape = await service.storage.read(
        lambda connection: connection.exec_driver_sql(
            "SELECT sql FROM sqlite_master WHERE name IN ('document', 'document_revision', 'passage')"
        ).all()
    )
    assert len(shape) == 3
    assert all("WITHOUT ROWID" in row[0] and "ON DELETE CASCADE" in row[0] for row in shape)
