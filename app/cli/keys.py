"""
`lamina keys`: makes, lists and revokes access keys.
"""

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from app.cli.options import AsJson, Data
from app.cli.output import emit, note, show, write_text

if TYPE_CHECKING:
    from app.storage.api_keys import StoredKey

keys = typer.Typer(no_args_is_help=True, help="Access keys.")

RoleName = Literal["read", "write", "admin"]


@keys.command()
def add(
    name: Annotated[str, typer.Argument(help="What the key is called in logs.")],
    role: Annotated[RoleName, typer.Option(help="What the key may do.")] = "write",
    bank: Annotated[
        list[str] | None,
        typer.Option(help="A bank it may touch, or a prefix ending in *; may be repeated. By default all."),
    ] = None,
    data: Data = None,
    as_json: AsJson = False,
) -> None:
    """
    Make a key, and print its secret, which is shown only now.

    From the first key on, every request needs one.
    """
    banks = tuple(bank or ("*",))
    secret = asyncio.run(_add(data, name, role, banks))
    if as_json:
        emit({"name": name, "role": role, "banks": banks, "key": secret})
        return
    write_text(secret)
    note("only its digest is kept: the key is not shown again")


@keys.command("list")
def list_keys(data: Data = None, as_json: AsJson = False) -> None:
    """
    Show the stored keys and those of the configuration, without their secrets.
    """
    found = asyncio.run(_every(data))
    if as_json:
        emit({"items": found})
        return
    from rich.box import SIMPLE_HEAD
    from rich.table import Table
    from rich.text import Text

    table = Table("Name", "Role", "Banks", "Made", "Revoked", box=SIMPLE_HEAD, pad_edge=False)
    for key in found:
        made = key["created_at"] or "by configuration"
        table.add_row(
            Text(key["name"]), key["role"], Text(", ".join(key["banks"])), str(made), str(key["revoked_at"] or "")
        )
    show(table)


@keys.command()
def revoke(
    name: Annotated[str, typer.Argument(help="The key's name.")], data: Data = None, as_json: AsJson = False
) -> None:
    """
    Withdraw a key; running services notice within seconds.
    """
    asyncio.run(_revoke(data, name))
    if as_json:
        emit({"name": name, "revoked": True})
    else:
        from rich.text import Text

        show(Text(f"revoked {name}", style="green"))


async def _add(data: Path | None, name: str, role: str, banks: tuple[str, ...]) -> str:
    from app.cli.session import container, settings_of

    async with container(settings_of(data), must_exist=False, embedding=False) as built:
        return await built.keys.add(name, role, banks)


async def _every(data: Path | None) -> list[dict[str, Any]]:
    from app.cli.session import container, settings_of

    settings = settings_of(data)
    async with container(settings, must_exist=True, embedding=False) as built:
        stored = [_shown(key) for key in await built.keys.every()]
    configured = [
        {"name": key.name, "role": key.role, "banks": key.banks, "created_at": None, "revoked_at": None}
        for key in settings.auth.keys
    ]
    return [*configured, *stored]


async def _revoke(data: Path | None, name: str) -> None:
    from app.cli.session import container, settings_of

    async with container(settings_of(data), must_exist=True, embedding=False) as built:
        await built.keys.revoke(name)


def _shown(key: "StoredKey") -> dict[str, Any]:
    from app.storage.moments import from_micros

    return {
        "name": key.name,
        "role": key.role,
        "banks": key.banks,
        "created_at": from_micros(key.created_at),
        "revoked_at": None if key.revoked_at is None else from_micros(key.revoked_at),
    }
