"""
The golden gate: scores the shipped recall over the golden set and holds it against the committed figures.
"""

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from app.config import Settings
from app.errors import InvalidInput, Unavailable
from app.providers.factory import build_embedder
from app.providers.model_files import ModelFiles
from app.providers.protocols import ProviderState
from eval.datasets import MEMORIES, QUERIES, load
from eval.golden_vectors import RecordedEmbedder, Recorder, configured_space, load_vectors, save_vectors
from eval.measures import FIGURES, Group
from eval.report import Report, RowReport, group_data
from eval.runner import Progress, evaluate, silent

HERE = Path(__file__).resolve().parent
GOLDEN = HERE / "golden"
VECTORS = GOLDEN / "vectors.npz"
SNAPSHOT = HERE / "snapshots" / "golden.json"

ROWS = ("lexical", "hybrid")
RATES = ("false_positives",)
"""Tallies of which a smaller share is better, held to the tolerance of a figure."""
FAULTS = ("traps", "pollution")
"""Tallies that may not grow at all."""
ROUNDING = 1e-4
"""Figures in a snapshot are rounded to four decimals."""


class Tolerances(msgspec.Struct, frozen=True):
    """
    How far a figure may fall: `total` in the figure's own unit, `queries` of one group as a number of its queries.
    """

    total: float = 0.01
    queries: float = 1.0


