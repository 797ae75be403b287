"""
`lamina remember`: stores a memory, or a short-term entry.
"""

import asyncio
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from app.cli.moments import parsed
from app.cli.options import ApiKeyBesideKey, AsJson, Bank, Data, From, FromId, Session, Url
from app.cli.output import emit, note, show

if TYPE_CHECKING:
    from app.api.schemas.entries import EntriesStored, EntryIn
    from app.api.schemas.memories import MemoryIn, MemoryOut

MEMORY = "Of a memory"
ENTRY = "Of an entry (--entry)"


def remember(
    text: Annotated[str, typer.Argument(help="What to remember; - reads it from standard input.")],
    bank: Bank = "main",
    category: Annotated[
        str | None,
        typer.Option(help="preference, fact, behavior, context or general.", rich_help_panel=MEMORY),
    ] = None,
    tag: Annotated[list[str] | None, typer.Option(help="A tag; may be repeated.")] = None,
    pinned: Annotated[bool, typer.Option("--pinned", help="Pin it: it never fades.", rich_help_panel=MEMORY)] = False,
    key: Annotated[
        str | None, typer.Option(help="Your own name for it, unique in the bank.", rich_help_panel=MEMORY)
    ] = None,
    summary: Annotated[str | None, typer.Option(help="A short form of it.", rich_help_panel=MEMORY)] = None,
    confidence: Annotated[
        float | None, typer.Option(help="How sure it is, 0 to 1; by default 1.", rich_help_panel=MEMORY)
    ] = None,
    entity: Annotated[
        list[str] | None,
        typer.Option(help="Somebody or something it is about; may be repeated.", rich_help_panel=MEMORY),
    ] = None,
    raw: Annotated[
        bool,
        typer.Option("--raw", help="Take it as free text that is still to be structured.", rich_help_panel=MEMORY),
    ] = False,
    occurred_at: Annotated[
        str | None, typer.Option(metavar="TIME", help="When it happened.", rich_help_panel=MEMORY)
    ] = None,
    expires_at: Annotated[
        str | None, typer.Option(metavar="TIME", help="When it ends to hold.", rich_help_panel=MEMORY)
    ] = None,
    as_entry: Annotated[bool, typer.Option("--entry", help="Store a short-term entry instead of a memory.")] = False,
    role: Annotated[
        str | None, typer.Option(help="Who speaks: user, assistant, or a name.", rich_help_panel=ENTRY)
    ] = None,
    name: Annotated[str | None, typer.Option(help="The speaker's name.", rich_help_panel=ENTRY)] = None,
    at: Annotated[str | None, typer.Option(metavar="TIME", help="When it was said.", rich_help_panel=ENTRY)] = None,
    message_id: Annotated[
        str | None, typer.Option(help="The platform's id of the message.", rich_help_panel=ENTRY)
    ] = None,
    source: From = None,
    source_id: FromId = None,
    session: Session = None,
    wait: Annotated[
        float, typer.Option(min=0.0, metavar="SECONDS", help="How long to wait until it is found by meaning too.")
    ] = 10.0,
    data: Data = None,
    url: Url = None,
    api_key: ApiKeyBesideKey = None,
    as_json: AsJson = False,
) -> None:
    """
    Store a memory: a fact, a preference, anything that should last.

    Known content is reinforced, not stored twice. With --entry, the text is stored as one message of a conversation.
    """
    of_memory = {
        "--category": category,
        "--pinned": pinned or None,
        "--key": key,
        "--summary": summary,
        "--confidence": confidence,
        "--entity": entity or None,
        "--raw": raw or None,
        "--occurred-at": occurred_at,
        "--expires-at": expires_at,
    }
    of_entry = {
        "--role": role,
        "--name": name,
        "--at": at,
        "--message-id": message_id,
        "--source": source,
        "--source-id": source_id,
    }
    _refuse_strangers(of_memory if as_entry else of_entry, as_entry=as_entry)
    content = sys.stdin.read().strip("\n") if text == "-" else text
    moments = {
        "timestamp": parsed("--at", at),
        "occurred_at": parsed("--occurred-at", occurred_at),
        "expires_at": parsed("--expires-at", expires_at),
    }

    from app.api.schemas.entries import EntryIn
    from app.api.schemas.memories import MemoryIn

    if as_entry:
        entry = EntryIn(
            content=content,
            role=role,
            name=name,
            timestamp=moments["timestamp"],
            source=source,
            source_id=source_id,
            session_id=session,
            message_id=message_id,
            tags=tag,
        )
        stored = asyncio.run(_save_entry(bank, entry, data, url, api_key, wait))
        if as_json:
            emit(stored)
        else:
            _show_entry(stored)
        return
    memory = MemoryIn(
        raw_input=content if raw else None,
        content=None if raw else content,
        summary=summary,
        category=category,
        confidence=confidence,
        tags=tag,
        entities=entity,
        pinned=pinned or None,
        key=key,
        occurred_at=moments["occurred_at"],
        expires_at=moments["expires_at"],
        session_id=session,
    )
    saved = asyncio.run(_save_memory(bank, memory, data, url, api_key, wait))
    if as_json:
        emit(saved)
    else:
        _show_memory(saved)


def _refuse_strangers(options: dict[str, Any], *, as_entry: bool) -> None:
    given = [option for option, value in options.items() if value is not None]
    if given:
        what = "a memory, not for an entry" if as_entry else "an entry: give --entry too"
        raise typer.BadParameter(f"only for {what}", param_hint=given[0])


async def _save_memory(
    bank: str, memory: "MemoryIn", data: Path | None, url: str | None, api_key: str | None, wait: float
) -> "MemoryOut":
    from app.cli.session import service

    async with service(data, url, api_key, must_exist=False) as target:
        saved = await target.save_memory(bank, memory)
        _note_waiting(await target.settle(wait))
    return saved


async def _save_entry(
    bank: str, entry: "EntryIn", data: Path | None, url: str | None, api_key: str | None, wait: float
) -> "EntriesStored":
    from app.cli.session import service

    async with service(data, url, api_key, must_exist=False) as target:
        stored = await target.save_entry(bank, entry)
        _note_waiting(await target.settle(wait))
    return stored


def _note_waiting(waiting: int) -> None:
    if waiting:
        note(
            f"{waiting} texts still wait to be found by meaning; words find them now, and a later run goes on with them"
        )


def _show_memory(saved: "MemoryOut") -> None:
    from rich.text import Text

    word = "reinforced" if saved.reinforced is True else "remembered"
    line = Text(f"{word} ", style="green").append(saved.id, style="bold").append(f" in bank {saved.bank}")
    if saved.observations > 1:
        line.append(f", stated {saved.observations} times")
    show(line)


def _show_entry(stored: "EntriesStored") -> None:
    from rich.text import Text

    (result,) = stored.results
    word = "stored" if result.duplicate_of is None else "known already"
    show(Text(f"{word} ", style="green").append(result.id, style="bold"))
