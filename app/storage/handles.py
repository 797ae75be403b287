"""
Which of a bank's entity handles a question names.
"""

from collections.abc import Callable, Collection

from app.domain.entities import query_handles

# A pasted page names thousands of word runs; those of its beginning are looked up.
QUERY_CHARS_MAX = 2000
AT_ONCE = 500


class _Asked:
    """
    A container that holds nothing and remembers what was looked for in it.
    """

    def __init__(self) -> None:
        self.names: dict[str, None] = {}

    def __contains__(self, name: object) -> bool:
        self.names[str(name)] = None
        return False


def named_in(text: str, known: Callable[[Collection[str]], set[str]]) -> frozenset[str]:
    """
    The handles that `text` names, among those that `known` finds in a list of possible ones.
    """
    head = text[:QUERY_CHARS_MAX]
    asked = _Asked()
    query_handles(head, asked)
    possible = list(asked.names)
    found: set[str] = set()
    for start in range(0, len(possible), AT_ONCE):
        found |= known(possible[start : start + AT_ONCE])
    return frozenset(query_handles(head, found))
