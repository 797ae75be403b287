"""
`lamina import`: takes conversations over from files, each line under its own id.
"""

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from app.cli.faults import FAULT
from app.cli.options import AsJson, Data
from app.cli.output import emit, note, progress, show

if TYPE_CHECKING:
    from rich.progress import Progress

    from app.bootstrap import Container
    from app.cli.import_run import Imported

FALLBACK_BANK = "main"
BAD_LINES_SHOWN = 20
LOOK_EVERY_S = 0.2


def import_(
    path: Annotated[Path, typer.Argument(help="A file of JSON lines, or a directory of them.")],
    bank: Annotated[
        str | None,
        typer.Option("--bank", "-b", help="Put every line into this bank; by default into the one it names, or main."),
    ] = None,
    no_wait: Annotated[
        bool, typer.Option("--no-wait", help="Do not wait for vectors; words find the lines at once.")
    ] = False,
    data: Data = None,
    as_json: AsJson = False,
) -> None:
    """
    Import entries: id, bank, text, created_at, role, tags, meta in each line.

    An import that was cut off is simply run again: what is there already is known by its id. A bad line is named by its
    number and costs only itself; the command then ends with 1.
    """
    from app.cli.import_lines import files_of

    done, waiting = asyncio.run(_import(files_of(path), bank, data, wait=not no_wait))
    if as_json:
        emit({"created": done.created, "duplicates": done.duplicates, "bad": done.bad, "waiting_for_vectors": waiting})
    else:
        _show(done)
    if waiting:
        note(f"{waiting} texts still wait for their vectors; the service, or the next command, goes on with them")
    if done.bad:
        raise typer.Exit(FAULT)


async def _import(files: Sequence[Path], bank: str | None, data: Path | None, *, wait: bool) -> "tuple[Imported, int]":
    from app.cli.import_lines import read_lines
    from app.cli.import_run import run
    from app.cli.session import container, settings_of

    settings = settings_of(data)
    async with container(settings, must_exist=False, embedding=wait) as built:
        with progress() as bars:
            task = bars.add_task("storing", total=sum(file.stat().st_size for file in files))
            lines = (line for file in files for line in read_lines(file, FALLBACK_BANK, bank))
            done = await run(built.remember, lines, settings.server.batch_max, lambda size: bars.advance(task, size))
            waiting = await _watch_vectors(built, bars)
    return done, waiting


async def _watch_vectors(built: "Container", bars: "Progress") -> int:
    """Show how the indexer gets on until nothing waits, or it cannot go on; returns how many units wait then."""
    from app.cli.local import is_working, waiting

    state = await built.indexer.state()
    if not is_working(state):
        return waiting(built.settings, state)
    task = bars.add_task("vectors", total=state.waiting)
    total = state.waiting
    while is_working(state):
        await asyncio.sleep(LOOK_EVERY_S)
        state = await built.indexer.state()
        bars.update(task, completed=max(0, total - state.waiting))
    if state.problem is not None:
        note(f"vectors: {state.problem}", "yellow")
    return waiting(built.settings, state)


def _show(done: "Imported") -> None:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table
    from rich.text import Text

    table = Table("Bank", "New entries", box=SIMPLE_HEAD, pad_edge=False)
    for name, number in sorted(done.created.items()):
        table.add_row(Text(name), str(number))
    if done.created:
        show(table)
    show(Text(f"{sum(done.created.values())} new, {done.duplicates} known already, {len(done.bad)} bad"))
    for bad in done.bad[:BAD_LINES_SHOWN]:
        note(f"{bad.file}:{bad.line}: {bad.message}", "red")
    if len(done.bad) > BAD_LINES_SHOWN:
        note(f"and {len(done.bad) - BAD_LINES_SHOWN} more bad lines; --json names them all", "red")
