"""
One bank in memory: what ranking and filtering need of its records, its postings, and its vectors.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from sqlalchemy import Row

from app.domain.contacts import Address
from app.domain.entities import query_handles
from app.domain.records import Category, Tier
from app.domain.signals.entity import standing_for
from app.domain.units import Unit
from app.storage.protocols import Space
from app.storage.resident.codes import Codes
from app.storage.resident.columns import Growing
from app.storage.resident.standing import NEVER, Standing
from app.storage.resident.terms import Terms

CATEGORIES = {category: place for place, category in enumerate(Category)}
TIERS = {tier: place for place, tier in enumerate(Tier)}
NO_ROW = -1

UnitsOf = Callable[[Row[*tuple[Any, ...]]], Sequence[Unit]]


class ResidentBank:
    """
    Rows are records in the order in which they were first loaded; a record keeps its row when it changes.

    `version` and `epoch` are the bank's when this was last brought up to date.
    """

    def __init__(self, epoch: int, space: Space | None) -> None:
        self.version = 0
        self.epoch = epoch
        self.space = space
        self.dimensions = 0 if space is None else space.dimensions
        self.cluster_bits: dict[str, int] = {}
        self.ids: list[str] = []
        self.speakers: list[str | None] = []
        self.entities: list[tuple[str, ...]] = []
        # 8 clusters of the project and at most 40 of a bank's own: a bitmask of 64 bits holds them.
        self.row_of: dict[int, int] = {}
        self.bearers: dict[str, set[int]] = {}
        self.synonyms: dict[str, str] = {}
        self.contact_numbers: dict[Address | None, int] = {None: 0}
        self.terms = Terms()
        self.seq = Growing(np.int64)
        self.created = Growing(np.int64)
        self.contact = Growing(np.int64)  # whose conversation it belongs to, by `contact_numbers`
        self.updated = Growing(np.int64)
        self.happened = Growing(np.int64)
        self.accessed = Growing(np.float64)
        self.access_count = Growing(np.int64)
        self.confidence = Growing(np.float64)
        self.pinned = Growing(np.bool_)
        self.observations = Growing(np.int64)
        self.category = Growing(np.int64)
        self.tier = Growing(np.int64)
        self.clusters = Growing(np.int64)
        self.expires = Growing(np.int64)
        self.retired = Growing(np.int64)  # when it was superseded, or NEVER
        self.deleted = Growing(np.bool_)
        self.previous = Growing(np.int64)  # rows
        self.following = Growing(np.int64)
        self.only_unit = Growing(np.int64)  # the unit of a record that has just one, else NO_ROW
        self.unit_row = Growing(np.int64)  # of units: the record's row
        self.unit_part = Growing(np.int64)
        self.unit_length = Growing(np.int64)
        self.unit_gone = Growing(np.bool_)
        self.unit_hash: list[bytes] = []
        self.units_of_row: list[list[int]] = []
        self.vectors = Growing(np.float32, self.dimensions)
        self.codes = Codes(self.dimensions)
        self.has_vector = Growing(np.bool_)
        self.gone_units = 0
        self._standing: Standing | None = None

    @property
    def standing(self) -> Standing:
        """
        What questions to this version of the bank have in common.
        """
        if self._standing is None:
            self._standing = Standing(
                self.expires.view,
                self.retired.view,
                self.deleted.view,
                self.unit_row.view,
                self.unit_gone.view,
                self.unit_length.view,
            )
        return self._standing

    @property
    def nbytes(self) -> int:
        """
        Bytes taken, about.
        """
        columns = sum(value.nbytes for value in vars(self).values() if isinstance(value, Growing))
        return columns + self.terms.nbytes + self.codes.nbytes + 400 * len(self.ids) + 120 * len(self.unit_hash)

    @property
    def is_sparse(self) -> bool:
        """
        Whether so many units are gone that a fresh load pays.
        """
        return self.gone_units > 1000 and self.gone_units * 3 > len(self.unit_hash)

    def asked_in(self, text: str) -> dict[str, str]:
        """
        The handles that a question asks about, with the handle that each stands for.
        """
        named = query_handles(text, self.bearers)
        if self.synonyms:
            named += query_handles(text, self.synonyms)
        return standing_for(named, self.synonyms)

    def take(self, rows: Sequence[Row[*tuple[Any, ...]]], units_of: UnitsOf) -> None:
        """
        Take in records that are new or have changed, in the order of their numbers.
        """
        self._standing = None
        fresh = [item for item in rows if item.seq not in self.row_of]
        known = [item for item in rows if item.seq in self.row_of]
        self._add(fresh, [units_of(item) for item in fresh])
        for item in known:
            self._change(self.row_of[item.seq], item, units_of(item))

    def take_vectors(self, rows: Sequence[Row[*tuple[Any, ...]]]) -> None:
        """
        Take in vectors of units (seq, part, text_hash, embedding); one of another text than the unit's is passed over.
        """
        units, embeddings = [], []
        for item in rows:
            row = self.row_of.get(item.seq)
            for unit in () if row is None else self.units_of_row[row]:
                if self.unit_part.view[unit] == item.part and self.unit_hash[unit] == item.text_hash:
                    units.append(unit)
                    embeddings.append(item.embedding)
        if units:
            vectors = np.frombuffer(b"".join(embeddings), np.float32).reshape(len(units), self.dimensions)
            self.vectors.view[units] = vectors
            self.codes.put(units, vectors)
            self.has_vector.view[units] = True

    def _add(self, items: Sequence[Row[*tuple[Any, ...]]], units: Sequence[Sequence[Unit]]) -> None:
        first = len(self.ids)
        self.row_of.update((item.seq, row) for row, item in enumerate(items, first))
        self.ids += [item.id for item in items]
        self.speakers += [item.speaker for item in items]
        self.entities += [() for _ in items]
        self.units_of_row += [[] for _ in items]
        self.seq.append([item.seq for item in items])
        self.created.append([item.created_at for item in items])
        self.contact.append([self._contact_number(item) for item in items])
        previous = [NO_ROW if item.previous is None else self.row_of.get(item.previous, NO_ROW) for item in items]
        self.previous.append(previous)
        self.following.append([NO_ROW] * len(items))
        self.only_unit.append([NO_ROW] * len(items))
        for row, before in enumerate(previous, first):
            if before != NO_ROW:
                self.following.view[before] = row
        for column, values in zip(self._changing(), zip(*map(self._values, items), strict=True), strict=False):
            column.append(values)
        for row, item in enumerate(items, first):
            self._bear(row, tuple(item.entities))
        self._add_units(
            [(row, unit) for row, own in enumerate(units, first) for unit in own if _is_kept(items[row - first])]
        )

    def _change(self, row: int, item: Row[*tuple[Any, ...]], units: Sequence[Unit]) -> None:
        entities = tuple(item.entities)
        kept = units if _is_kept(item) else ()
        known = [self.unit_hash[unit] for unit in self.units_of_row[row]]
        # Entity handles are terms too, though no part of the text that the digest stands for.
        same = known == [unit.hash for unit in kept] and self.entities[row] == entities
        for column, value in zip(self._changing(), self._values(item), strict=True):
            column.view[row] = value
        self._bear(row, entities)
        if not same:
            stale = self.units_of_row[row]
            self.unit_gone.view[stale] = True
            self.gone_units += len(stale)
            self.units_of_row[row] = []
            self.only_unit.view[row] = NO_ROW
            self._add_units([(row, unit) for unit in kept])

    def _changing(self) -> tuple[Growing[Any], ...]:
        return (
            self.updated,
            self.happened,
            self.accessed,
            self.access_count,
            self.confidence,
            self.pinned,
            self.observations,
            self.category,
            self.tier,
            self.clusters,
            self.expires,
            self.retired,
            self.deleted,
        )

    def _values(self, item: Row[*tuple[Any, ...]]) -> tuple[float, ...]:
        return (
            item.updated_at,
            item.created_at if item.occurred_at is None else item.occurred_at,
            np.nan if item.last_accessed_at is None else item.last_accessed_at,
            item.access_count,
            item.confidence,
            item.pinned,
            item.observations,
            CATEGORIES[Category(item.category)],
            TIERS[Tier(item.tier)],
            sum(self._bit(name) for name in item.clusters),
            NEVER if item.expires_at is None else item.expires_at,
            NEVER if item.invalid_at is None else item.invalid_at,
            not _is_kept(item),
        )

    def _contact_number(self, item: Row[*tuple[Any, ...]]) -> int:
        whole = item.source is not None and item.source_id is not None
        address = Address(item.source, item.source_id) if whole else None
        return self.contact_numbers.setdefault(address, len(self.contact_numbers))

    def _bit(self, cluster: str) -> int:
        return self.cluster_bits.setdefault(cluster, 1 << len(self.cluster_bits))

    def _bear(self, row: int, entities: tuple[str, ...]) -> None:
        for handle in set(self.entities[row]).difference(entities):
            self.bearers[handle].discard(row)
        for handle in entities:
            self.bearers.setdefault(handle, set()).add(row)
        self.entities[row] = entities

    def _add_units(self, units: Sequence[tuple[int, Unit]]) -> None:
        first = len(self.unit_hash)
        self.unit_hash += [unit.hash for _, unit in units]
        self.unit_row.append([row for row, _ in units])
        self.unit_part.append([unit.part for _, unit in units])
        self.unit_length.append([unit.length for _, unit in units])
        self.unit_gone.append([False] * len(units))
        self.has_vector.append([False] * len(units))
        self.vectors.append(np.zeros((len(units), self.dimensions), np.float32))
        self.codes.grow(len(units))
        for place, (row, unit) in enumerate(units, first):
            own = self.units_of_row[row]
            own.append(place)
            self.only_unit.view[row] = place if len(own) == 1 else NO_ROW
            self.terms.add(place, unit.terms)


def _is_kept(item: Row[*tuple[Any, ...]]) -> bool:
    """Whether the record is in any index: live or superseded, but not deleted."""
    return bool(item.invalid_reason != "deleted")
