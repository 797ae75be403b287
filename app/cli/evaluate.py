"""
`lamina eval`: hands over to the evaluation, which has commands of its own and says itself what it is short of.
"""

import typer

from app.cli.faults import JSON_WANTED


def evaluate(ctx: typer.Context) -> None:
    """
    Measure how good recall is on questions with known answers.
    """
    from eval.cli import eval_app

    ctx.meta[JSON_WANTED] = "--json" in ctx.args
    command = typer.main.get_command(eval_app)
    code = command.main(args=ctx.args, prog_name=ctx.command_path, standalone_mode=False)
    if code:
        raise typer.Exit(code)
