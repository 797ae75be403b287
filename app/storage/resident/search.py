"""
Finding the candidates of a question in a bank that is in memory.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from app.domain.filters import SCOPED_TIERS, RecordFilter
from app.domain.signals.bm25 import idf, normed_score
from app.domain.signals.cosine import unit_cosine
from app.storage.banks import BankState
from app.storage.moments import to_micros
from app.storage.protocols import Bools, Floats, Gathered, Ints, Question
from app.storage.resident.bank import NO_ROW, TIERS, ResidentBank


@dataclass(frozen=True, slots=True, eq=False)
class _Keyword:
    """BM25 of every unit, how many distinct terms each record holds, and each term's frequency."""

    scores: Floats
    frequencies: dict[str, int]
    postings: list[npt.NDArray[np.int32]]


@dataclass(frozen=True, slots=True, eq=False)
class _Shared:
    """How many clusters and handles of the question each record has; empty where the question has none."""

    clusters: Ints
    entities: Ints


def gather(
    bank: ResidentBank,
    state: BankState,
    question: Question,
    wanted: RecordFilter,
    handles: Mapping[str, str],
    allowed: Collection[int] | None,
) -> Gathered:
    """
    The candidates among the records that the filter lets through; `allowed` are their numbers where the filter asks for
    more than tiers, times and liveness.
    """
    visible = _visible(bank, wanted, allowed)
    standing = bank.standing
    if visible is standing.present:
        unit_visible = standing.unit_present
    else:
        unit_visible = visible[bank.unit_row.view] & standing.unit_indexed
    keyword = _keyword(bank, state, question)
    k = question.arm_limit
    clusters = _cluster_counts(bank, question)
    entities = _entity_counts(bank, handles)
    found = [
        bank.unit_row.view[_best(keyword.scores, np.flatnonzero(unit_visible & (keyword.scores > 0)), k)],
        bank.unit_row.view[_nearest(bank, question, unit_visible, k)],
        _sharing(bank, clusters, visible, k),
        _sharing(bank, entities, visible, k),
        _in_time(bank, question, visible, k),
    ]
    is_found = np.zeros(len(visible), np.bool_)
    is_found[np.concatenate(found)] = True
    if question.with_neighbours:
        following = bank.following.view[is_found]
        following = following[following != NO_ROW]
        is_found[following[visible[following]]] = True
    rows = np.flatnonzero(is_found)
    rows = rows[np.argsort(bank.seq.view[rows], kind="stable")]
    return _columns(bank, rows, keyword, _Shared(clusters, entities), question, wanted)


def alive(bank: ResidentBank, wanted: RecordFilter) -> Bools:
    """
    Which rows are alive by the filter's clock; not to be written to.
    """
    clock = to_micros(wanted.clock)
    standing = bank.standing
    if wanted.include_superseded:
        living = ~bank.deleted.view
    elif wanted.clock_is_past:
        living = ~bank.deleted.view & (bank.retired.view > clock)
    else:
        living = standing.present
    return living if standing.first_expiry > clock else living & (bank.expires.view > clock)


def _visible(bank: ResidentBank, wanted: RecordFilter, allowed: Collection[int] | None) -> Bools:
    visible = alive(bank, wanted)
    if len(wanted.tiers) < len(TIERS):
        is_wanted = np.array([tier in wanted.tiers for tier in TIERS])
        visible = visible & is_wanted[bank.tier.view]
    if wanted.contacts is not None:
        theirs = [bank.contact_numbers[who] for who in wanted.contacts if who in bank.contact_numbers]
        is_scoped = np.array([tier in SCOPED_TIERS for tier in TIERS])
        visible = visible & (np.isin(bank.contact.view, theirs) | ~is_scoped[bank.tier.view])
    if wanted.created_after is not None:
        visible = visible & (bank.created.view >= to_micros(wanted.created_after))
    if wanted.created_before is not None:
        visible = visible & (bank.created.view < to_micros(wanted.created_before))
    if allowed is not None:
        mask = np.zeros(len(visible), np.bool_)
        mask[[bank.row_of[seq] for seq in allowed if seq in bank.row_of]] = True
        visible = visible & mask
    return visible


