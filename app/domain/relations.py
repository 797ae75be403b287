"""
Relations that a sentence states beyond doubt, found without a language model.

Only whole statements in the present tense count ("Ana works at Acme."): whatever is denied, asked, reported, supposed
or past is passed over, for a missing relation costs less than a wrong one.
"""

import re
from dataclasses import dataclass

from app.domain.entities import normalise_handle, opens_sentences
from app.domain.entity_graph import EntityType

RELATIONS_MAX = 8
"""Most relations of one text."""

_NAME = (
    r"(?:[A-Z][\w’'\-]*|[A-Z]\.)(?:\s+(?:(?:de|da|do|dos|das|of|van|von|der|di|la|le|el)\s+)*[A-Z0-9][\w’'&\-]*){0,3}"
)
_STILL = r"(?:\s+(?:now|currently|still|also))?"
_STATEMENT = re.compile(
    rf"(?P<subject>{_NAME}){_STILL}\s+"
    r"(?:(?P<WORKS_AT>works\s+(?:at|for)|is\s+employed\s+(?:at|by))"
    r"|(?P<LIVES_IN>lives\s+in)"
    r"|(?P<MARRIED_TO>is\s+married\s+to))"
    rf"\s+(?:the\s+)?(?P<object>{_NAME})(?P<rest>[^.!?\n。]*)(?P<end>[.!?\n。]|$)"
)
_SENTENCE_START = re.compile(r"(?:^|(?<=[.!?\n。]))\s*")
_DOUBTFUL = re.compile(
    r"\b(?:if|unless|until|but|not|no|never|used|maybe|perhaps|former|formerly|said|says|was|were|or)\b", re.I
)


@dataclass(frozen=True, slots=True)
class Predicate:
    """
    A kind of relation, and what it shows its two sides to be.
    """

    name: str
    subject: EntityType
    object: EntityType


PREDICATES = {
    item.name: item
    for item in (
        Predicate("WORKS_AT", EntityType.PERSON, EntityType.ORGANISATION),
        Predicate("LIVES_IN", EntityType.PERSON, EntityType.PLACE),
        Predicate("MARRIED_TO", EntityType.PERSON, EntityType.PERSON),
    )
}


@dataclass(frozen=True, slots=True)
class Stated:
    """
    One relation that a text states, its sides as they are written.
    """

    subject: str
    predicate: Predicate
    object: str


def stated_relations(text: str) -> tuple[Stated, ...]:
    """
    The relations that a text states, in order, at most `RELATIONS_MAX`.
    """
    found: dict[tuple[str, str, str], Stated] = {}
    for start in _SENTENCE_START.finditer(text):
        match = _STATEMENT.match(text, start.end())
        if match is None or match["end"] == "?" or _DOUBTFUL.search(match["rest"]):
            continue
        if opens_sentences(match["subject"].split()[0]):
            continue
        predicate = next(PREDICATES[name] for name in PREDICATES if match[name])
        item = Stated(_plain(match["subject"]), predicate, _plain(match["object"]))
        key = (normalise_handle(item.subject), predicate.name, normalise_handle(item.object))
        if all(key) and key[0] != key[2]:
            found.setdefault(key, item)
    return tuple(found.values())[:RELATIONS_MAX]


def _plain(name: str) -> str:
    return " ".join(name.split()).removesuffix("'s").removesuffix("’s")
