"""
Recall: from a question to the few records that matter, each with the reasons for its place.
"""

import asyncio
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

import numpy as np
from sqlalchemy import Connection

from app.clock import Clock
from app.config import RecallSettings
from app.domain.filters import RecordFilter
from app.domain.identity import new_id
from app.domain.ranking.candidates import Arm, Candidates, QueryFacts
from app.domain.ranking.order import ranking
from app.domain.ranking.scored import Scored, Scorer
from app.domain.records import Category, Record, Tier
from app.domain.signals.bm25 import ceiling
from app.domain.signals.speaker import named_speakers
from app.domain.signals.temporal import nearness
from app.domain.temporal import AgeSpan, age_spans
from app.domain.text.legal import legal_text
from app.services.access_log import AccessLog
from app.services.faults import Faults
from app.services.preparation import Preparation
from app.services.query_vectors import QueryEmbedding, QueryMeaning
from app.services.recall_model import EmptyReason, Mode, RecallAnswer, RecallRequest, RecallResult
from app.storage import banks as bank_rows
from app.storage import records, units
from app.storage.banks import BankState
from app.storage.engine import Storage
from app.storage.moments import to_micros
from app.storage.protocols import Gathered, Question, RecallIndex

DAY_MICROS = 86_400_000_000
LIMIT_MAX = 500


@dataclass(frozen=True, slots=True)
class _Plan:
    """A request made ready: everything that needs neither the store nor a model."""

    request: RecallRequest
    limit: int
    wanted: RecordFilter
    query: str
    terms: Mapping[str, int]
    words: tuple[str, ...]
    spans: tuple[AgeSpan, ...]
    scorer_name: str
    asked_at: datetime


@dataclass(frozen=True, slots=True)
class _Found:
    results: tuple[RecallResult, ...]
    empty_reason: EmptyReason | None
    degraded: tuple[str, ...] = ()