def _keyword(bank: ResidentBank, state: BankState, question: Question) -> _Keyword:
    standing = bank.standing
    norm = standing.norm(state.live_terms / max(1, state.live_units))
    frequencies: dict[str, int] = {}
    weights: list[float] = []
    units: list[npt.NDArray[np.int32]] = []
    times: list[npt.NDArray[np.int32]] = []
    postings = []
    for term, number in question.terms.items():
        known = bank.terms.of(term)
        if known is None:
            continue
        held, tf = known
        counted = standing.unit_counted
        frequency = len(held) if counted is None else int(np.count_nonzero(counted[held]))
        if frequency:
            frequencies[term] = frequency
            weights.append(number * float(idf(frequency, state.live_units)))
            units.append(held)
            times.append(tf)
        if question.with_terms_hit:
            postings.append(held.copy())
    if not units:
        return _Keyword(np.zeros(len(bank.unit_hash)), frequencies, postings)
    every = np.concatenate(units)
    weight = np.repeat(weights, [len(held) for held in units])
    added = normed_score(np.concatenate(times), weight, norm[every])
    scores = np.zeros(len(bank.unit_hash))
    # In the order of the terms, so that a unit's sum is the same float however it is found.
    scores += np.bincount(every, added, len(scores))
    return _Keyword(scores, frequencies, postings)


def _nearest(bank: ResidentBank, question: Question, eligible: Bools, k: int) -> Ints:
    if question.vector is None:
        return np.zeros(0, np.int64)
    units = bank.codes.within_reach(question.vector, np.flatnonzero(eligible & bank.has_vector.view), k)
    cosines = np.zeros(len(bank.unit_hash), np.float32)
    cosines[units] = bank.vectors.view[units] @ question.vector
    return _best(cosines, units, k)


def _best(scores: npt.NDArray[np.floating], units: Ints, k: int) -> Ints:
    if len(units) > k:
        values = scores[units]
        # Everything as good as the k-th stays in view, so that equal scores are cut by number and not by chance.
        units = units[values >= np.partition(values, len(values) - k)[len(values) - k]]
    order = np.lexsort((units, -scores[units]))
    return units[order[:k]]


def _cluster_counts(bank: ResidentBank, question: Question) -> Ints:
    mask = sum(bank.cluster_bits.get(name, 0) for name in question.clusters)
    if not mask:
        return np.zeros(0, np.int64)
    counts: Ints = np.bitwise_count(bank.clusters.view & mask).astype(np.int64)
    return counts


def _entity_counts(bank: ResidentBank, handles: Mapping[str, str]) -> Ints:
    bearers: dict[str, set[int]] = {}
    for handle, meant in handles.items():
        rows = bank.bearers.get(handle)
        if rows:
            # Two names of one person count once.
            bearers[meant] = bearers[meant] | rows if meant in bearers else rows
    if not bearers:
        return np.zeros(0, np.int64)
    named = [row for rows in bearers.values() for row in rows]
    return np.bincount(named, minlength=len(bank.ids)).astype(np.int64)


def _sharing(bank: ResidentBank, counts: Ints, visible: Bools, k: int) -> Ints:
    """Rows with the most in common, then the newest, then the first; none for empty counts."""
    if not len(counts):
        return counts
    rows = np.flatnonzero((counts > 0) & visible)
    order = np.lexsort((bank.seq.view[rows], -bank.updated.view[rows], -counts[rows]))
    return rows[order[:k]]


def _in_time(bank: ResidentBank, question: Question, visible: Bools, k: int) -> Ints:
    """Rows that tell of one of the question's times, newest first."""
    if not question.spans:
        return np.zeros(0, np.int64)
    inside = np.zeros(len(visible), np.bool_)
    for first, last in question.spans:
        inside |= (bank.happened.view >= first) & (bank.happened.view <= last)
    rows = np.flatnonzero(inside & visible)
    order = np.lexsort((bank.seq.view[rows], -bank.happened.view[rows]))
    return rows[order[:k]]


