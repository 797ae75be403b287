"""
The command line: all commands under one name. Whatever is slow to import is imported by the command that needs it.
"""

from typing import Annotated

import typer

from app.cli.config import config
from app.cli.context import context
from app.cli.db import db
from app.cli.doctor import doctor
from app.cli.evaluate import evaluate
from app.cli.fake_model import fake_model
from app.cli.faults import ReportingGroup
from app.cli.importing import import_
from app.cli.keys import keys
from app.cli.models import models
from app.cli.recall import recall
from app.cli.remember import remember
from app.cli.serve import serve
from app.cli.worker import worker

app = typer.Typer(
    name="lamina",
    cls=ReportingGroup,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    help="Memory for chat bots and agents: store what was said, recall what matters, within a token budget.",
)

OWN_ARGUMENTS = {
    "allow_extra_args": True,
    "ignore_unknown_options": True,
    "allow_interspersed_args": False,
    "help_option_names": [],
}
"""Of a command whose arguments are read by another application, `--help` included."""


def _show_version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        typer.echo(version("lamina"))
        raise typer.Exit


@app.callback()
def lamina(
    version: Annotated[
        bool, typer.Option("--version", help="Print the version and end.", callback=_show_version, is_eager=True)
    ] = False,
) -> None:
    """
    Memory for chat bots and agents: store what was said, recall what matters, within a token budget.
    """


app.command()(serve)
app.command()(worker)
app.command()(remember)
app.command()(recall)
app.command()(context)
app.command("import")(import_)
app.command("eval", context_settings=OWN_ARGUMENTS, add_help_option=False)(evaluate)
app.command()(doctor)
app.command("fake-model")(fake_model)
app.add_typer(models, name="models")
app.add_typer(db, name="db")
app.add_typer(keys, name="keys")
app.add_typer(config, name="config")


def main() -> None:
    """
    Run the command that the arguments name.
    """
    app()
