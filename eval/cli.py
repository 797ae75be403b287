"""
`lamina eval`: scores the recall over a set of questions, and holds the golden set against its snapshot.
"""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from app.cli.faults import FAULT, CommandFault
from app.cli.options import AsJson
from app.cli.output import emit, note, progress, show
from app.cli.session import settings_of

if TYPE_CHECKING:
    from eval.gate import Verdict
    from eval.runner import Progress

LIBRARIES = ("ir_measures", "matplotlib")
"""What the extra `eval` brings."""

eval_app = typer.Typer(no_args_is_help=True, add_completion=False, help="How good recall is, by known answers.")


@eval_app.command("run")
def run_set(
    data: Annotated[Path, typer.Option("--data", metavar="DIR", help="Holds memories.jsonl and queries.jsonl.")],
    out: Annotated[
        Path, typer.Option("--out", metavar="DIR", help="Where <set>.json and <set>.png are written.")
    ] = Path("build/eval"),
    rows: Annotated[
        str, typer.Option("--rows", help="Ways to retrieve: hybrid, lexical, semantic, or a scorer's name.")
    ] = "hybrid,lexical,semantic",
    no_cache: Annotated[bool, typer.Option("--no-cache", help="Embed everything anew, and keep nothing.")] = False,
    as_json: AsJson = False,
) -> None:
    """
    Score the recall over a set, in a database of its own that is gone afterwards.
    """
    _require_libraries()
    settings = settings_of(None)
    from eval.report import as_data
    from eval.runner import run, written
    from eval.table import tables

    chosen = tuple(name.strip() for name in rows.split(",") if name.strip())
    with _bars() as watch:
        report = asyncio.run(run(data, settings, out, chosen, watch, use_cache=not no_cache))
    files = written(report, out)
    if as_json:
        emit({**as_data(report, with_queries=False), "files": [str(path) for path in files]})
        return
    show(*tables(report))
    note(f"written: {', '.join(str(path) for path in files)}")


@eval_app.command("golden")
def golden(
    update: Annotated[bool, typer.Option("--update", help="Make this run's figures the ones to hold.")] = False,
    vectors: Annotated[
        bool, typer.Option("--vectors", help="Embed the golden set anew first, with the default embedder.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """
    Score the recall as shipped over the golden set; ends with 1 when it is worse than the snapshot allows.
    """
    _require_libraries()
    settings_of(None)
    from eval import gate
    from eval.report import as_data
    from eval.table import tables

    with _bars() as watch:
        if vectors:
            asyncio.run(gate.record_vectors(watch))
        report = asyncio.run(gate.score(watch))
    if update:
        gate.update_snapshot(report, gate.SNAPSHOT)
    verdict = gate.compare(report, gate.load_snapshot(gate.SNAPSHOT), gate.golden_digest())
    if as_json:
        emit({**as_data(report, with_queries=False), **_verdict(verdict)})
    else:
        show(*tables(report))
        for remark in verdict.remarks:
            note(remark)
        for failure in verdict.failures:
            note(failure, "red")
        note("the gate is open" if verdict.ok else "the gate is shut", "green" if verdict.ok else "red")
    if not verdict.ok:
        # Not typer.Exit: the command that hands over to this application would take it for a return value.
        raise SystemExit(FAULT)


def _verdict(verdict: "Verdict") -> dict[str, Any]:
    return {"ok": verdict.ok, "failures": list(verdict.failures), "remarks": list(verdict.remarks)}


def _require_libraries() -> None:
    missing = [name for name in LIBRARIES if find_spec(name) is None]
    if missing:
        raise CommandFault.of("eval", f"{', '.join(missing)} not installed; `pip install 'lamina[eval]'` brings it")


@contextmanager
def _bars() -> "Iterator[Progress]":
    """One progress bar a stage, on standard error."""
    with progress() as bars:
        tasks: dict[str, Any] = {}

        def watch(stage: str, done: int, of: int) -> None:
            if stage not in tasks:
                tasks[stage] = bars.add_task(stage)
            bars.update(tasks[stage], completed=done, total=of)

        yield watch
