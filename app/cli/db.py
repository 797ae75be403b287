"""
`lamina db`: brings the database to the present schema, shows its state, checks, copies and compacts it.
"""

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from app.cli.faults import FAULT
from app.cli.options import AsJson, Data
from app.cli.output import emit, progress, show

if TYPE_CHECKING:
    from app.config import Settings
    from app.storage.engine import Storage

db = typer.Typer(no_args_is_help=True, help="The database: schema, state, integrity.")


@db.command()
def upgrade(data: Data = None, as_json: AsJson = False) -> None:
    """
    Bring the database to the schema of this version; makes it where there is none.
    """
    from app.cli.session import settings_of
    from app.storage import migrate

    storage = _opened(settings_of(data))
    try:
        before, after = migrate.upgrade(storage.writer_engine)
    finally:
        storage.close()
    if as_json:
        emit({"database": storage.path, "before": before, "after": after})
    elif before == after:
        _say(f"{storage.path} is at schema {after} already", "green")
    else:
        _say(f"{storage.path} brought from schema {before or 'none'} to {after}", "green")


@db.command()
def status(data: Data = None, as_json: AsJson = False) -> None:
    """
    Show where the database is, its size, its schema and its SQLite.
    """
    from app.cli.session import database_of, settings_of
    from app.storage import migrate

    settings = settings_of(data)
    database_of(settings)
    storage = _opened(settings)
    try:
        present = storage.read_now(migrate.current_revision)
    finally:
        storage.close()
    newest = migrate.newest_revision()
    found: dict[str, Any] = {
        "database": storage.path,
        "bytes": storage.path.stat().st_size,
        "schema": present,
        "newest_schema": newest,
        "current": present == newest,
        "sqlite": ".".join(map(str, storage.driver.version)),
        "degraded": storage.degraded,
    }
    if as_json:
        emit(found)
        return
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, show_header=False, pad_edge=False)
    for name, value in found.items():
        table.add_row(name, Text("none" if value in ({}, None) else str(value)))
    show(table)
    if present != newest:
        _say("`lamina db upgrade` brings it to the newest schema", "yellow")


@db.command()
def check(data: Data = None, as_json: AsJson = False) -> None:
    """
    Read the whole file and look for damage; ends with 1 when there is some.
    """
    from app.cli.session import database_of, settings_of
    from app.storage.integrity import damage

    settings = settings_of(data)
    database_of(settings)
    storage = _opened(settings)
    try:
        with progress() as bars:
            bars.add_task("reading every page", total=None)
            found = damage(storage)
    finally:
        storage.close()
    if as_json:
        emit({"database": storage.path, "ok": not found, "damage": found})
    elif not found:
        _say(f"{storage.path} is whole", "green")
    else:
        for line in found:
            _say(line, "red")
        _say("stop the service, keep a copy of the file, and restore a backup", "yellow")
    if found:
        raise typer.Exit(FAULT)


@db.command()
def backup(target: Annotated[Path, typer.Argument(metavar="FILE")], data: Data = None, as_json: AsJson = False) -> None:
    """
    Write a consistent copy of the database to FILE, also while a service uses it.
    """
    from app.cli.session import database_of, settings_of

    settings = settings_of(data)
    database_of(settings)
    storage = _opened(settings)
    try:
        asyncio.run(storage.backup(target))
    finally:
        storage.close()
    if as_json:
        emit({"database": storage.path, "backup": target, "bytes": target.stat().st_size})
    else:
        _say(f"{target} holds a copy of {storage.path}", "green")


@db.command()
def compact(data: Data = None, as_json: AsJson = False) -> None:
    """
    Give the space of erased records back to the file system; no service may be writing meanwhile.
    """
    from app.cli.session import database_of, settings_of

    settings = settings_of(data)
    database_of(settings)
    storage = _opened(settings)
    before = storage.path.stat().st_size
    try:
        asyncio.run(storage.compact())
    finally:
        storage.close()
    after = storage.path.stat().st_size
    if as_json:
        emit({"database": storage.path, "bytes_before": before, "bytes_after": after})
    else:
        _say(f"{storage.path} went from {before:,} to {after:,} bytes", "green")


def _opened(settings: "Settings") -> "Storage":
    from app.storage.engine import Storage

    return Storage(settings.storage)


def _say(line: str, style: str) -> None:
    from rich.text import Text

    show(Text(line, style=style))
