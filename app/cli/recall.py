"""
`lamina recall`: asks a bank, and shows what it found with the reasons.
"""

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from app.cli.moments import parsed
from app.cli.options import ApiKey, AsJson, Bank, Data, From, FromId, Session, Url
from app.cli.output import bar, emit, moment, note, note_degraded, printable, show
from app.domain.records import Tier
from app.services.recall_model import Mode

if TYPE_CHECKING:
    from rich.text import Text

    from app.api.schemas.recall import Answer, Found, Question

NARROW = "What is searched"
TEXT_CHARS = 400
"""Characters of a record that the table shows; --json has all."""


def recall(
    query: Annotated[str, typer.Argument(help="The question; an empty one lists the newest records.")],
    bank: Bank = "main",
    limit: Annotated[int | None, typer.Option("--limit", "-n", help="Most results.")] = None,
    mode: Annotated[Mode, typer.Option(help="By words and meaning, by words, or by meaning.")] = Mode.HYBRID,
    explain: Annotated[bool, typer.Option("--explain", help="Show the signals of each score.")] = False,
    scorer: Annotated[str | None, typer.Option(help="Another scorer than the configured one.")] = None,
    min_score: Annotated[float | None, typer.Option(help="Least score, 0 to 1.")] = None,
    threshold: Annotated[float | None, typer.Option(help="Least cosine similarity, -1 to 1.")] = None,
    tier: Annotated[
        list[Tier] | None, typer.Option(help="Only this tier; may be repeated.", rich_help_panel=NARROW)
    ] = None,
    tag: Annotated[
        list[str] | None, typer.Option(help="Only with this tag; may be repeated.", rich_help_panel=NARROW)
    ] = None,
    category: Annotated[str | None, typer.Option(help="Only this category.", rich_help_panel=NARROW)] = None,
    session: Session = None,
    source: From = None,
    source_id: FromId = None,
    after: Annotated[
        str | None, typer.Option(metavar="TIME", help="Only what was said from then on.", rich_help_panel=NARROW)
    ] = None,
    before: Annotated[
        str | None, typer.Option(metavar="TIME", help="Only what was said before.", rich_help_panel=NARROW)
    ] = None,
    as_of: Annotated[str | None, typer.Option(metavar="TIME", help="The clock by which age is judged.")] = None,
    no_access: Annotated[bool, typer.Option("--no-access", help="Do not count this as a use of the records.")] = False,
    data: Data = None,
    url: Url = None,
    api_key: ApiKey = None,
    as_json: AsJson = False,
) -> None:
    """
    Recall what a bank knows about a question, best first.
    """
    times = {
        "as_of": parsed("--as-of", as_of),
        "after": parsed("--after", after),
        "before": parsed("--before", before),
    }

    from app.api.schemas.recall import Filters, Question

    question = Question(
        query=query,
        limit=limit,
        mode=mode,
        tiers=tier or None,
        threshold=threshold,
        min_score=min_score,
        filters=Filters(
            tags=tag,
            category=category,
            session_id=session,
            source=source,
            source_id=source_id,
            created_after=times["after"],
            created_before=times["before"],
        ),
        as_of=times["as_of"],
        explain=explain,
        record_access=not no_access,
        scorer=scorer,
    )
    answer = asyncio.run(_ask(bank, question, data, url, api_key))
    if as_json:
        emit(answer)
    else:
        _show(answer)


async def _ask(bank: str, question: "Question", data: Path | None, url: str | None, api_key: str | None) -> "Answer":
    from app.cli.session import service

    async with service(data, url, api_key, must_exist=True) as target:
        return await target.recall(bank, question)


def _show(answer: "Answer") -> None:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table
    from rich.text import Text

    if answer.results:
        table = Table("Score", "Tier", "When", "Text", box=SIMPLE_HEAD, pad_edge=False)
        for result in answer.results:
            score = Text(f"{bar(result.score)} ", style="cyan").append(f"{result.score:.3f}", style="bold")
            table.add_row(score, result.tier, moment(result.created_at), _text(result))
        show(table)
    else:
        show(Text(f"nothing found: {answer.empty_reason or 'no results were asked for'}", style="yellow"))
    note(f"{answer.retrieval}, {len(answer.results)} results in {answer.took_ms:.1f} ms")
    note_degraded(answer.degraded)


def _text(result: "Found") -> "Text":
    from rich.text import Text

    from app.domain.text.shorten import shorten

    shown = Text(shorten(printable(result.text), TEXT_CHARS)[0])
    if result.explain is not None:
        signals = " · ".join(f"{name} {value:.3f}" for name, value in result.explain.items() if value is not None)
        shown.append(f"\n{result.id}  {signals}", style="dim")
    return shown
