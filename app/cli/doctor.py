"""
`lamina doctor`: examines each part of the service, and saves, recalls and erases once.
"""

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from app.cli.faults import FAULT
from app.cli.options import ApiKey, AsJson, Data, Url
from app.cli.output import emit, show

if TYPE_CHECKING:
    from app.api.schemas.operations import DoctorOut

STYLES = {"ok": "green", "degraded": "yellow", "failed": "red"}


def doctor(data: Data = None, url: Url = None, api_key: ApiKey = None, as_json: AsJson = False) -> None:
    """
    Examine each part by name; ends with 1 when one failed.
    """
    report = asyncio.run(_examine(data, url, api_key))
    if as_json:
        emit(report)
    else:
        _show(report)
    if not report.ok:
        raise typer.Exit(FAULT)


async def _examine(data: Path | None, url: str | None, api_key: str | None) -> "DoctorOut":
    from app.cli.session import service

    async with service(data, url, api_key, must_exist=False) as target:
        return await target.doctor()


def _show(report: "DoctorOut") -> None:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table
    from rich.text import Text

    table = Table("Part", "State", "Ms", "Detail", box=SIMPLE_HEAD, pad_edge=False)
    for check in report.checks:
        took = "" if check.ms is None else f"{check.ms:.1f}"
        table.add_row(Text(check.name), Text(check.state, style=STYLES[check.state]), took, Text(check.detail))
    show(table)
