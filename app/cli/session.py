"""
What a command works with: the settings, and the memory service on a data directory or behind an address.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from app.errors import NotFound

if TYPE_CHECKING:
    from app.bootstrap import Container
    from app.cli.service import Service
    from app.config import Settings

QUIET = ("warning", "error")


def overrides_of(data: Path | None) -> dict[str, Any]:
    """
    What an option `--data` changes of the settings.
    """
    return {} if data is None else {"storage": {"data_dir": data}}


def settings_of(data: Path | None) -> "Settings":
    """
    The settings of a command, with its log lines set up: warnings and worse, for a person, on standard error.

    Raises:
        ConfigError: when the configuration cannot be used.
    """
    from app.config import LogSettings, load_settings
    from app.telemetry import logging

    settings = load_settings(**overrides_of(data))
    level = settings.log.level if settings.log.level in QUIET else "warning"
    logging.configure(LogSettings(level=level, format="console"))
    return settings


def database_of(settings: "Settings") -> Path:
    """
    The database file in the data directory.

    Raises:
        NotFound: when there is none; a command that only reads makes none.
    """
    from app.storage.engine import DATABASE_NAME

    path = settings.storage.data_dir / DATABASE_NAME
    if not path.is_file():
        raise NotFound(
            f"storage.data_dir: there is no database in {settings.storage.data_dir}; name another with --data, or "
            "begin one with `lamina remember`, `lamina import` or `lamina serve`"
        )
    return path


@asynccontextmanager
async def container(settings: "Settings", *, must_exist: bool, embedding: bool = True) -> AsyncIterator["Container"]:
    """
    The service on the data directory of the settings, started and in the end stopped. Another process, such as a
    server, may work on the same directory. Without `embedding` no model is loaded.

    Raises:
        NotFound: when it must exist and does not.
        StorageError: when the directory or the database cannot be used.
    """
    if must_exist:
        database_of(settings)
    from app.bootstrap import build
    from app.providers.protocols import ProviderState

    built = build(settings, embedder=None if embedding else ProviderState("none", True, "not needed here"))
    try:
        await built.start()
        yield built
    finally:
        await built.stop()


@asynccontextmanager
async def service(
    data: Path | None, url: str | None, api_key: str | None, *, must_exist: bool
) -> AsyncIterator["Service"]:
    """
    The memory service: behind `url` where one is given, else on the data directory.

    Raises:
        NotFound: when the data directory must exist and does not.
        LaminaError: when the configuration or the store cannot be used.
    """
    if url is not None:
        from app.cli.remote import RemoteService, client

        async with client(url, api_key) as connection:
            yield RemoteService(connection)
        return
    from app.cli.local import LocalService

    async with container(settings_of(data), must_exist=must_exist) as built:
        yield LocalService(built)
