"""
The shared form of conversations: one JSON object a line, each a short-term entry with its own id.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from msgspec import Struct

from app.api.bodies import read_body
from app.api.schemas.values import Moment, as_text
from app.cli.faults import CommandFault
from app.errors import InvalidInput
from app.services.remember import NewEntry

PREFERRED_FILE = "memories.jsonl"
"""Of a directory that also holds questions and vectors, the file that holds what was said."""


class _Line(Struct):
    id: str
    text: str
    bank: str | None = None
    created_at: Moment | None = None
    role: str | None = None
    tags: list[str] | None = None
    meta: dict[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Read:
    """
    One line of a file: its number from 1, its length in bytes, and the entry for a bank, or why it cannot be taken.
    """

    file: Path
    number: int
    size: int
    bank: str | None = None
    entry: NewEntry | None = None
    fault: str | None = None


def files_of(path: Path) -> list[Path]:
    """
    The files to import: the one named, or of a directory its `memories.jsonl`, else every `.jsonl` in it.

    Raises:
        CommandFault: when there is nothing to import.
    """
    if path.is_file():
        return [path]
    if not path.is_dir():
        raise CommandFault.of("PATH", f"there is no file or directory {path}")
    preferred = path / PREFERRED_FILE
    found = [preferred] if preferred.is_file() else sorted(path.glob("*.jsonl"))
    if not found:
        raise CommandFault.of("PATH", f"there is no .jsonl file in {path}")
    return found


def read_lines(file: Path, fallback_bank: str, only_bank: str | None) -> Iterator[Read]:
    """
    The lines of a file; `only_bank` takes the place of every line's own bank, `fallback_bank` that of a missing one.
    Empty lines are passed over, with their bytes counted on the next.

    Raises:
        CommandFault: when the file cannot be read.
    """
    skipped = 0
    try:
        with file.open("rb") as stream:
            for number, raw in enumerate(stream, 1):
                size, skipped = len(raw) + skipped, 0
                if not raw.strip():
                    skipped = size
                    continue
                try:
                    bank, entry = _entry(raw)
                except InvalidInput as error:
                    yield Read(file, number, size, fault=error.detail)
                else:
                    yield Read(file, number, size, bank=only_bank or bank or fallback_bank, entry=entry)
    except OSError as error:
        raise CommandFault.of("PATH", f"{file} cannot be read: {error.strerror or error}") from error


def _entry(raw: bytes) -> tuple[str | None, NewEntry]:
    line: _Line = read_body(raw, _Line)
    meta = line.meta or {}
    session = meta.get("session")
    return line.bank, NewEntry(
        content=line.text,
        role=line.role or "user",
        timestamp=line.created_at,
        session_id=as_text(session) if isinstance(session, (str, int, float)) else None,
        # With an id of its own, a line that repeats another's words is still a line of its own.
        message_id=line.id,
        tags=line.tags or (),
        metadata=meta,
        id=line.id,
    )
