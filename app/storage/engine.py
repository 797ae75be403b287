"""
The store: one writer thread and several reader threads on one SQLite file; a unit of work is one plain function.

A unit of work never awaits, so no provider can be called while the write lock is held, and the whole of it costs one
hop to another thread. Writes are serialised by the single writer and take the lock at once (`BEGIN IMMEDIATE`); reads
see one snapshot and cannot write.
"""

import asyncio
import os
import tempfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, TypeVar

import msgspec
from sqlalchemy import Connection, Engine, create_engine, event, text
from sqlalchemy.exc import DatabaseError, OperationalError

from app.config import StorageSettings
from app.errors import StorageError
from app.storage.driver import Driver, choose_driver, load_vector_extension

T = TypeVar("T")
Work = Callable[[Connection], T]

DATABASE_NAME = "lamina.db"
CHECKPOINT = "PRAGMA wal_checkpoint(TRUNCATE)"
# One 384-dimension vector must fit a page's local payload, a quarter of a page; else each read follows another page.
PAGE_SIZE = 8192


class Storage:
    """
    Runs units of work on the database in `settings.data_dir`.

    `degraded` names what the store has to do without: `vector_extension` (cosine is then computed here, exactly) or
    `write_ahead_log` (the rollback journal serves).
    """

    def __init__(self, settings: StorageSettings) -> None:
        self.settings = settings
        self.path = prepare_directory(settings.data_dir) / DATABASE_NAME
        self.driver: Driver = choose_driver()
        self.degraded: dict[str, str] = {}
        self.writes = 0  # committed by this process
        if not self.driver.safe_wal:
            version = ".".join(map(str, self.driver.version))
            self.degraded["write_ahead_log"] = (
                f"SQLite {version} has an unsafe write-ahead log; the rollback journal serves"
            )
        self._writer_engine = self._engine(writer=True)
        self._reader_engine = self._engine(writer=False)
        self._writer = ThreadPoolExecutor(1, thread_name_prefix="lamina-writer")
        self._readers = ThreadPoolExecutor(settings.readers, thread_name_prefix="lamina-reader")
        self._open()

    @property
    def has_vector_functions(self) -> bool:
        """
        Whether SQL can compare vectors.
        """
        return "vector_extension" not in self.degraded

    @property
    def writer_engine(self) -> Engine:
        """
        The engine that may write, for migrations.
        """
        return self._writer_engine

    async def read(self, work: Work[T]) -> T:
        """
        Run `work` on a read-only snapshot in a reader thread.
        """
        return await asyncio.get_running_loop().run_in_executor(self._readers, self.read_now, work)

    async def write(self, work: Work[T]) -> T:
        """
        Run `work` in one transaction in the writer thread; when this returns, it is committed.

        A caller that is cancelled does not undo work that has begun.
        """
        return await asyncio.get_running_loop().run_in_executor(self._writer, self.write_now, work)

    def read_now(self, work: Work[T]) -> T:
        """
        Run `work` on a read-only snapshot in this thread.
        """
        with self._reader_engine.begin() as connection:
            return work(connection)

    def write_now(self, work: Work[T]) -> T:
        """
        Run `work` in one transaction in this thread.
        """
        with self._writer_engine.begin() as connection:
            done = work(connection)
        self.writes += 1
        return done

    async def checkpoint(self) -> None:
        """
        Move the write-ahead log into the file and cut it, so that erased bytes are in neither.
        """
        await asyncio.get_running_loop().run_in_executor(self._writer, self._statements, CHECKPOINT)

    def _statements(self, *statements: str) -> None:
        # Outside a transaction, in which SQLite refuses them.
        raw = self._writer_engine.raw_connection()
        try:
            for statement in statements:
                raw.cursor().execute(statement).close()
        finally:
            raw.close()

    async def backup(self, target: Path) -> None:
        """
        Write a consistent copy of the database to `target`, while it goes on being used.

        Raises:
            StorageError: when the copy cannot be written, or there is a file of that name.
        """
        await asyncio.to_thread(self._backup_now, target)

    async def compact(self) -> None:
        """
        Give the space of erased rows back to the file system; needs as much free space as the database takes.
        """
        await asyncio.get_running_loop().run_in_executor(self._writer, self._statements, "VACUUM", CHECKPOINT)

    def _backup_now(self, target: Path) -> None:
        if target.exists():
            raise StorageError(f"{target} exists already")
        prepare_directory(target.parent)
        raw = self._reader_engine.raw_connection()
        source: Any = raw.driver_connection
        copy = self.driver.module.connect(str(target))
        try:
            source.backup(copy)
        except self.driver.module.Error as error:
            raise StorageError(f"{target} cannot be written: {error}") from error
        finally:
            copy.close()
            raw.close()

    def close(self) -> None:
        """
        Let running work end, then close every connection.
        """
        self._writer.shutdown(wait=True)
        self._readers.shutdown(wait=True)
        self._reader_engine.dispose()
        self._writer_engine.dispose()

    def _open(self) -> None:
        try:
            with self._writer_engine.begin() as connection:
                connection.execute(text("SELECT count(*) FROM sqlite_master"))
        except (OperationalError, DatabaseError) as error:
            raise StorageError(f"{self.path} cannot be opened as a SQLite database: {error.orig}") from error

    def _engine(self, *, writer: bool) -> Engine:
        engine = create_engine(
            f"sqlite+pysqlite:///{self.path}",
            module=self.driver.module,
            json_deserializer=msgspec.json.decode,
            connect_args={"isolation_level": None, "timeout": self.settings.busy_timeout_ms / 1000},
            pool_size=1 if writer else self.settings.readers + 2,
            max_overflow=0 if writer else 16,
        )
        event.listen(engine, "connect", lambda raw, _: self._prepare(raw, writer=writer))
        event.listen(engine, "begin", _begin_immediate if writer else _begin)
        return engine

    def _prepare(self, raw: Any, *, writer: bool) -> None:
        wanted = self.settings.vector_extension
        reason = load_vector_extension(raw) if wanted else "turned off by storage.vector_extension"
        if reason is not None:
            self.degraded["vector_extension"] = reason
        cache_kib = self.settings.cache_mb * 1024 // (1 if writer else 4)
        pragmas = [
            f"page_size = {PAGE_SIZE}",
            f"journal_mode = {'WAL' if self.driver.safe_wal else 'TRUNCATE'}",
            f"synchronous = {self.settings.synchronous}",
            "foreign_keys = ON",
            "secure_delete = ON",
            "temp_store = MEMORY",
            f"cache_size = -{cache_kib}",
        ]
        if not writer:
            pragmas.append("query_only = ON")
        cursor = raw.cursor()
        for pragma in pragmas:
            cursor.execute(f"PRAGMA {pragma}")
        cursor.close()


def prepare_directory(directory: Path) -> Path:
    """
    Make the data directory and prove that it can be written.

    Raises:
        StorageError: naming the directory, when it cannot be made or written.
    """
    try:
        directory.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=directory) as probe:
            probe.write(b"lamina")
            probe.flush()
            os.fsync(probe.fileno())
    except OSError as error:
        raise StorageError(f"data directory {directory} cannot be written: {error.strerror or error}") from error
    return directory


def _begin(connection: Connection) -> None:
    connection.exec_driver_sql("BEGIN")


def _begin_immediate(connection: Connection) -> None:
    connection.exec_driver_sql("BEGIN IMMEDIATE")
