"""
The forms in which a language model answers, one for each prompt.

Every field is required, so that a server can hold the model to the form; lists may be empty. Where a model's freedom
does no harm it is taken: another case, blanks around a text, an unknown kind or category, a label too many.
"""

import re
from collections.abc import Callable
from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from app.domain.records import Category

LABELS_MAX = 8
LABEL_CHARS = 60
ELEMENTS_MAX = 100
"""More elements than this in one list are no answer but a model that repeats itself."""

_MOMENT = re.compile(r"\d{4}(-\d{2}(-\d{2}(T\d{2}:\d{2})?)?)?(?!\d)")


def _known(choices: tuple[str, ...], otherwise: str) -> Callable[[Any], Any]:
    def choose(value: Any) -> Any:
        if not isinstance(value, str):
            return value
        lowered = value.strip().lower()
        return lowered if lowered in choices else otherwise

    return choose


def _labels(value: Any) -> Any:
    """
    Labels trimmed, in lower case, each once; at most `LABELS_MAX`.
    """
    if not isinstance(value, list):
        return [] if value is None else value
    texts = (" ".join(item.split()).lower().lstrip("#@")[:LABEL_CHARS] for item in value if isinstance(item, str))
    return list(dict.fromkeys(text for text in texts if text))[:LABELS_MAX]


def _moment(value: Any) -> Any:
    """
    As much of an ISO date as is there, to the minute; None for anything else, as the statement itself says when.
    """
    found = _MOMENT.match(value.strip()) if isinstance(value, str) else None
    if found is None:
        return None
    try:
        datetime.fromisoformat(f"{found[0]}-01-01"[:10] if len(found[0]) < len("2026-01-01") else found[0])
    except ValueError:
        return None
    return found[0]


CATEGORIES = tuple(Category)
CategoryName = Annotated[
    Literal["preference", "fact", "behavior", "context", "general"],
    BeforeValidator(_known(CATEGORIES, Category.GENERAL)),
]
Kind = Annotated[Literal["memory", "rule"], BeforeValidator(_known(("memory", "rule"), "memory"))]
Certainty = Annotated[Literal["extracted", "inferred"], BeforeValidator(_known(("extracted", "inferred"), "inferred"))]
Labels = Annotated[list[str], BeforeValidator(_labels)]
Line = Annotated[str, Field(min_length=1, max_length=500)]
Lines = Annotated[list[Line], Field(max_length=ELEMENTS_MAX)]
Share = Annotated[float, Field(ge=0.0, le=1.0, allow_inf_nan=False)]
Moment = Annotated[str | None, BeforeValidator(_moment)]
"""A year, a month, a day, or a minute of it in the speaker's zone: `2026`, `2026-06`, `2026-06-01`, `…T19:00`."""


class Answer(BaseModel):
    """
    What all forms share: texts without blanks around them, and no mind for names that were not asked for.
    """

    model_config = ConfigDict(extra="ignore", frozen=True, str_strip_whitespace=True)


class StructureAnswer(Answer):
    """
    The structure of one text that somebody wants kept.
    """

    content: Annotated[str, Field(min_length=3, max_length=2000)]
    summary: Annotated[str, Field(min_length=1, max_length=500)]
    category: CategoryName
    confidence: Share
    tags: Labels
    entities: Labels


class ExtractedItem(Answer):
    """
    One statement worth keeping, and the numbers of the messages that make it.
    """

    kind: Kind
    text: Annotated[str, Field(min_length=3, max_length=500)]
    category: CategoryName
    confidence: Certainty
    entities: Labels
    tags: Labels
    occurred: Moment
    sources: Annotated[list[int], Field(min_length=1, max_length=ELEMENTS_MAX)]


class ExtractAnswer(Answer):
    """
    What a stretch of messages leaves behind.
    """

    memories: Annotated[list[ExtractedItem], Field(max_length=ELEMENTS_MAX)]


class EpisodeAnswer(Answer):
    """
    The summary of one conversation.
    """

    summary: Annotated[str, Field(min_length=3, max_length=4000)]
    facts: Lines
    pending: Lines
    tone: Annotated[str, Field(max_length=200)]
    preferences: Lines
    confidence: Share


class Promotion(Answer):
    """
    A memory, by its offered id, that has become a standing instruction, and its wording as a rule.
    """

    id: Annotated[str, Field(min_length=1, max_length=64)]
    rule: Annotated[str, Field(min_length=3, max_length=300)]
    reason: Annotated[str, Field(max_length=500)]


class Contradiction(Answer):
    """
    Two memories, by their offered ids, of which the newer one ended the truth of the older.
    """

    older: Annotated[str, Field(min_length=1, max_length=64)]
    newer: Annotated[str, Field(min_length=1, max_length=64)]
    reason: Annotated[str, Field(max_length=500)]


class JudgeAnswer(Answer):
    """
    What is to be done with the memories that were offered.
    """

    merge_groups: Annotated[list[int], Field(max_length=ELEMENTS_MAX)]
    promotions: Annotated[list[Promotion], Field(max_length=ELEMENTS_MAX)]
    contradictions: Annotated[list[Contradiction], Field(max_length=ELEMENTS_MAX)]


class LearnedTopic(Answer):
    """
    What was learned of one topic, and when it is of use.
    """

    topic: Annotated[str, Field(min_length=1, max_length=120)]
    facts: Annotated[list[Line], Field(min_length=1, max_length=ELEMENTS_MAX)]
    resources: Lines
    when_to_use: Annotated[str, Field(max_length=500)]


class ReflectAnswer(Answer):
    """
    What a stretch of time means: a look back, what was learned, and lines for the user's profile.
    """

    journal: Annotated[str, Field(max_length=4000)]
    learning: Annotated[list[LearnedTopic], Field(max_length=ELEMENTS_MAX)]
    profile: Lines


FORMS: dict[str, type[Answer]] = {
    form.__name__: form for form in (StructureAnswer, ExtractAnswer, EpisodeAnswer, JudgeAnswer, ReflectAnswer)
}
"""Forms by the name that a prompt file gives."""
