"""
The store: many threads, a backup while it is in use, and what it says when it cannot be used.
"""

import asyncio
import sqlite3
import threading
from collections.abc import Callable
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import pytest
from sqlalchemy import Connection, insert, select
from sqlalchemy.exc import OperationalError

from app.config import StorageSettings
from app.errors import StorageError
from app.storage import driver, migrate
from app.storage.engine import DATABASE_NAME, Storage
from app.storage.tables import meta


@pytest.fixture
def storage(tmp_path: Path) -> Storage:
    made = Storage(StorageSettings(data_dir=tmp_path))
    migrate.upgrade(made.writer_engine)
    return made


def add(name: str, connection: Connection) -> None:
    connection.execute(insert(meta).values(name=name, value=""))


def adding(name: str) -> Callable[[Connection], None]:
    return partial(add, name)


def names(connection: Connection) -> set[str]:
    return set(connection.execute(select(meta.c.name)).scalars())


async def test_t064_any_thread_and_any_task_may_use_it(storage: Storage) -> None:
    await asyncio.gather(*(storage.write(adding(f"task {number}")) for number in range(50)))
    workers = [threading.Thread(target=storage.write_now, args=(adding(f"thread {number}"),)) for number in range(10)]
    for worker in workers:
        worker.start()
    seen = await asyncio.gather(*(storage.read(names) for _ in range(20)))
    for worker in workers:
        worker.join()
    assert all(len(found) >= 50 for found in seen)
    assert len(storage.read_now(names)) == 60
    storage.close()


async def test_t067_a_backup_taken_while_serving_holds_what_was_committed(storage: Storage, tmp_path: Path) -> None:
    await asyncio.gather(*(storage.write(adding(f"before {number}")) for number in range(20)))
    copying = asyncio.create_task(storage.backup(tmp_path / "copy" / "kept.db"))
    await asyncio.gather(*(storage.write(adding(f"during {number}")) for number in range(20)))
    await copying
    copy = sqlite3.connect(tmp_path / "copy" / "kept.db")
    kept = {row[0] for row in copy.execute("SELECT name FROM meta")}
    copy.close()
    assert {f"before {number}" for number in range(20)} <= kept
    assert len(storage.read_now(names)) == 40
    storage.close()


async def test_a_failed_unit_of_work_leaves_nothing(storage: Storage) -> None:
    def work(connection: Connection) -> None:
        add("half", connection)
        raise ValueError("and then it broke")

    with pytest.raises(ValueError, match="broke"):
        await storage.write(work)
    assert await storage.read(names) == set()
    storage.close()


async def test_a_reader_cannot_write(storage: Storage) -> None:
    with pytest.raises(OperationalError, match="readonly"):
        await storage.read(lambda connection: add("sneaked in", connection))
    storage.close()


def test_i11_o11_a_directory_that_cannot_be_written_stops_the_start(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("in the way")
    with pytest.raises(StorageError, match="cannot be written"):
        Storage(StorageSettings(data_dir=blocked / "data"))


def test_a_file_that_is_no_database_stops_the_start(tmp_path: Path) -> None:
    (tmp_path / DATABASE_NAME).write_bytes(b"this is no database" * 100)
    with pytest.raises(StorageError, match="cannot be opened"):
        Storage(StorageSettings(data_dir=tmp_path))


def test_a_database_of_a_newer_version_stops_the_start(storage: Storage) -> None:
    storage.write_now(lambda connection: connection.exec_driver_sql("UPDATE alembic_version SET version_num='9999'"))
    with pytest.raises(StorageError, match="newer"):
        migrate.upgrade(storage.writer_engine)
    storage.close()


def test_t052_a_build_without_extensions_is_named() -> None:
    assert "loads no extensions" in (driver.load_vector_extension(SimpleNamespace()) or "")


def test_the_driver_has_a_safe_write_ahead_log() -> None:
    assert driver.choose_driver().safe_wal


def test_the_migrations_lead_to_the_tables(storage: Storage) -> None:
    assert migrate.pending_changes(storage.writer_engine) == []
    storage.close()
