"""
Which of a bank's entity handles a question names, and which known names a statement mentions.
"""

from collections.abc import Callable, Collection, Container, Sequence

from sqlalchemy import Connection

from app.domain.entities import mentioned_handles, query_handles
from app.domain.signals.entity import standing_for
from app.storage import entities, records

# A pasted page names thousands of word runs; those of its beginning are looked up.
QUERY_CHARS_MAX = 2000
FEW = 20
"""Statements up to which the names in them are looked up; for more, all names of the bank are read instead."""


class _Asked:
    """
    A container that holds nothing and remembers what was looked for in it.
    """

    def __init__(self) -> None:
        self.names: dict[str, None] = {}

    def __contains__(self, name: object) -> bool:
        self.names[str(name)] = None
        return False


def asked_in(connection: Connection, bank_id: int, text: str) -> dict[str, str]:
    """
    The handles that a question asks about, with the handle that each stands for: those that it names, and the other
    names of whom it names.
    """
    synonyms = entities.synonyms(connection, bank_id)

    def known(names: Collection[str]) -> set[str]:
        return records.known_handles(connection, bank_id, names) | (synonyms.keys() & set(names))

    head = text[:QUERY_CHARS_MAX]
    named = query_handles(head, _known_among(lambda asked: query_handles(head, asked), known))
    return standing_for(named, synonyms)


def mentioned_in(connection: Connection, bank_id: int, texts: Sequence[str]) -> list[tuple[str, ...]]:
    """
    The handles of known names that each text mentions, in whatever case.
    """
    heads = [text[:QUERY_CHARS_MAX] for text in texts]
    if len(heads) > FEW:
        found = entities.vouched(connection, bank_id)
    else:

        def look(asked: Container[str]) -> None:
            for head in heads:
                mentioned_handles(head, asked)

        found = _known_among(look, lambda names: entities.vouched(connection, bank_id, names))
    return [mentioned_handles(head, found) if found else () for head in heads]


def _known_among(look: Callable[[Container[str]], object], known: Callable[[Collection[str]], set[str]]) -> set[str]:
    """
    Of the names that `look` asks a container for, those that `known` finds in a list of possible ones.
    """
    asked = _Asked()
    look(asked)
    found: set[str] = set()
    for possible in entities.batches(list(asked.names)):
        found |= known(possible)
    return found
