"""
`lamina config`: shows each effective setting and its source, and writes the configuration's documents.
"""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from app.cli.faults import CommandFault
from app.cli.options import AsJson, Data
from app.cli.output import emit, note, show, write_text

if TYPE_CHECKING:
    from app.config.origins import Origin

config = typer.Typer(no_args_is_help=True, help="The configuration.")

README = "README.md"
STYLES = {"argument": "magenta", "environment": "cyan", "file": "green", "default": "dim"}


@config.command("show")
def show_config(
    section: Annotated[str | None, typer.Argument(help="Only keys that begin so, such as recall.fused.")] = None,
    data: Data = None,
    as_json: AsJson = False,
) -> None:
    """
    Show each effective value, and whether an argument, the environment, the file or the default gave it.
    """
    from app.cli.session import overrides_of
    from app.config import load_settings
    from app.config.origins import origins

    overrides = overrides_of(data)
    found = [
        item
        for item in origins(load_settings(**overrides), overrides)
        if section is None or item.key == section or item.key.startswith((f"{section}.", f"{section}["))
    ]
    if not found:
        raise CommandFault.of("SECTION", f"no key begins with {section!r}; `lamina config show` lists them all")
    if as_json:
        emit({item.key: {"value": item.value, "source": item.source, "where": item.where} for item in found})
        return
    _show(found)


@config.command()
def docs(
    write: Annotated[bool, typer.Option("--write", help="Write config.yaml and the README's table.")] = False,
    check: Annotated[bool, typer.Option("--check", help="End with 1 where they differ from the models.")] = False,
    root: Annotated[Path, typer.Option(metavar="DIR", help="Where config.yaml and README.md are.")] = Path(),
    as_json: AsJson = False,
) -> None:
    """
    Print config.yaml as the models give it; or write it, and the README's table, or check both.
    """
    if write and check:
        raise typer.BadParameter("give --write or --check, not both", param_hint="--check")
    from app.config import DEFAULT_CONFIG_FILE
    from app.config.document import config_yaml, with_table

    if not (write or check):
        _print_yaml(config_yaml(), as_json=as_json)
        return
    readme = _read(root / README)
    wanted = {root / DEFAULT_CONFIG_FILE: config_yaml(), root / README: with_table(readme)}
    differing = [path for path, text in wanted.items() if not path.is_file() or _read(path) != text]
    if check and differing:
        names = ", ".join(path.name for path in differing)
        raise CommandFault.of(names, "not what the models say; `lamina config docs --write` writes it anew")
    if write:
        for path in differing:
            path.write_text(wanted[path], encoding="utf-8")
    if as_json:
        emit({"written": differing if write else [], "documents": list(wanted)})
    else:
        for path in wanted:
            note(f"{path.name}: {'written' if path in differing else 'as the models say'}")


def _print_yaml(text: str, *, as_json: bool) -> None:
    if as_json:
        emit({"config.yaml": text})
    else:
        write_text(text.rstrip("\n"))


def _show(found: "list[Origin]") -> None:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table
    from rich.text import Text

    table = Table("Key", "Value", "From", box=SIMPLE_HEAD, pad_edge=False)
    for item in found:
        where = f"{item.source} ({item.where})" if item.where else item.source
        table.add_row(Text(item.key), Text(_value(item.value)), Text(where, style=STYLES[item.source]))
    show(table)


def _value(value: Any) -> str:
    import json

    return value if isinstance(value, str) and value else json.dumps(value, ensure_ascii=False)


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise CommandFault.of(str(path), f"cannot be read: {error.strerror or error}") from error
