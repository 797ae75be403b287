"""
Divides long text into overlapping passages, each short enough to be indexed and embedded as one unit.
"""

import re

from app.domain.text.graphemes import floor_boundary, next_boundary
from app.errors import InvalidInput

# From the best place to cut to the least: each pattern ends where the next passage may begin.
_BREAKS = (
    re.compile(r"\n\s*\n\s*"),
    re.compile(r"\n+"),
    re.compile(r"[.!?…]+[\"'”’)\]]*\s+|[。！？｡]+[」』”’）]*"),
    re.compile(r"\s+"),
)


def split_passages(text: str, size: int, overlap: int) -> list[tuple[int, int]]:
    """
    The passages of `text` as `(start, end)` character offsets, in order; none for an empty text.

    Together they cover every character. Each has at most `size` characters and shares at most `overlap` with the one
    before it, where an overlap of more than half the size counts as half of it. A passage ends after a paragraph, a
    line, a sentence or a space when its second half holds one, and never inside a grapheme cluster; a single cluster
    longer than `size` is a passage of its own.

    Raises:
        InvalidInput: `size` is below 1 or `overlap` below 0.
    """
    if size < 1:
        raise InvalidInput.of("size", "must be at least 1")
    if overlap < 0:
        raise InvalidInput.of("overlap", "must not be negative")
    shared = min(overlap, size // 2)
    passages: list[tuple[int, int]] = []
    start = 0
    covered = 0
    while covered < len(text):
        end = _end(text, start, size)
        if end <= covered:
            # A cluster too long to follow the shared characters begins a passage itself.
            start = covered
            end = _end(text, start, size)
        passages.append((start, end))
        covered = end
        start = _next_start(text, start, end, shared)
    return passages


def _end(text: str, start: int, size: int) -> int:
    limit = start + size
    if limit >= len(text):
        return len(text)
    wanted = _last_break(text, start + size // 2, limit) or limit
    end = floor_boundary(text, wanted, start)
    if end == start:
        end = floor_boundary(text, limit, start)
    return end if end > start else next_boundary(text, start)


def _last_break(text: str, low: int, high: int) -> int | None:
    for pattern in _BREAKS:
        ends = [match.end() for match in pattern.finditer(text, low, high)]
        if ends:
            return ends[-1]
    return None


def _next_start(text: str, start: int, end: int, shared: int) -> int:
    if not shared:
        return end
    space = _BREAKS[-1].search(text, end - shared, end)
    wanted = space.end() if space else end - shared
    boundary = floor_boundary(text, wanted, start)
    return boundary if end - shared <= boundary and boundary > start else end
