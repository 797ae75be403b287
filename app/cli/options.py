"""
Options that several commands share.
"""

from pathlib import Path
from typing import Annotated

import typer

from app.cli.faults import JSON_WANTED

API_KEY_ENV = "LAMINA_API_KEY"


def _note_json(ctx: typer.Context, value: bool) -> bool:
    ctx.meta[JSON_WANTED] = value
    return value


Data = Annotated[
    Path | None,
    typer.Option("--data", metavar="DIR", help="Data directory; by default the one of the configuration."),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON document, and nothing else.", callback=_note_json)]
Bank = Annotated[str, typer.Option("--bank", "-b", help="The bank.")]
Url = Annotated[
    str | None, typer.Option("--url", help="Ask the service at this address instead of the data directory.")
]
ApiKey = Annotated[
    str | None, typer.Option("--api-key", "--key", envvar=API_KEY_ENV, help="Access key for --url.", show_default=False)
]
ApiKeyBesideKey = Annotated[
    str | None, typer.Option("--api-key", envvar=API_KEY_ENV, help="Access key for --url.", show_default=False)
]
"""Of a command whose `--key` is something else."""
Session = Annotated[str | None, typer.Option("--session", help="One thread inside the bank.")]
From = Annotated[str | None, typer.Option("--source", help="Where it was said, such as a platform.")]
FromId = Annotated[str | None, typer.Option("--source-id", help="The contact or the channel there.")]
