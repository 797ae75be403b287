"""
`lamina models`: lists, fetches and verifies model files and token vocabularies.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from app.cli.faults import FAULT, CommandFault
from app.cli.options import AsJson
from app.cli.output import emit, progress, show

if TYPE_CHECKING:
    from app.config import Settings
    from app.providers.model_files import FileCheck, ModelFiles
    from app.providers.model_pull import PullProgress, PullReport

models = typer.Typer(no_args_is_help=True, help="Model files and token vocabularies.")

STYLES = {"ok": "green", "missing": "yellow", "altered": "red", "present": "green", "pulled": "cyan", "failed": "red"}
MIB = 1024 * 1024


@models.command("list")
def list_models(as_json: AsJson = False) -> None:
    """
    Show each model, whether it is wanted, and whether its files are there.
    """
    settings, files = _opened()
    wanted = set(_wanted(settings, files))
    found = []
    for name, entry in files.manifest.models.items():
        checks = files.check(name)
        found.append(
            {
                "name": name,
                "kind": entry.kind,
                "licence": entry.licence,
                "bytes": sum(file.size for file in entry.file),
                "wanted": name in wanted,
                "status": next((check.status for check in checks if check.status != "ok"), "ok"),
                "directory": files.locate(name),
            }
        )
    if as_json:
        emit({"items": found})
        return
    from rich.box import SIMPLE_HEAD
    from rich.table import Table
    from rich.text import Text

    table = Table("Model", "Kind", "MiB", "Licence", "Wanted", "Files", box=SIMPLE_HEAD, pad_edge=False)
    for item in found:
        table.add_row(
            str(item["name"]),
            str(item["kind"]),
            f"{_bytes(item) / MIB:.1f}",
            str(item["licence"]),
            "yes" if item["wanted"] else "",
            Text(str(item["status"]), style=STYLES[str(item["status"])]),
        )
    show(table)


@models.command("pull")
def pull_models(
    names: Annotated[
        list[str] | None, typer.Argument(metavar="[NAME]...", help="Models; by default those the configuration needs.")
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Say nothing unless something is missing.")] = False,
    as_json: AsJson = False,
) -> None:
    """
    Fetch what is missing, each file from the first source that has the pinned one.
    """
    from app.providers.model_pull import pull

    settings, files = _opened()
    chosen = names or _wanted(settings, files)
    report = pull(chosen, settings.models, None, files) if quiet else _pulled_with_bars(chosen, settings, files)
    if as_json:
        emit(report)
    elif not quiet:
        _show_pulled(report)
    if not report.complete:
        if as_json:
            raise typer.Exit(FAULT)
        raise _incomplete(report)


@models.command("verify")
def verify_models(
    names: Annotated[
        list[str] | None, typer.Argument(metavar="[NAME]...", help="Models; by default those the configuration needs.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """
    Hash every byte anew; ends with 1 when a file is missing or altered.
    """
    settings, files = _opened()
    chosen = names or _wanted(settings, files)
    checks: list[FileCheck] = []
    with progress() as bars:
        for name in bars.track(chosen, description="hashing"):
            checks += files.verify(name)
    if as_json:
        emit({"items": [{"file": item.label, "path": item.path, "status": item.status} for item in checks]})
    else:
        from rich.box import SIMPLE_HEAD
        from rich.table import Table
        from rich.text import Text

        table = Table("File", "Status", box=SIMPLE_HEAD, pad_edge=False)
        for item in checks:
            table.add_row(Text(item.label), Text(item.status, style=STYLES[item.status]))
        show(table)
    if any(item.status != "ok" for item in checks):
        raise typer.Exit(FAULT)


def _opened() -> "tuple[Settings, ModelFiles]":
    from app.cli.session import settings_of
    from app.providers.model_files import ModelFiles

    settings = settings_of(None)
    return settings, ModelFiles.configured(settings.models)


def _wanted(settings: "Settings", files: "ModelFiles") -> list[str]:
    """All that is not optional, and the embedder that the configuration names."""
    names = list(files.manifest.default_names())
    embedder = settings.embedding.model
    if settings.embedding.provider == "local" and embedder in files.manifest.models and embedder not in names:
        names.append(embedder)
    return names


def _pulled_with_bars(names: Sequence[str], settings: "Settings", files: "ModelFiles") -> "PullReport":
    from app.providers.model_pull import pull

    tasks: dict[str, Any] = {}
    with progress() as bars:

        def tell(step: "PullProgress") -> None:
            if step.label not in tasks:
                tasks[step.label] = bars.add_task(step.label, total=step.total)
            description = f"{step.label} ({step.source or 'no source has it'})"
            bars.update(tasks[step.label], description=description, completed=step.done, total=step.total)

        return pull(names, settings.models, tell, files)


def _show_pulled(report: "PullReport") -> None:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table
    from rich.text import Text

    table = Table("File", "Status", "Source", box=SIMPLE_HEAD, pad_edge=False)
    for file in report.files:
        table.add_row(Text(file.label), Text(file.status, style=STYLES[file.status]), file.source)
    show(table, Text(f"in {report.directory}", style="dim"))


def _incomplete(report: "PullReport") -> CommandFault:
    lines = [
        f"{file.label}: " + ("; ".join(f"{source}: {reason}" for source, reason in file.errors) or "no source is left")
        for file in report.files
        if file.status == "failed"
    ]
    return CommandFault("model files are missing, so that recall goes on without them\n  " + "\n  ".join(lines))


def _bytes(item: dict[str, Any]) -> int:
    return int(item["bytes"])
