"""
Finds where a text may be cut without splitting a character as its reader sees it.

What a reader takes for one character (an emoji family, a letter with accents, CR LF) may be many code points: an
extended grapheme cluster in the sense of Unicode Standard Annex 29.
"""

import regex

_CLUSTER = regex.compile(r"\X")


def floor_boundary(text: str, position: int, start: int = 0) -> int:
    """
    The last cluster boundary at or before `position`.

    `start` must itself be a boundary; it is the answer when the first cluster after it reaches beyond `position`.
    """
    if position >= len(text):
        return len(text)
    boundary = _safe_start(text, position, start)
    for cluster in _CLUSTER.finditer(text, boundary):
        if cluster.end() > position:
            break
        boundary = cluster.end()
    return boundary


def next_boundary(text: str, start: int) -> int:
    """
    The end of the cluster that begins at the boundary `start`.
    """
    cluster = _CLUSTER.match(text, start)
    return cluster.end() if cluster else len(text)


def _safe_start(text: str, position: int, start: int) -> int:
    # No rule joins two ASCII characters but CR LF, so looking further back than such a pair would find nothing new.
    for index in range(position, start, -1):
        if text[index - 1].isascii() and text[index].isascii() and text[index] != "\n":
            return index
    return start
