"""
`lamina eval`: hands over to the evaluation, which needs libraries of its own.
"""

import typer

from app.cli.faults import JSON_WANTED, CommandFault

OWN_PACKAGES = ("app", "eval")


def evaluate(ctx: typer.Context) -> None:
    """
    Measure how good recall is on questions with known answers.
    """
    ctx.meta[JSON_WANTED] = "--json" in ctx.args
    try:
        from eval.cli import eval_app
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] in OWN_PACKAGES:
            raise
        message = f"{error.name} is not installed; `pip install 'lamina[eval]'` brings what the evaluation needs"
        raise CommandFault.of("eval", message) from error
    command = typer.main.get_command(eval_app)
    command.main(args=ctx.args, prog_name=ctx.command_path, standalone_mode=False)