def _columns(
    bank: ResidentBank,
    rows: Ints,
    keyword: _Keyword,
    shared: _Shared,
    question: Question,
    wanted: RecordFilter,
) -> Gathered:
    chosen: list[int] = rows.tolist()
    before = bank.previous.view[rows] if question.with_neighbours else np.full(len(rows), NO_ROW)
    before = np.where((before != NO_ROW) & alive(bank, wanted)[before], before, NO_ROW)
    is_wider = np.zeros(len(bank.ids), np.bool_)
    is_wider[rows] = True
    is_wider[before[before != NO_ROW]] = True
    wider = np.flatnonzero(is_wider)
    bm25, part = _of_records(bank, wider, keyword.scores)
    cosine, near_part, near_unit = _exact_cosine(bank, wider, question)
    place = np.searchsorted(wider, rows)
    place_before = np.where(before == NO_ROW, NO_ROW, np.searchsorted(wider, before))
    hit = bm25[place] > 0
    return Gathered(
        seq=bank.seq.view[rows],
        part=np.where(hit, part[place], near_part[place]),
        ids=tuple(map(bank.ids.__getitem__, chosen)),
        speakers=tuple(map(bank.speakers.__getitem__, chosen)),
        bm25=bm25[place],
        cosine=cosine[place],
        previous_bm25=np.where(place_before < 0, 0.0, bm25[place_before]) if len(wider) else np.zeros(0),
        previous_cosine=np.where(place_before < 0, np.nan, cosine[place_before]) if len(wider) else np.zeros(0),
        terms_hit=_terms_hit(bank, rows, keyword.postings if question.with_terms_hit else []),
        cluster=_at(shared.clusters, rows) / max(1, len(question.clusters)),
        entity=_at(shared.entities, rows),
        created=bank.created.view[rows],
        updated=bank.updated.view[rows],
        happened=bank.happened.view[rows],
        accessed=bank.accessed.view[rows],
        access_count=bank.access_count.view[rows],
        confidence=bank.confidence.view[rows],
        pinned=bank.pinned.view[rows],
        observations=bank.observations.view[rows],
        category=bank.category.view[rows],
        tier=bank.tier.view[rows],
        frequencies=keyword.frequencies,
        vectors=_chosen_vectors(bank, near_unit[place]) if question.with_vectors else None,
    )


def _of_records(bank: ResidentBank, rows: Ints, scores: Floats) -> tuple[Floats, Ints]:
    """The best of each record's units: its score (0 without a unit) and its part."""
    only = bank.only_unit.view[rows]
    best, part = np.where(only == NO_ROW, 0.0, scores[only]), np.zeros(len(rows), np.int64)
    for place in np.flatnonzero(only == NO_ROW):
        units = bank.units_of_row[rows[place]]
        if units:
            unit = max(units, key=lambda unit: (scores[unit], -unit))
            best[place], part[place] = scores[unit], bank.unit_part.view[unit]
    return best, part


def _exact_cosine(bank: ResidentBank, rows: Ints, question: Question) -> tuple[Floats, Ints, Ints]:
    """The best cosine of each record in double precision, NaN without a vector; its part, and its unit."""
    if question.vector is None or not len(rows):
        return np.full(len(rows), np.nan), np.zeros(len(rows), np.int64), np.full(len(rows), NO_ROW)
    chosen = bank.only_unit.view[rows].copy()
    known = (chosen != NO_ROW) & bank.has_vector.view[chosen]
    best = np.where(known, unit_cosine(bank.vectors.view[chosen], question.vector), np.nan)
    for place in np.flatnonzero(chosen == NO_ROW):
        units = [unit for unit in bank.units_of_row[rows[place]] if bank.has_vector.view[unit]]
        if units:
            cosines = unit_cosine(bank.vectors.view[units], question.vector)
            first = int(np.argmax(cosines))
            best[place], chosen[place] = cosines[first], units[first]
    part = np.where(np.isnan(best), 0, bank.unit_part.view[chosen])
    return best, part, np.where(np.isnan(best), NO_ROW, chosen)


def _terms_hit(bank: ResidentBank, rows: Ints, postings: list[npt.NDArray[np.int32]]) -> Ints:
    hit = np.zeros(len(bank.ids), np.int64)
    for units in postings:
        has = np.zeros(len(hit), np.bool_)
        has[bank.unit_row.view[units[~bank.unit_gone.view[units]]]] = True
        hit += has
    return hit[rows]


def _at(counts: Ints, rows: Ints) -> Ints:
    return counts[rows] if len(counts) else np.zeros(len(rows), np.int64)


def _chosen_vectors(bank: ResidentBank, units: Ints) -> npt.NDArray[np.float32]:
    vectors = bank.vectors.view[units].copy()
    vectors[units == NO_ROW] = 0.0
    return vectors
