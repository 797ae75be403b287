"""
Sifts a stretch of messages: what is noise by itself, by its kind, by being repeated, or by being an echo of memory.
"""

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

from app.domain.consolidation.noise import Noise, is_person, noise_in
from app.domain.identity import normalise
from app.domain.text.tokenize import split_words

_MACHINE_TYPES = frozenset(
    {"tool", "tool_call", "tool_result", "observation", "system", "event", "progress", "status", "log", "debug"}
)
_FILLER_TERMS = 4

_BLOCK = re.compile(
    r"<memory\b[^>]*>.*?(?:</memory>|\Z)|^--- CONTEXT FROM MEMORY ---$.*?(?:^---$|\Z)",
    re.DOTALL | re.MULTILINE | re.IGNORECASE,
)
_SENTENCE = re.compile(r"(?<=[.!?…;])\s+|[\n。！？]+")
_BULLET = re.compile(r"\s*[-*•]\s+(?:\[[^\]\n]{0,80}\]\s*)?(?P<text>\S.*)")


@dataclass(frozen=True, slots=True)
class Said:
    """
    One message as it came in. `copies` is how often the bank holds exactly this text.
    """

    id: str
    role: str
    text: str
    message_type: str | None = None
    skill: str | None = None
    copies: int = 1

    @property
    def by_person(self) -> bool:
        """
        Whether a person speaks, by role or under a name of their own.
        """
        return is_person(self.role)


@dataclass(frozen=True, slots=True)
class Sifted:
    """
    What is left of a message: its text without what was only recalled, or the reason why nothing is.
    """

    id: str
    text: str
    noise: Noise | None = None


@dataclass(frozen=True, slots=True)
class NoiseLimits:
    """
    A text of at least `copied_chars` characters is read once, and not at all where there are `copies` of it, as of a
    template. A sentence with at least `echo_share` of its content words from recalled memories says nothing new.
    """

    copies: int = 5
    copied_chars: int = 40
    echo_share: float = 0.6


Terms = Callable[[str], Sequence[str]]
"""The content terms of a text."""


def may_echo(said: Said) -> bool:
    """
    Whether a message has to be compared with what is remembered: a bot's words, and lists that somebody pasted.
    """
    return not said.by_person or any(_BULLET.fullmatch(line) for line in said.text.splitlines())


def sift(
    messages: Sequence[Said],
    remembered: Mapping[str, Sequence[Collection[str]]],
    terms: Terms,
    limits: NoiseLimits,
) -> list[Sifted]:
    """
    What each message leaves to be read, in order. `remembered` holds, by a message's id, the content terms of each
    stored memory that it may be quoting.
    """
    seen: set[tuple[str, str]] = set()
    found = []
    for said in messages:
        text = _BLOCK.sub(" ", said.text)
        noise = Noise.ECHO if text != said.text and not split_words(text) else noise_in(said.role, text)
        noise = noise or _by_kind(said) or _by_copies(said, seen, limits)
        if noise is None:
            text = _without_echoes(text, said.by_person, remembered.get(said.id, ()), terms, limits.echo_share)
            noise = None if text else Noise.ECHO
        found.append(Sifted(said.id, "" if noise else text.strip(), noise))
    return found


def _by_kind(said: Said) -> Noise | None:
    if said.message_type is not None and said.message_type.casefold() in _MACHINE_TYPES:
        return Noise.MACHINE
    return Noise.MACHINE if said.skill is not None and not said.by_person else None


def _by_copies(said: Said, seen: set[tuple[str, str]], limits: NoiseLimits) -> Noise | None:
    if len(said.text) < limits.copied_chars:
        return None  # a short answer said twice may answer two questions
    own = (said.role, normalise(said.text))
    repeated = own in seen
    seen.add(own)
    return Noise.REPEAT if repeated or said.copies >= limits.copies else None


def _without_echoes(
    text: str, by_person: bool, remembered: Sequence[Collection[str]], terms: Terms, share: float
) -> str:
    """
    The text without sentences that only repeat what is remembered; empty where what is left introduces them at most.
    A person's own sentences stay, as saying a thing again confirms it: of theirs, only listed lines can be quotes.
    """
    said = set(terms(text))
    quoted = {term for memory in remembered if _covers(said, memory, share) for term in memory}
    if not quoted:
        return text
    if by_person:
        lines = text.splitlines()
        kept = [
            line for line in lines if not ((item := _BULLET.fullmatch(line)) and _repeats(item, quoted, terms, share))
        ]
        return "\n".join(kept)
    sentences = [sentence for sentence in _SENTENCE.split(text) if sentence.strip()]
    new = [sentence for sentence in sentences if not _covers(quoted, terms(sentence), share)]
    if len(new) == len(sentences):
        return text
    return " ".join(new) if len({term for sentence in new for term in terms(sentence)}) >= _FILLER_TERMS else ""


def _repeats(item: re.Match[str], quoted: Collection[str], terms: Terms, share: float) -> bool:
    return _covers(quoted, terms(item["text"]), share)


def _covers(whole: Collection[str], part: Collection[str], share: float) -> bool:
    own = set(part)
    return bool(own) and len(own & set(whole)) >= share * len(own)