class Snapshot(msgspec.Struct, frozen=True):
    """
    Committed figures: of which set (a digest of its files), in which space, within which tolerances.
    """

    golden: str
    space: str
    tolerances: Tolerances
    rows: dict[str, dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Verdict:
    """
    What is worse than the snapshot allows, and what is worth knowing beside.
    """

    failures: tuple[str, ...]
    remarks: tuple[str, ...]

    @property
    def ok(self) -> bool:
        """
        Whether the gate lets this through.
        """
        return not self.failures


def shipped_settings() -> Settings:
    """
    The defaults, whatever this machine's environment and configuration file say.
    """
    return Settings.model_construct()


async def score(progress: Progress = silent) -> Report:
    """
    Score the shipped recall over the golden set, with the committed vectors.

    Raises:
        InvalidInput: the vectors are of another model than the default embedder's, or do not cover the set.
    """
    settings = shipped_settings()
    space, floor = configured_space(settings.embedding)
    identity, vectors = load_vectors(VECTORS)
    if identity != space.identity():
        raise InvalidInput.of(
            VECTORS.name,
            f"the default embedder has changed: these vectors are of {identity}, it is {space.identity()};"
            " run `lamina eval golden --vectors --update`",
        )
    embedder = RecordedEmbedder(space, floor, vectors)
    report = await evaluate(load(GOLDEN), settings, ROWS, embedder, progress)
    if embedder.missing:
        example = min(embedder.missing)
        raise InvalidInput.of(
            VECTORS.name,
            f"no vector for {len(embedder.missing)} texts of the golden set, such as {example!r};"
            " run `lamina eval golden --vectors --update`",
        )
    return report


async def record_vectors(progress: Progress = silent) -> int:
    """
    Embed the golden set with the default embedder and write the vectors; returns how many there are.

    Raises:
        Unavailable: there is no such embedder on this machine.
    """
    settings = shipped_settings()
    embedder = build_embedder(settings.embedding, ModelFiles.configured(settings.models))
    if isinstance(embedder, ProviderState):
        raise Unavailable(f"the golden set cannot be embedded: {embedder.detail}")
    recorder = Recorder(embedder)
    await evaluate(load(GOLDEN), settings, ("hybrid",), recorder, progress)
    save_vectors(VECTORS, recorder.space, recorder.vectors)
    return len(recorder.vectors)


def load_snapshot(path: Path) -> Snapshot:
    """
    Figures to hold.

    Raises:
        InvalidInput: the file is missing or not of this form.
    """
    try:
        return msgspec.json.decode(path.read_bytes(), type=Snapshot)
    except (OSError, msgspec.MsgspecError) as error:
        raise InvalidInput.of(path.name, f"cannot be used: {error}; `lamina eval golden --update` makes it") from error


def update_snapshot(report: Report, path: Path) -> None:
    """
    Make this run's figures the ones to hold; tolerances stay as they are.
    """
    tolerances = load_snapshot(path).tolerances if path.is_file() else Tolerances()
    snapshot = {
        "golden": golden_digest(),
        "space": report.space,
        "tolerances": msgspec.to_builtins(tolerances),
        "rows": {row.name: {name: group_data(group) for name, group in _groups(row)} for row in report.rows},
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(snapshot, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


def golden_digest() -> str:
    """
    Stands for the golden set as it is on disk, whatever its line ends.
    """
    digest = hashlib.sha256()
    for name in (MEMORIES, QUERIES):
        for line in (GOLDEN / name).read_bytes().splitlines():
            digest.update(line + b"\n")
    return digest.hexdigest()[:16]


def compare(report: Report, snapshot: Snapshot, golden: str) -> Verdict:
    """
    Hold a run against the snapshot; `golden` is the digest of the set that was run.

    A figure fails when it falls further than its tolerance, a rate when it rises so far; traps and pollution when they
    grow; leaks when there is one.
    """
    stale = []
    if golden != snapshot.golden:
        stale.append("the golden set has changed since the snapshot; run `lamina eval golden --update`")
    if report.space != snapshot.space:
        stale.append(
            f"the snapshot was made with {snapshot.space}, this run with {report.space};"
            " run `lamina eval golden --update`"
        )
    if stale:
        return Verdict((*stale, *_leaks(report)), tuple(_remarks(report)))
    failures = []
    for name, groups in snapshot.rows.items():
        row = report.row(name)
        if row is None:
            failures.append(f"{name}: the row is missing")
            continue
        now = dict(_groups(row))
        for label, held in groups.items():
            if label not in now:
                failures.append(f"{name}, {label}: the group is missing")
            else:
                failures += _worse(f"{name}, {label}", now[label], held, snapshot.tolerances, is_total=label == "total")
    return Verdict((*failures, *_leaks(report)), tuple(_remarks(report)))


def _groups(row: RowReport) -> Iterator[tuple[str, Group]]:
    yield "total", row.total
    for name, group in row.categories.items():
        yield f"category {name}", group
    for name, group in row.languages.items():
        yield f"language {name}", group


def _worse(place: str, now: Group, held: Mapping[str, Any], tolerances: Tolerances, *, is_total: bool) -> Iterator[str]:
    if now.answerable != held["answerable"]:
        yield f"{place}: {now.answerable} answerable queries instead of {held['answerable']}"
        return
    for name in FIGURES:
        if name in now.figures:
            allowed = tolerances.total if is_total else tolerances.queries / now.answerable
            if now.figures[name] < held[name] - allowed - ROUNDING:
                yield f"{place}: {name} fell to {now.figures[name]:.4f} from {held[name]:.4f} (allowed: {allowed:.4f})"
    for name in (*RATES, *FAULTS):
        before = held.get(name)
        allowed = tolerances.queries if name in RATES else 0
        if before is not None and now.tallies[name].number > before["number"] + allowed:
            yield f"{place}: {name} rose to {now.tallies[name].number} from {before['number']}"


def _leaks(report: Report) -> Iterator[str]:
    for row in report.rows:
        found = [item.query.id for item in row.judged if item.leaked]
        if found:
            yield f"{row.name}: {len(found)} queries brought records of another bank: {', '.join(found)}"


def _remarks(report: Report) -> Iterator[str]:
    for row in report.rows:
        for label, found in (
            ("traps", [item.query.id for item in row.judged if item.trapped]),
            ("pollution", [item.query.id for item in row.judged if item.polluted]),
            ("false positives", [item.query.id for item in row.judged if item.false_positive]),
        ):
            yield f"{row.name}: {label}: {len(found)}" + (f" ({', '.join(found)})" if found else "")
