"""
The one place that picks the SQLite build and brings the vector extension into a connection.
"""

import importlib
import sqlite3
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import sqlite_vec

# Builds from 3.7.0 to 3.51.2 can corrupt a database when the write-ahead log is reset under a reader.
SAFE_WAL_VERSION = (3, 51, 3)


@dataclass(frozen=True, slots=True)
class Driver:
    """
    The DB-API module in use, its SQLite version, and whether its write-ahead log is safe.
    """

    module: ModuleType
    version: tuple[int, ...]

    @property
    def safe_wal(self) -> bool:
        """
        Whether WAL may be used; else the rollback journal serves.
        """
        return self.version >= SAFE_WAL_VERSION


def choose_driver() -> Driver:
    """
    pysqlite3 (a current SQLite with extensions), or the interpreter's own sqlite3 where there is no such wheel.
    """
    try:
        module = importlib.import_module("pysqlite3.dbapi2")
    except ImportError:
        module = sqlite3
    return Driver(module, tuple(int(part) for part in module.sqlite_version.split(".")))


def load_vector_extension(connection: Any) -> str | None:
    """
    Load sqlite-vec into a DB-API connection; returns None when loaded, else why it could not be.
    """
    enable = getattr(connection, "enable_load_extension", None)
    if enable is None:
        return "this SQLite build loads no extensions"
    try:
        enable(True)
        try:
            sqlite_vec.load(connection)
        finally:
            enable(False)
    except Exception as error:  # noqa: BLE001 - each driver raises a class of its own; the reason is kept and shown
        return f"sqlite-vec could not be loaded: {error}"
    return None
