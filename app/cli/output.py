"""
Writing answers: one JSON document, or text and tables for a person.
"""

import os
import sys
import unicodedata
from collections.abc import Iterable
from datetime import datetime
from typing import TYPE_CHECKING, Any

import typer

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.progress import Progress

BAR_CELLS = 10
PAPER_WIDTH = 120


def emit(document: Any) -> None:
    """
    Print a document as JSON, on one line. Times, paths and structs are written as the HTTP API writes them.
    """
    import msgspec

    typer.echo(msgspec.json.encode(document, enc_hook=str))


def show(*items: "RenderableType") -> None:
    """
    Print text and tables for a person.
    """
    from rich.text import Text

    console = _console(to_stderr=False)
    for item in items:
        console.print(item, soft_wrap=isinstance(item, Text))


def note(message: str, style: str = "dim") -> None:
    """
    Say something beside the answer, on standard error.
    """
    from rich.text import Text

    _console(to_stderr=True).print(Text(message, style=style), soft_wrap=True)


def note_degraded(reasons: Iterable[str]) -> None:
    """
    Say what an answer had to do without.
    """
    for reason in reasons:
        note(f"degraded: {reason}", "yellow")


def show_beside(item: "RenderableType") -> None:
    """
    Print a table beside the answer, on standard error.
    """
    _console(to_stderr=True).print(item)


def progress() -> "Progress":
    """
    A progress bar on standard error, which leaves standard output to the answer.
    """
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        TaskProgressColumn(),
        TimeRemainingColumn(),
        console=_console(to_stderr=True),
    )


def bar(share: float) -> str:
    """
    A share in [0, 1] as a bar; what lies outside counts as the nearest end.
    """
    filled = round(min(1.0, max(0.0, share)) * BAR_CELLS)
    return "█" * filled + "░" * (BAR_CELLS - filled)


def moment(value: datetime) -> str:
    """
    A time as a person reads it, to the minute, with the offset it was said at.
    """
    offset = value.strftime("%z")
    shown = value.strftime("%Y-%m-%d %H:%M")
    return shown if offset == "+0000" else f"{shown} {offset[:3]}:{offset[3:]}"


def printable(text: str) -> str:
    """
    Stored text without the control characters by which it could rule a terminal; line ends and tabs stay.
    """
    return "".join("�" if unicodedata.category(sign) == "Cc" and sign not in "\n\t" else sign for sign in text)


def write_text(text: str) -> None:
    """
    Print a text exactly as it is; on a terminal, without control characters.
    """
    typer.echo(printable(text) if sys.stdout.isatty() else text)


def _console(*, to_stderr: bool) -> "Console":
    from rich.console import Console

    console = Console(stderr=to_stderr, highlight=False)
    # Where nothing says how wide the paper is, a table need not be as narrow as the smallest terminal.
    return (
        console
        if console.is_terminal or "COLUMNS" in os.environ
        else Console(stderr=to_stderr, highlight=False, width=PAPER_WIDTH)
    )
