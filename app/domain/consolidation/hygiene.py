"""
Decides which memories state the same, which of them survives, and what is worth showing to a judge.

Only memories of the same words in the same order are merged without a judge. Same words in another order are reported.
"""

import math
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from app.domain.consolidation.sameness import duplicate_key, guarded_parts, same_statement
from app.domain.consolidation.sifting import Terms
from app.domain.identity import digest

COMMON_TERM_HOLDERS = 200
"""A term that more memories hold relates none of them to another."""


@dataclass(frozen=True, slots=True)
class Row:
    """
    A live memory as hygiene sees it. `happened_at` is when what it states began to hold, as far as that is known.
    """

    id: str
    seq: int
    text: str
    speaker: str | None
    pinned: bool
    observations: int
    created_at: datetime
    happened_at: datetime


@dataclass(frozen=True, slots=True)
class Group:
    """
    Memories that state the same: the survivor, those that it replaces, and those that stay because they are pinned.
    """

    survivor: Row
    losers: tuple[Row, ...]
    pinned: tuple[Row, ...] = ()


@dataclass(frozen=True, slots=True)
class Plan:
    """
    What one pass does: groups with at most as many losers as it may retire, how many are left for the next pass, and
    groups of the same words in another order, which nobody but a judge may merge.
    """

    groups: tuple[Group, ...]
    capped: int
    reordered: tuple[tuple[Row, ...], ...]

    @property
    def merges(self) -> int:
        """
        How many memories the pass retires.
        """
        return sum(len(group.losers) for group in self.groups)

    @property
    def pinned(self) -> list[str]:
        """
        Ids of pinned memories that would have had to give way.
        """
        return [row.id for group in self.groups for row in group.pinned]


def plan(rows: Sequence[Row], merges_max: int) -> Plan:
    """
    The plan for all live memories of a bank.
    """
    alike: defaultdict[object, list[Row]] = defaultdict(list)
    for row in rows:
        key = same_statement(row.text)
        if key[0]:
            alike[key].append(row)
    writable = [part for found in alike.values() for part in _by_speaker(found) if len(part) > 1]
    taken = {row.id for part in writable for row in part}
    groups, room = [], merges_max
    for part in sorted(writable, key=lambda part: min(row.seq for row in part)):
        group = grouped(part)
        kept = Group(group.survivor, group.losers[:room], group.pinned)
        room -= len(kept.losers)
        groups.append(kept)
    wanted = sum(len(grouped(part).losers) for part in writable)
    found = tuple(group for group in groups if group.losers or group.pinned)
    return Plan(found, wanted - sum(len(group.losers) for group in found), _reordered(rows, taken))


def grouped(rows: Sequence[Row]) -> Group:
    """
    Who of them survives: a pinned one, else the one stated most often, else the oldest, else by id.
    """
    first, *rest = sorted(rows, key=lambda row: (not row.pinned, -row.observations, row.created_at, row.id))
    return Group(first, tuple(row for row in rest if not row.pinned), tuple(row for row in rest if row.pinned))


def group_mark(rows: Iterable[Row]) -> str:
    """
    A name for a set of memories, by which a judged one is known again.
    """
    return digest(" ".join(sorted(row.id for row in rows)).encode())


def may_be_merged(rows: Sequence[Row]) -> bool:
    """
    Whether nothing in the texts forbids that a judge makes one of them.
    """
    return len({guarded_parts(row.text) for row in rows}) == 1 and len(_by_speaker(rows)) == 1


def promotable(rows: Sequence[Row], corroboration_min: int, known: Collection[str], limit: int) -> list[Row]:
    """
    Memories stated so often beyond the first time that they may be standing instructions; 0 turns this off.
    """
    if corroboration_min == 0:
        return []
    often = [row for row in rows if row.observations - 1 >= corroboration_min and row.id not in known]
    return sorted(often, key=lambda row: (-row.observations, row.seq))[:limit]


@dataclass(frozen=True, slots=True)
class Related:
    """
    Memories of which some may contradict each other, and the number of the last new memory that was looked at.
    """

    rows: tuple[Row, ...]
    looked_at: int


def related(rows: Sequence[Row], since: int, terms: Terms, share_min: float, limit: int) -> Related:
    """
    New memories, numbered above `since`, each with those that speak of the same, at most `limit` in all.

    Two speak of the same when the terms they share weigh at least `share_min` of the lighter one's terms; a term weighs
    by how few memories hold it.
    """
    own = {row.id: frozenset(terms(row.text)) for row in rows}
    holders: defaultdict[str, list[Row]] = defaultdict(list)
    for row in rows:
        for term in own[row.id]:
            holders[term].append(row)
    weight = {term: math.log(1 + len(rows) / len(found)) for term, found in holders.items()}
    chosen: dict[str, Row] = {}
    looked_at = since
    for row in sorted((row for row in rows if row.seq > since), key=lambda row: row.seq):
        shares = _shares(row, own, holders, weight)
        best = sorted((item for item in shares if item[0] >= share_min), key=lambda item: (-item[0], item[1].seq))
        found = [row, *(other for _, other in best[: max(1, limit // 4)])] if best else []
        added = {item.id: item for item in found if item.id not in chosen}
        if len(chosen) + len(added) > limit:
            break
        chosen |= added
        looked_at = row.seq
    return Related(tuple(sorted(chosen.values(), key=lambda row: row.seq)), looked_at)


def ends(older: Row, newer: Row) -> bool:
    """
    Whether the newer memory may end the truth of the older: it states what began to hold later, of the same person as
    far as that is known, and the older one is not pinned.
    """
    if older.id == newer.id or older.pinned or len(_by_speaker((older, newer))) > 1:
        return False
    return (older.happened_at, older.seq) < (newer.happened_at, newer.seq)


def _shares(
    row: Row,
    own: Mapping[str, frozenset[str]],
    holders: Mapping[str, Sequence[Row]],
    weight: Mapping[str, float],
) -> list[tuple[float, Row]]:
    near = {
        other.id: other
        for term in own[row.id]
        if len(holders[term]) <= COMMON_TERM_HOLDERS
        for other in holders[term]
        if other.id != row.id and len(_by_speaker((row, other))) == 1
    }

    def heavy(terms: Iterable[str]) -> float:
        return sum(weight[term] for term in terms)

    mine = heavy(own[row.id])
    return [(heavy(own[row.id] & own[other.id]) / min(mine, heavy(own[other.id])), other) for other in near.values()]


def _by_speaker(rows: Sequence[Row]) -> list[list[Row]]:
    """
    The rows by who said them. Where one person is named at most, those of an unknown speaker are theirs as well.
    """
    parts: defaultdict[str | None, list[Row]] = defaultdict(list)
    for row in rows:
        parts[row.speaker].append(row)
    named = [speaker for speaker in parts if speaker is not None]
    return list(parts.values()) if len(named) > 1 else [list(rows)]


def _reordered(rows: Sequence[Row], taken: Collection[str]) -> tuple[tuple[Row, ...], ...]:
    same: defaultdict[tuple[str, ...], list[Row]] = defaultdict(list)
    for row in rows:
        words = tuple(sorted(set(duplicate_key(row.text).split())))
        if words and row.id not in taken:
            same[words].append(row)
    return tuple(tuple(found) for found in same.values() if len(found) > 1)
