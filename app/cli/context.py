"""
`lamina context`: assembles a prompt section within a budget, and shows what each part of it cost.
"""

import asyncio
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from app.cli.options import ApiKey, AsJson, Bank, Data, From, FromId, Session, Url
from app.cli.output import emit, note, note_degraded, show_beside, write_text

if TYPE_CHECKING:
    from app.api.schemas.context import ContextIn, ContextOut


def context(
    query: Annotated[str, typer.Argument(help="The message that is to be answered.")],
    bank: Bank = "main",
    tokens: Annotated[int | None, typer.Option(help="Budget in tokens.")] = None,
    chars: Annotated[int | None, typer.Option(help="Budget in characters.")] = None,
    profile: Annotated[str | None, typer.Option(help="A context profile of the configuration.")] = None,
    model: Annotated[str | None, typer.Option(help="The model whose tokens are counted.")] = None,
    section: Annotated[
        list[str] | None, typer.Option(help="Only this section of the profile; may be repeated.")
    ] = None,
    session: Session = None,
    source: From = None,
    source_id: FromId = None,
    preview: Annotated[bool, typer.Option("--preview", help="Do not count this as a use of the records.")] = False,
    data: Data = None,
    url: Url = None,
    api_key: ApiKey = None,
    as_json: AsJson = False,
) -> None:
    """
    Print what to put into a prompt, and on standard error the bill of it.
    """
    if tokens is not None and chars is not None:
        raise typer.BadParameter("give --tokens or --chars, not both", param_hint="--chars")

    from app.api.schemas.context import BudgetIn, ContextIn

    wanted = ContextIn(
        query=query,
        profile=profile,
        budget=None if tokens is None and chars is None else BudgetIn(tokens=tokens, chars=chars),
        model=model,
        session_id=session,
        source=source,
        source_id=source_id,
        sections=section or None,
        preview=preview,
    )
    answer = asyncio.run(_assemble(bank, wanted, data, url, api_key))
    if as_json:
        emit(answer)
        return
    write_text(answer.text)
    _show_bill(answer)


async def _assemble(
    bank: str, wanted: "ContextIn", data: Path | None, url: str | None, api_key: str | None
) -> "ContextOut":
    from app.cli.session import service

    async with service(data, url, api_key, must_exist=True) as target:
        return await target.context(bank, wanted)


def _show_bill(answer: "ContextOut") -> None:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table
    from rich.text import Text

    table = Table(box=SIMPLE_HEAD, pad_edge=False, show_footer=True)
    table.add_column("Section", footer="whole text")
    table.add_column("Tokens", justify="right", style="cyan", footer=str(answer.tokens))
    table.add_column("Chars", justify="right", style="cyan", footer=str(answer.chars))
    table.add_column("Records", justify="right", style="green")
    table.add_column("Dropped", style="yellow")
    for part in answer.sections:
        reasons = Counter(item.reason for item in part.dropped)
        dropped = ", ".join(f"{number} {reason}" for reason, number in reasons.items())
        table.add_row(Text(part.name), str(part.tokens), str(part.chars), str(len(part.items)), dropped)
    show_beside(table)
    budget = answer.budget
    limit = f"{budget.tokens} tokens" if isinstance(budget.tokens, int) else f"{budget.chars} characters"
    note(f"profile {answer.profile}, budget {limit}, counted with {answer.counter}, {answer.retrieval}")
    note_degraded(answer.degraded)
