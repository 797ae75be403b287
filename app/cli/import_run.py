"""
Stores lines batch by batch, and finds out which line of a refused batch is the bad one.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path

from app.cli.import_lines import Read
from app.errors import LaminaError
from app.services.remember import Remember

_PLACE = re.compile(r"entries\[(\d+)\]\.?")


@dataclass(frozen=True, slots=True)
class BadLine:
    """
    A line that was not taken, and why.
    """

    file: Path
    line: int
    message: str


@dataclass(slots=True)
class Imported:
    """
    How an import went so far: entries by bank, lines that were there before, and bad lines.
    """

    created: dict[str, int] = field(default_factory=dict)
    duplicates: int = 0
    bad: list[BadLine] = field(default_factory=list)


async def run(remember: Remember, lines: Iterable[Read], batch_size: int, advance: Callable[[int], None]) -> Imported:
    """
    Store all lines, `batch_size` in one transaction; `advance` is told how many bytes were dealt with.

    A line that cannot be taken costs only itself. Lines that are there already, by their ids, are left as they are, so
    that an import that was cut off is simply run again.
    """
    done = Imported()
    batch: list[Read] = []
    for line in lines:
        if line.entry is None:
            done.bad.append(BadLine(line.file, line.number, line.fault or "cannot be read"))
            advance(line.size)
            continue
        batch.append(line)
        if len(batch) == batch_size:
            await _store(remember, batch, done, advance)
            batch = []
    await _store(remember, batch, done, advance)
    done.bad.sort(key=lambda bad: (str(bad.file), bad.line))
    return done


async def _store(remember: Remember, batch: Sequence[Read], done: Imported, advance: Callable[[int], None]) -> None:
    for bank, lines in groupby(batch, key=lambda line: line.bank or ""):
        of_bank = list(lines)
        await _store_in(remember, bank, of_bank, done)
        advance(sum(line.size for line in of_bank))


async def _store_in(remember: Remember, bank: str, lines: Sequence[Read], done: Imported) -> None:
    if not lines:
        return
    try:
        results = (await remember.entries(bank, [line.entry for line in lines if line.entry is not None])).results
    except LaminaError as error:
        if error.status >= 500:
            raise
        await _store_good_ones(remember, bank, lines, done, error)
        return
    new = sum(result.duplicate_of is None for result in results)
    done.created[bank] = done.created.get(bank, 0) + new
    done.duplicates += len(results) - new


async def _store_good_ones(
    remember: Remember, bank: str, lines: Sequence[Read], done: Imported, error: LaminaError
) -> None:
    """Leave out the lines that the refusal names, and try the others again; halve the batch where it names none."""
    named: dict[int, list[str]] = {}
    for fault in error.fields:
        found = _PLACE.match(fault.field)
        if found is not None:
            named.setdefault(int(found[1]), []).append(f"{fault.field[found.end() :]}: {fault.message}")
    if named:
        done.bad += [BadLine(lines[place].file, lines[place].number, "; ".join(why)) for place, why in named.items()]
        await _store_in(remember, bank, [line for place, line in enumerate(lines) if place not in named], done)
    elif len(lines) == 1:
        done.bad.append(BadLine(lines[0].file, lines[0].number, error.detail))
    else:
        middle = len(lines) // 2
        await _store_in(remember, bank, lines[:middle], done)
        await _store_in(remember, bank, lines[middle:], done)
