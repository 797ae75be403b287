"""
Divides a document into the passages in which it is recalled.
"""

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from typing import Final

from app.domain.documents.model import Passage
from app.domain.documents.sections import Section, lines_of, sections_of
from app.domain.text.passages import split_passages
from app.domain.text.shorten import shorten

TITLE_SEPARATOR: Final = " > "


def passages_of(content: str, size: int, overlap: int) -> Iterator[Passage]:
    """
    The passages of a document, in order: one a section, or several where a section is long.

    A passage has at most `size` characters (3 or more), its titles included, and shares at most `overlap` with the one
    before it in its section. A front matter block is one passage, however long. A heading with nothing under it is a
    passage of its own; one whose text lies only in the sections below is none.
    """
    lines = lines_of(content)
    sections = sections_of(lines)
    for place, section in enumerate(sections):
        following = sections[place + 1] if place + 1 < len(sections) else None
        yield from _of_section(section, following, lines, size, overlap)


def titles_text(heading: Sequence[str], limit: int) -> str:
    """
    Titles on one line of at most `limit` characters; the outermost are left out first.
    """
    for start in range(len(heading)):
        joined = TITLE_SEPARATOR.join(heading[start:])
        if len(joined) <= limit:
            return joined
    return shorten(heading[-1], limit)[0] if heading else ""


def _of_section(
    section: Section, following: Section | None, lines: list[str], size: int, overlap: int
) -> Iterator[Passage]:
    body = "\n".join(lines[section.body_line - 1 : section.last_line])
    titles = titles_text(section.heading, size // 2)
    if section.is_front_matter:
        yield Passage((), section.first_line, section.last_line, body)
    elif body.strip():
        room = size - len(titles) - 1 if titles else size
        for start, stop, piece in _pieces(body, room, overlap):
            first = section.body_line + start
            yield Passage(section.heading, first, section.body_line + stop, f"{titles}\n{piece}" if titles else piece)
    elif section.heading and not _is_below(following, section):
        yield Passage(section.heading, section.first_line, section.last_line, titles or section.heading[-1])


def _pieces(body: str, size: int, overlap: int) -> Iterator[tuple[int, int, str]]:
    """The pieces of a text without blank lines around them, each after its first and its last line, from 0."""
    breaks = [place for place, sign in enumerate(body) if sign == "\n"]
    for start, end in split_passages(body, size, overlap):
        piece = body[start:end]
        if piece.strip():
            begin = start + len(piece) - len(piece.lstrip("\n"))
            kept = piece.strip("\n")
            yield bisect_left(breaks, begin), bisect_left(breaks, begin + len(kept) - 1), kept


def _is_below(section: Section | None, other: Section) -> bool:
    depth = len(other.heading)
    return section is not None and len(section.heading) > depth and section.heading[:depth] == other.heading