class Recall:
    """
    The use case of recalling. `scorers` make a scorer by name; `index` finds the candidates and may be exchanged.
    """

    def __init__(
        self,
        storage: Storage,
        index: RecallIndex,
        preparation: Preparation,
        embedding: QueryEmbedding,
        scorers: Mapping[str, Callable[[], Scorer]],
        access_log: AccessLog,
        clock: Clock,
        settings: RecallSettings,
    ) -> None:
        self._storage = storage
        self.index = index
        self._preparation = preparation
        self._embedding = embedding
        self._scorers = {name: make() for name, make in scorers.items()}
        self._access_log = access_log
        self._clock = clock
        self._settings = settings

    async def recall(self, bank: str, request: RecallRequest) -> RecallAnswer:
        """
        Answer one question.

        Raises:
            InvalidInput: naming every bad field.
            NotFound: when there is no such bank.
        """
        plan = self._plan(request)
        meaning = await self._meaning(plan)
        return await self.recall_with(bank, plan.request, meaning)

    async def batch(self, bank: str, requests: Sequence[RecallRequest]) -> list[RecallAnswer]:
        """
        Answer several questions; each answer stands at its question's place.

        Raises:
            InvalidInput: naming every bad field of every question.
            NotFound: when there is no such bank.
        """
        faults = Faults()
        for place, request in enumerate(requests):
            own = Faults(f"queries[{place}].")
            self._check(request, own)
            faults.merge(own)
        faults.raise_if_any()
        return list(await asyncio.gather(*(self.recall(bank, request) for request in requests)))

    async def recall_with(self, bank: str, request: RecallRequest, meaning: QueryMeaning) -> RecallAnswer:
        """
        Answer one question whose vector is known.

        Raises:
            InvalidInput: naming every bad field.
            NotFound: when there is no such bank.
        """
        plan = self._plan(request)
        started = time.perf_counter()
        found = await self._storage.read(lambda connection: self._find(connection, bank, plan, meaning))
        took_ms = (time.perf_counter() - started) * 1000 + meaning.took_ms
        if request.record_access and found.results:
            self._access_log.note(bank, [result.record.id for result in found.results])
        return RecallAnswer(
            recall_id=new_id("rec"),
            retrieval=_retrieval(request.mode, meaning),
            degraded=(*meaning.degraded, *found.degraded),
            took_ms=round(took_ms, 3),
            results=found.results,
            empty_reason=found.empty_reason,
        )

    async def _meaning(self, plan: _Plan) -> QueryMeaning:
        if plan.request.mode is Mode.LEXICAL or not plan.query.strip():
            return self._embedding.not_asked()
        return await self._embedding.of(plan.query)

    def _check(self, request: RecallRequest, faults: Faults) -> None:
        if request.limit is not None and not 0 <= request.limit <= LIMIT_MAX:
            faults.add("limit", f"must lie in 0..{LIMIT_MAX}, got {request.limit}")
        if request.threshold is not None and not -1.0 <= request.threshold <= 1.0:
            faults.add("threshold", f"must lie in [-1, 1], got {request.threshold}")
        if request.scorer is not None and request.scorer not in self._scorers:
            faults.add("scorer", f"must be one of {', '.join(self._scorers)}, got {request.scorer!r}")
        if request.category is not None and request.category not in set(Category):
            faults.add("filters.category", f"must be one of {', '.join(Category)}, got {request.category!r}")
        for key in request.metadata:
            if '"' in key:
                faults.add("filters.metadata", "a key to filter by holds no double quote")
        faults.moment("as_of", request.as_of)
        faults.moment("filters.created_after", request.created_after)
        faults.moment("filters.created_before", request.created_before)

    def _plan(self, request: RecallRequest) -> _Plan:
        faults = Faults()
        self._check(request, faults)
        faults.raise_if_any()
        now = self._clock.now()
        asked_at = request.as_of or now
        query = legal_text(request.query)
        terms = self._preparation.analyzer.query_terms(query)
        return _Plan(
            request=request,
            limit=self._settings.limit if request.limit is None else request.limit,
            wanted=_filter_of(request, asked_at, is_past=request.as_of is not None and request.as_of < now),
            query=query,
            terms=Counter(terms),
            words=tuple(self._preparation.analyzer.words(query)),
            spans=age_spans(query, asked_at),
            scorer_name=self._scorer_name(request),
            asked_at=asked_at,
        )

    def _scorer_name(self, request: RecallRequest) -> str:
        if request.mode is Mode.HYBRID:
            return request.scorer or self._settings.scorer
        return request.mode.value

    def _find(self, connection: Connection, bank: str, plan: _Plan, meaning: QueryMeaning) -> _Found:
        state = bank_rows.require_state(connection, bank)
        if not plan.query.strip():
            listed = records.newest(connection, state.bank_id, plan.wanted, plan.limit)
            results = tuple(RecallResult(item, item.text, 0.0, {} if plan.request.explain else None) for item in listed)
            return _Found(results, self._why_empty(connection, state, plan) if not results else None)
        scorer = self._scorer_for(plan, meaning)
        question = self._question(state, plan, meaning)
        gathered = self.index.gather(connection, state, question, plan.wanted)
        candidates = _candidates(gathered, plan)
        scored = scorer.score(candidates, self._facts(state, gathered, plan, meaning))
        degraded, keep = _floors(plan.request, scored, candidates, has_meaning=meaning.vector is not None)
        kept = replace(scored, keep=keep)
        chosen = [int(row) for row in ranking(kept, candidates)[: plan.limit]]
        results = self._results(connection, state, gathered, kept, chosen, explain=plan.request.explain)
        reason = None
        if not results and plan.limit:
            reason = self._why_empty(connection, state, plan)
        return _Found(results, reason, degraded)

    def _scorer_for(self, plan: _Plan, meaning: QueryMeaning) -> Scorer:
        # A question of meaning alone that has no vector is answered by words, and the answer says so.
        if plan.request.mode is Mode.SEMANTIC and meaning.vector is None:
            return self._scorers["lexical"]
        return self._scorers[plan.scorer_name]

    def _question(self, state: BankState, plan: _Plan, meaning: QueryMeaning) -> Question:
        return Question(
            text=plan.query,
            terms=self._searched_terms(plan),
            clusters=self._preparation.clusters_of(plan.query, state.settings),
            arm_limit=max(self._settings.candidates_per_arm, plan.limit),
            space=meaning.space,
            vector=meaning.vector,
            spans=tuple(_moments(span, plan.asked_at) for span in plan.spans) if plan.scorer_name == "fused" else (),
            with_neighbours=plan.scorer_name == "fused",
            with_terms_hit=plan.scorer_name == "orca",
            with_vectors=plan.scorer_name == "orcbot" or self._settings.fused.diversity < 1.0,
        )

    def _searched_terms(self, plan: _Plan) -> Mapping[str, int]:
        most = self._settings.query_terms_max
        if len(plan.terms) <= most:
            return plan.terms
        # Of a pasted page the longest words are the likeliest to be rare; which are is only known to the bank.
        longest = sorted(plan.terms, key=lambda term: (-len(term), term))[:most]
        return {term: plan.terms[term] for term in longest}

    def _facts(self, state: BankState, gathered: Gathered, plan: _Plan, meaning: QueryMeaning) -> QueryFacts:
        arms = {Arm.KEYWORD, Arm.CLUSTER}
        if meaning.vector is not None:
            arms.add(Arm.SEMANTIC)
        terms = self._searched_terms(plan)
        asked = [gathered.frequencies.get(term, 0) for term, number in terms.items() for _ in range(number)]
        floor = meaning.floor if plan.request.threshold is None else plan.request.threshold
        return QueryFacts(
            arms=frozenset(arms),
            cosine_floor=floor if plan.request.mode is Mode.SEMANTIC else meaning.floor,
            keyword_ceiling=ceiling(asked, state.live_units),
            bank_accesses=state.total_accesses,
            half_life_days=self._settings.half_life_days,
            maturity_accesses=self._settings.maturity_accesses,
            limit=plan.limit,
        )

    def _results(
        self,
        connection: Connection,
        state: BankState,
        gathered: Gathered,
        scored: Scored,
        chosen: Sequence[int],
        *,
        explain: bool,
    ) -> tuple[RecallResult, ...]:
        seqs = [int(gathered.seq[row]) for row in chosen]
        found = records.by_seqs(connection, state.bank_id, seqs)
        long = [seq for seq, item in found.items() if len(item.text) > self._preparation.passage_chars]
        spans = units.of(connection, state.bank_id, long) if long else {}
        results = []
        for row, seq in zip(chosen, seqs, strict=True):
            item = found[seq]
            text, passage = _passage(item, spans.get(seq, []), int(gathered.part[row]))
            reasons = _explain(scored, row) if explain else None
            results.append(RecallResult(item, text, round(float(scored.score[row]), 6), reasons, passage))
        return tuple(results)

    def _why_empty(self, connection: Connection, state: BankState, plan: _Plan) -> EmptyReason:
        everything = RecordFilter(clock=plan.wanted.clock, clock_is_past=plan.wanted.clock_is_past)
        if not records.exists(connection, state.bank_id, everything):
            return EmptyReason.BANK_EMPTY
        if plan.wanted.is_narrow and not records.exists(connection, state.bank_id, plan.wanted):
            return EmptyReason.FILTERED_OUT
        return EmptyReason.NOTHING_RELEVANT


