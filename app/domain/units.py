"""
What of a record is indexed: one unit a passage, with its terms and the text that its vector stands for.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Protocol

from app.domain.identity import text_hash
from app.domain.text.passages import split_passages


class TermSource(Protocol):
    """
    Turns text into index terms.
    """

    def index_terms(self, text: str) -> list[str]:
        """
        Every term of the text, in order, repeats kept.
        """
        ...


@dataclass(frozen=True, slots=True)
class Unit:
    """
    One indexed passage: characters `start` to `stop` of the record's text.

    `text` is what is embedded, `hash` its digest, `terms` how often each term occurs, `length` how many terms in all.
    """

    part: int
    start: int
    stop: int
    text: str
    hash: bytes
    terms: Mapping[str, int]
    length: int


def build_units(
    text: str,
    speaker: str | None,
    entities: Iterable[str],
    source: TermSource,
    *,
    passage_chars: int,
    passage_overlap: int,
) -> tuple[Unit, ...]:
    """
    The units of a record's text; at least one.

    Each unit speaks for itself: it begins with the speaker's name, so that a question that names the speaker meets it.
    Entity handles count as terms of the first unit where its text lacks them.
    """
    spans = split_passages(text, passage_chars, passage_overlap) or [(0, len(text))]
    units = []
    for part, (start, stop) in enumerate(spans):
        shown = spoken(text[start:stop], speaker)
        terms = Counter(source.index_terms(shown))
        if part == 0:
            for handle in entities:
                missing = [term for term in source.index_terms(handle) if term not in terms]
                terms.update(missing)
        units.append(Unit(part, start, stop, shown, text_hash(shown), dict(terms), sum(terms.values())))
    return tuple(units)


def spoken(text: str, speaker: str | None) -> str:
    """
    The text with its speaker before it, unless it begins so already.
    """
    if not speaker or text.lstrip().casefold().startswith(speaker.casefold()):
        return text
    return f"{speaker}: {text}"
