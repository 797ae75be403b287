"""
Recall: questions and their answers.
"""

from datetime import datetime
from typing import Any, Literal

from msgspec import Struct

from app.api.schemas.values import Identifier, Moment, Scalar, Share, as_text
from app.domain.records import Tier
from app.services.recall_model import Mode, RecallAnswer, RecallRequest, RecallResult


class Filters(Struct, forbid_unknown_fields=True):
    """
    What narrows a recall before anything is ranked. All tags must be there; metadata is compared value by value.
    """

    tags: list[str] | None = None
    category: str | None = None
    session_id: Identifier | None = None
    source: str | None = None
    source_id: Identifier | None = None
    created_after: Moment | None = None
    created_before: Moment | None = None
    metadata: dict[str, Scalar] | None = None


class Question(Struct, forbid_unknown_fields=True):
    """
    One question to a bank. An empty query lists the newest records.

    `threshold` is a floor on cosine similarity, `min_score` one on the score. `as_of` is the clock by which age, expiry
    and supersession are judged. `record_access` false leaves the access counts alone.
    """

    query: str
    limit: int | None = None
    mode: Mode = Mode.HYBRID
    tiers: list[Tier] | None = None
    threshold: float | None = None
    min_score: Share | None = None
    filters: Filters | None = None
    exclude_ids: list[str] | None = None
    as_of: Moment | None = None
    explain: bool = False
    record_access: bool = True
    include_superseded: bool = False
    scorer: str | None = None


class Questions(Struct, forbid_unknown_fields=True):
    """
    Several questions to one bank.
    """

    queries: list[Question]


class Found(Struct, frozen=True):
    """
    One record that was recalled. `passage` is the span of `text` in the whole record, where only a part is shown;
    `explain` gives the signals of its score, where they were asked for.
    """

    id: str
    tier: str
    text: str
    score: float
    created_at: datetime
    occurred_at: datetime | None
    session_id: str | None
    tags: tuple[str, ...]
    metadata: dict[str, Any]
    passage: tuple[int, int] | None
    explain: dict[str, float | None] | None


class Answer(Struct, frozen=True):
    """
    What a recall found. `retrieval` is what really ran, `degraded` what it had to do without, and why.
    """

    recall_id: str
    retrieval: Literal["hybrid", "lexical", "semantic"]
    degraded: tuple[str, ...]
    took_ms: float
    results: list[Found]
    empty_reason: Literal["bank_empty", "nothing_relevant", "filtered_out"] | None


class Answers(Struct, frozen=True):
    """
    One answer for each question, in the order of the request.
    """

    results: list[Answer]


def recall_request(question: Question) -> RecallRequest:
    """
    The question as the service takes it.
    """
    filters = question.filters or Filters()
    return RecallRequest(
        query=question.query,
        limit=question.limit,
        mode=question.mode,
        tiers=tuple(question.tiers or ()),
        threshold=question.threshold,
        min_score=question.min_score,
        tags=tuple(filters.tags or ()),
        category=filters.category,
        session_id=as_text(filters.session_id),
        source=filters.source,
        source_id=as_text(filters.source_id),
        created_after=filters.created_after,
        created_before=filters.created_before,
        metadata=filters.metadata or {},
        exclude_ids=tuple(question.exclude_ids or ()),
        include_superseded=question.include_superseded,
        as_of=question.as_of,
        explain=question.explain,
        record_access=question.record_access,
        scorer=question.scorer,
    )


def answer_out(answer: RecallAnswer) -> Answer:
    """
    An answer as it is shown.
    """
    return Answer(
        recall_id=answer.recall_id,
        retrieval=answer.retrieval.value,
        degraded=answer.degraded,
        took_ms=answer.took_ms,
        results=[_found(result) for result in answer.results],
        empty_reason=None if answer.empty_reason is None else answer.empty_reason.value,
    )


def _found(result: RecallResult) -> Found:
    record = result.record
    return Found(
        id=record.id,
        tier=record.tier,
        text=result.text,
        score=result.score,
        created_at=record.created_at,
        occurred_at=record.occurred_at,
        session_id=record.session_id,
        tags=record.tags,
        metadata=record.metadata,
        passage=result.passage,
        explain=None if result.explain is None else dict(result.explain),
    )
