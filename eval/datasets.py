"""
Reads a set of memories and questions: `memories.jsonl` and `queries.jsonl`, one JSON object a line.

The form is that of `Row` and `QueryRow`; fields that are not named there are let be.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import Annotated, TypeAlias, TypeVar

import msgspec

from app.errors import InvalidInput

MEMORIES = "memories.jsonl"
QUERIES = "queries.jsonl"
UNDATED = datetime(2024, 1, 1, tzinfo=UTC)
"""The clock of a set in which nothing has a date."""

Text: TypeAlias = Annotated[str, msgspec.Meta(min_length=1)]
Moment: TypeAlias = Annotated[datetime, msgspec.Meta(tz=True)]
Qrels: TypeAlias = Mapping[str, Mapping[str, int]]
"""Query id to the ids of its relevant records, each with its gain (1: gains are binary)."""

_TURN = re.compile(r"(?P<session>.+)\.\d+")
_Form = TypeVar("_Form", "Row", "QueryRow")


class RowMeta(msgspec.Struct, frozen=True):
    """
    What the free part of a memory may say that the service is told.
    """

    session: str | int | None = None


class Row(msgspec.Struct, frozen=True):
    """
    One line of `memories.jsonl`. Only `id`, `bank` and `text` are required; times carry an offset.

    `superseded_by` and `dup_of` are ids of the same bank: of the memory that replaced this one, and of the one that
    this one repeats in other words.
    """

    id: Text
    bank: Text
    text: Text
    created_at: Moment | None = None
    role: str | None = None
    tags: tuple[str, ...] = ()
    lang: str | None = None
    category: str | None = None
    entities: tuple[str, ...] = ()
    confidence: float | None = None
    pinned: bool = False
    superseded_by: str | None = None
    dup_of: str | None = None
    meta: RowMeta = RowMeta()

    @property
    def session(self) -> str | None:
        """
        The conversation it belongs to: named by `meta.session`, or by an id that ends in a dot and the turn's number.
        """
        if self.meta.session is not None:
            return str(self.meta.session)
        found = _TURN.fullmatch(self.id)
        return None if found is None else found["session"]

    @property
    def is_memory(self) -> bool:
        """
        Whether it states something by itself; what somebody said in a conversation is an entry.
        """
        kept_as_memory = self.category is not None or self.superseded_by is not None
        return kept_as_memory or (self.role is None and self.session is None)


class QueryMeta(msgspec.Struct, frozen=True):
    """
    What the free part of a question may say: the clock of its bank, and which answers are current and outdated.
    """

    bank_last_at: Moment | None = None
    newest: tuple[str, ...] = ()
    stale: tuple[str, ...] = ()


class QueryRow(msgspec.Struct, frozen=True):
    """
    One line of `queries.jsonl`. `relevant` are the ids that answer, none for a question that has no answer; `traps`
    must not come first.
    """

    id: Text
    bank: Text
    query: str
    relevant: tuple[str, ...]
    category: str = "all"
    asked_at: Moment | None = None
    lang: str | None = None
    traps: tuple[str, ...] = ()
    meta: QueryMeta = QueryMeta()


@dataclass(frozen=True, slots=True)
class Bank:
    """
    The memories of one bank, in the order of the file.
    """

    name: str
    rows: tuple[Row, ...]


@dataclass(frozen=True, slots=True)
class Query:
    """
    One question with its clock; `newest` and `stale` are the current and the outdated among its answers.
    """

    id: str
    bank: str
    text: str
    category: str
    lang: str | None
    as_of: datetime
    relevant: frozenset[str]
    traps: frozenset[str]
    newest: frozenset[str] = frozenset()
    stale: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Dataset:
    """
    A set: its banks, its questions, and the latest moment in it, at which the service's clock stands.
    """

    name: str
    banks: tuple[Bank, ...]
    queries: tuple[Query, ...]
    clock: datetime

    @property
    def size(self) -> int:
        """
        Memories in all banks.
        """
        return sum(len(bank.rows) for bank in self.banks)

    @cached_property
    def ids(self) -> Mapping[str, frozenset[str]]:
        """
        The ids of each bank's memories.
        """
        return {bank.name: frozenset(row.id for row in bank.rows) for bank in self.banks}

    @cached_property
    def twins(self) -> Mapping[str, Mapping[str, str]]:
        """
        By bank: each id that says the same as another, to the one id that stands for them.
        """
        return {bank.name: _twins(bank) for bank in self.banks}

    @property
    def qrels(self) -> Qrels:
        """
        The relevant ids of every question that has any.
        """
        return {query.id: dict.fromkeys(query.relevant, 1) for query in self.queries if query.relevant}


def load(directory: Path) -> Dataset:
    """
    Read the set in a directory.

    Raises:
        InvalidInput: the directory or a file is missing, or a line cannot be used; names the file and the line.
    """
    if not directory.is_dir():
        raise InvalidInput.of("data", f"{directory} is not a directory")
    banks = _banks(directory)
    known = {bank.name: {row.id for row in bank.rows} for bank in banks}
    dates = {bank.name: [row.created_at for row in bank.rows if row.created_at is not None] for bank in banks}
    last = max((day for days in dates.values() for day in days), default=UNDATED)
    queries: dict[str, Query] = {}
    for place, row in _lines(directory / QUERIES, QueryRow):
        if row.id in queries:
            raise InvalidInput.of(place, f"id {row.id!r} stands on an earlier line as well")
        _check_ids(place, row, known)
        clock = row.asked_at or row.meta.bank_last_at or max(dates[row.bank], default=last)
        queries[row.id] = _query(row, clock)
    if not queries:
        raise InvalidInput.of(QUERIES, "holds no queries")
    clock = max(last, *(query.as_of for query in queries.values()))
    return Dataset(directory.resolve().name, banks, tuple(queries.values()), clock)


def _banks(directory: Path) -> tuple[Bank, ...]:
    rows: defaultdict[str, dict[str, Row]] = defaultdict(dict)
    places = {}
    for place, row in _lines(directory / MEMORIES, Row):
        if row.id in rows[row.bank]:
            raise InvalidInput.of(place, f"id {row.id!r} stands on an earlier line of bank {row.bank!r} as well")
        rows[row.bank][row.id] = row
        places[row.bank, row.id] = place
    if not rows:
        raise InvalidInput.of(MEMORIES, "holds no memories")
    for bank, own in rows.items():
        for row in own.values():
            for field, other in (("superseded_by", row.superseded_by), ("dup_of", row.dup_of)):
                if other is not None and (other not in own or other == row.id):
                    raise InvalidInput.of(places[bank, row.id], f"{field} {other!r} is no other memory of its bank")
    return tuple(Bank(name, tuple(own.values())) for name, own in rows.items())


def _check_ids(place: str, row: QueryRow, known: Mapping[str, set[str]]) -> None:
    if row.bank not in known:
        raise InvalidInput.of(place, f"bank {row.bank!r} has no memories")
    own = known[row.bank]
    for field, ids in (("relevant", row.relevant), ("meta.newest", row.meta.newest), ("meta.stale", row.meta.stale)):
        for item in ids:
            if item not in own:
                raise InvalidInput.of(place, f"{field}: {item!r} is no memory of bank {row.bank!r}")
    for item in row.traps:
        if not any(item in ids for ids in known.values()):
            raise InvalidInput.of(place, f"traps: {item!r} is no memory of the set")


def _query(row: QueryRow, clock: datetime) -> Query:
    return Query(
        id=row.id,
        bank=row.bank,
        text=row.query,
        category=row.category,
        lang=row.lang,
        as_of=clock,
        relevant=frozenset(row.relevant),
        traps=frozenset(row.traps),
        newest=frozenset(row.meta.newest),
        stale=frozenset(row.meta.stale),
    )


def _lines(path: Path, form: type[_Form]) -> Iterator[tuple[str, _Form]]:
    decoder = msgspec.json.Decoder(form)
    try:
        lines = path.read_bytes().splitlines()
    except OSError as error:
        raise InvalidInput.of("data", f"{path} cannot be read: {error.strerror or error}") from error
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        place = f"{path.name}:{number}"
        try:
            yield place, decoder.decode(line)
        except (msgspec.MsgspecError, UnicodeDecodeError) as error:
            raise InvalidInput.of(place, str(error)) from error


def _twins(bank: Bank) -> Mapping[str, str]:
    first = {row.id: row.dup_of for row in bank.rows if row.dup_of is not None}
    found = {}
    for item in first:
        root, passed = item, {item}
        while (before := first.get(root)) is not None and before not in passed:
            root = before
            passed.add(root)
        found[item] = root
        found[root] = root
    return found
