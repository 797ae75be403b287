"""
What a model found in a stretch of messages, and what of that is kept.

A finding is kept when it points at messages that were shown, shares words with them, and is not noise itself. Its
speaker, its date and how far it is trusted come from the messages and not from the model.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from app.domain.consolidation.dates import Occurrence, occurrence, with_absolute_days
from app.domain.consolidation.learned import Speaker
from app.domain.consolidation.noise import is_person, noise_in
from app.domain.consolidation.sifting import Terms
from app.domain.identity import normalise
from app.domain.records import Category

_NOBODY = frozenset({"user", "assistant", "speaker", "bot"})


@dataclass(frozen=True, slots=True)
class Message:
    """
    One message as a model reads it, with its own time in the speaker's zone.
    """

    id: str
    seq: int
    speaker: Speaker
    text: str
    said_at: datetime

    @property
    def by_person(self) -> bool:
        """
        Whether a person said it.
        """
        return is_person(self.speaker.role)

    @property
    def speaker_name(self) -> str | None:
        """
        The person's name, where one is known.
        """
        if self.speaker.name is not None:
            return self.speaker.name
        return self.speaker.role if self.by_person and self.speaker.role.casefold() != "user" else None


@dataclass(frozen=True, slots=True)
class Finding:
    """
    One statement as the model gave it; `sources` are numbers of messages, from 1, and `occurred` a date as written.
    """

    is_rule: bool
    text: str
    category: Category
    stated: bool
    tags: tuple[str, ...]
    entities: tuple[str, ...]
    occurred: str | None
    sources: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Statement:
    """
    A finding that is kept, with the messages it comes from.
    """

    is_rule: bool
    text: str
    category: Category
    confidence: float
    tags: tuple[str, ...]
    entities: tuple[str, ...]
    occurrence: Occurrence | None
    sources: tuple[Message, ...]

    @property
    def first(self) -> Message:
        """
        The message that makes it: the first one by a person, or the first.
        """
        return next((message for message in self.sources if message.by_person), self.sources[0])


@dataclass(frozen=True, slots=True)
class Limits:
    """
    How much one reading may yield, lengths in characters, and the confidence of what was said and what was concluded.
    """

    memories: int = 8
    rules: int = 3
    text_min: int = 3
    text_max: int = 500
    labels: int = 8
    stated_confidence: float = 0.8
    inferred_confidence: float = 0.5


@dataclass(frozen=True, slots=True)
class Harvest:
    """
    What is kept of a reading, in the model's order, and how many findings were refused for which reason.
    """

    statements: tuple[Statement, ...]
    refused: Mapping[str, int]

    @property
    def memories(self) -> list[Statement]:
        """
        What becomes memories.
        """
        return [item for item in self.statements if not item.is_rule]

    @property
    def rules(self) -> list[Statement]:
        """
        What becomes rules or proposals.
        """
        return [item for item in self.statements if item.is_rule]


def worth_reading(fresh: Sequence[Message], transcript_min: int) -> bool:
    """
    Whether a model is to be asked at all: a person says something, and the transcript, with the role before each
    message, has at least `transcript_min` bytes of UTF-8. (Scripts that say much in few characters take more bytes.)
    """
    size = sum(len(f"{message.speaker.role}: {message.text}".encode()) for message in fresh)
    return size >= transcript_min and any(message.by_person for message in fresh)


def harvest(
    findings: Sequence[Finding],
    shown: Sequence[Message],
    fresh_from: int,
    terms: Terms,
    limits: Limits,
    *,
    same_language: bool = True,
) -> Harvest:
    """
    What is kept of the findings. `shown` are the messages by their numbers, of which the first `fresh_from` were read
    before and only let the others be understood. Unless the model writes in another language, a finding shares a word
    with what was shown.
    """
    heard = {term for message in shown for term in terms(message.text)} if same_language else None
    kept: list[Statement] = []
    refused: Counter[str] = Counter()
    seen: set[tuple[bool, str, str | None]] = set()
    for finding in findings:
        made = _statement(finding, shown, fresh_from, heard, terms, limits)
        if isinstance(made, str):
            refused[made] += 1
            continue
        own = (made.is_rule, normalise(made.text), made.first.speaker_name)
        room = limits.rules if made.is_rule else limits.memories
        if own in seen:
            refused["repeated"] += 1
        elif sum(item.is_rule == made.is_rule for item in kept) >= room:
            refused["too_many"] += 1
        else:
            seen.add(own)
            kept.append(made)
    return Harvest(tuple(kept), dict(refused))


def _statement(
    finding: Finding,
    shown: Sequence[Message],
    fresh_from: int,
    heard: set[str] | None,
    terms: Terms,
    limits: Limits,
) -> Statement | str:
    """The statement, or the reason why there is none."""
    numbers = [number for number in dict.fromkeys(finding.sources) if 1 <= number <= len(shown)]
    text = " ".join(finding.text.split())
    if not numbers:
        return "unknown_source"
    if max(numbers) <= fresh_from:
        return "read_before"
    if not limits.text_min <= len(text) <= limits.text_max:
        return "length"
    if noise_in("user", text) is not None:
        return "noise"
    made = Statement(
        is_rule=finding.is_rule,
        text=text,
        category=finding.category,
        confidence=limits.stated_confidence if finding.stated else limits.inferred_confidence,
        tags=finding.tags[: limits.labels],
        entities=finding.entities[: limits.labels],
        occurrence=None,
        sources=tuple(shown[number - 1] for number in numbers),
    )
    if heard is not None and not _is_grounded(made, heard, terms):
        return "not_said"
    if not made.first.by_person:
        if made.is_rule:
            return "rule_by_bot"
        made = replace(made, confidence=min(made.confidence, limits.inferred_confidence))
    return made if made.is_rule else _dated(made, finding.occurred, limits)


def _is_grounded(made: Statement, heard: set[str], terms: Terms) -> bool:
    names = {term for message in made.sources for term in terms(message.speaker_name or "")}
    own = set(terms(made.text)) - names - _NOBODY
    return bool(own & heard)


def _dated(made: Statement, occurred: str | None, limits: Limits) -> Statement:
    said_at = made.first.said_at
    zone = said_at.tzinfo
    text, day = with_absolute_days(made.text, said_at)
    if len(text) > limits.text_max or zone is None:
        text, day = made.text, None
    when = None if zone is None else occurrence(occurred, zone)
    if when is None and day is not None and zone is not None:
        when = occurrence(day.isoformat(), zone)
    return replace(made, text=text, occurrence=when)
