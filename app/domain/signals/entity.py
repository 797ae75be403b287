"""
The entity signal: which named people, places and things a query and a record share.
"""

from collections.abc import Collection, Mapping

import numpy as np
import numpy.typing as npt

from app.domain.text.tokenize import split_words

Floats = npt.NDArray[np.float64]


def standing_for(named: Collection[str], synonyms: Mapping[str, str]) -> dict[str, str]:
    """
    Every handle that counts as one of the named ones, with the handle that it stands for.

    `synonyms` maps each name of whoever has several to one of them; a handle without synonyms stands for itself.
    """
    asked = {synonyms.get(handle, handle) for handle in named}
    found = {handle: handle for handle in asked if handle not in synonyms}
    found.update((handle, main) for handle, main in synonyms.items() if main in asked)
    return found


def hits(asked: Mapping[str, str], record: Collection[str]) -> int:
    """
    How many of those that a query names the record names too, under whichever name; `asked` as `standing_for` gives it.
    """
    return len({asked[handle] for handle in record if handle in asked})


def token_hits(query_words: Collection[str], record: Collection[str]) -> int:
    """
    How many words of the record's handles the query holds; a handle of two words can count twice (the `iii` preset).
    """
    asked = set(query_words)
    return sum(word in asked for handle in record for word in split_words(handle))


def evidence(handle_hits: npt.ArrayLike, each: float, most: int) -> Floats:
    """
    `each` for every handle that is shared, up to `most` of them.
    """
    return each * np.clip(np.asarray(handle_hits, np.float64), 0.0, most)
