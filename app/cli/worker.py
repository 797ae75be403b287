"""
`lamina worker`: works the jobs of a data directory, beside a server or without one, until it is told to end.
"""

import asyncio
import os
import signal
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from app.cli.options import AsJson, Data
from app.cli.output import emit, note

if TYPE_CHECKING:
    from app.config import Settings


def worker(
    data: Data = None,
    once: Annotated[bool, typer.Option("--once", help="Work what is due now, then end.")] = False,
    as_json: AsJson = False,
) -> None:
    """
    Work the jobs of a data directory; several workers, and servers, may share it.
    """
    from app.config import load_settings
    from app.telemetry import logging

    settings = load_settings(**_overrides(data))
    logging.configure(settings.log)
    settled = asyncio.run(_work(settings, once=once, as_json=as_json))
    if as_json:
        emit({"settled": settled})
    else:
        note(f"ended; {settled} jobs settled")


def _overrides(data: Path | None) -> dict[str, dict[str, Path]]:
    return {} if data is None else {"storage": {"data_dir": data}}


async def _work(settings: "Settings", *, once: bool, as_json: bool) -> int:
    from app.bootstrap import build

    container = build(settings)
    ended = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, ended.set)
    work = container.background
    try:
        await container.start(working=False)
        if once:
            await work.schedule.tick()
            return await work.worker.run_due()
        work.start()
        if as_json:
            emit({"worker": work.worker.name, "data_dir": settings.storage.data_dir, "pid": os.getpid()})
        else:
            note(f"Working the jobs in {settings.storage.data_dir}; Ctrl-C ends it.", "bold green")
        await ended.wait()
        await work.stop()
        return work.worker.state.settled
    finally:
        await container.stop()