def _filter_of(request: RecallRequest, clock: datetime, *, is_past: bool) -> RecordFilter:
    return RecordFilter(
        clock=clock,
        tiers=frozenset(request.tiers or Tier),
        tags=frozenset(request.tags),
        category=None if request.category is None else Category(request.category),
        session_id=request.session_id,
        source=request.source,
        source_id=request.source_id,
        contacts=request.contacts,
        created_after=request.created_after,
        created_before=request.created_before,
        metadata=request.metadata,
        exclude_ids=frozenset(request.exclude_ids),
        include_superseded=request.include_superseded,
        clock_is_past=is_past,
    )


def _retrieval(mode: Mode, meaning: QueryMeaning) -> Mode:
    if meaning.vector is None:
        return Mode.LEXICAL
    return mode


def _candidates(gathered: Gathered, plan: _Plan) -> Candidates:
    clock = to_micros(plan.asked_at)
    speakers = named_speakers(plan.words, frozenset(name for name in gathered.speakers if name))
    distinct = max(1, len(plan.terms))
    return Candidates(
        seq=gathered.seq,
        ids=gathered.ids,
        bm25=gathered.bm25,
        cosine=gathered.cosine,
        cluster=gathered.cluster,
        entity=gathered.entity,
        topic=gathered.terms_hit / distinct,
        speaker=np.array([name in speakers for name in gathered.speakers], np.float64),
        time=nearness((clock - gathered.happened) / DAY_MICROS, plan.spans),
        previous_bm25=gathered.previous_bm25,
        previous_cosine=gathered.previous_cosine,
        created_age_days=(clock - gathered.created) / DAY_MICROS,
        updated_age_days=(clock - gathered.updated) / DAY_MICROS,
        accessed_age_days=(clock - gathered.accessed) / DAY_MICROS,
        access_count=gathered.access_count,
        confidence=gathered.confidence,
        pinned=gathered.pinned,
        observations=gathered.observations,
        category=gathered.category,
        tier=gathered.tier,
        vectors=gathered.vectors,
    )


def _floors(
    request: RecallRequest, scored: Scored, candidates: Candidates, *, has_meaning: bool
) -> tuple[tuple[str, ...], np.ndarray[tuple[int], np.dtype[np.bool_]]]:
    """What the floors of the request leave, and whether one of them could not be held."""
    keep = scored.keep
    degraded: tuple[str, ...] = ()
    if request.threshold is not None and request.mode is not Mode.LEXICAL:
        if has_meaning:
            keep = keep & (np.nan_to_num(candidates.cosine, nan=-2.0) >= request.threshold)
        else:
            degraded = ("threshold_not_applied: no cosine similarity was computed",)
    if request.min_score is not None:
        keep = keep & (scored.score >= request.min_score)
    return degraded, keep


def _moments(span: AgeSpan, asked_at: datetime) -> tuple[int, int]:
    clock = to_micros(asked_at)
    return clock - int(span.oldest * DAY_MICROS), clock - int(span.newest * DAY_MICROS)


def _passage(item: Record, spans: Sequence[units.StoredUnit], part: int) -> tuple[str, tuple[int, int] | None]:
    if len(spans) <= 1:
        return item.text, None
    span = next((span for span in spans if span.part == part), spans[0])
    return item.text[span.start : span.stop], (span.start, span.stop)


def _explain(scored: Scored, row: int) -> dict[str, float | None]:
    values = {name: float(column[row]) for name, column in scored.signals.items()}
    return {name: None if np.isnan(value) else round(value, 6) for name, value in values.items()}
