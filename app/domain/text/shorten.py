"""
Cuts text to a length so that a reader sees that, and the caller knows whether, something was left out.
"""

from app.domain.text.graphemes import floor_boundary
from app.errors import InvalidInput

MARKER = "…"
SUMMARY_MAX = 49
"""Characters of a summary: lists show fewer than 50."""


def shorten(text: str, limit: int, marker: str = MARKER) -> tuple[str, bool]:
    """
    `text` in at most `limit` characters, marker included, and whether anything was cut.

    The cut falls after a whole word when the second half of what fits holds a space, and never inside a grapheme
    cluster. A marker that does not fit is left out.

    Raises:
        InvalidInput: `limit` is negative.
    """
    if limit < 0:
        raise InvalidInput.of("limit", "must not be negative")
    if len(text) <= limit:
        return text, False
    if len(marker) >= limit:
        return text[: floor_boundary(text, limit)], True
    room = limit - len(marker)
    end = floor_boundary(text, room)
    if not text[end].isspace():
        end = _word_end(text, end)
    # A space that carries a combining mark belongs to that mark's cluster, so the trimmed place is checked once more.
    end = floor_boundary(text, len(text[:end].rstrip()))
    return text[:end] + marker, True


def summarise(text: str, limit: int = SUMMARY_MAX) -> str:
    """
    One line of at most `limit` characters that begins as `text` does; runs of white space become one space.
    """
    return shorten(" ".join(text.split()), limit)[0]


def _word_end(text: str, end: int) -> int:
    for index in range(end, end // 2, -1):
        if text[index - 1].isspace():
            return index
    return end
