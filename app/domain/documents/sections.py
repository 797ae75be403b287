"""
Markdown as its headings divide it: sections with the titles above them and the lines they take.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from markdown_it import MarkdownIt

TITLE_MAX: Final = 200
"""Characters of a heading line that still make a title; a longer one is text like any other."""

_PARSER = MarkdownIt("commonmark").disable("reference")
_PARSER.core.ruler.enableOnly(["normalize", "block"])

_LINE_BREAK = re.compile(r"\r\n?|\n")
_MAYBE_HEADING = re.compile(r"^ {0,3}(?:#{1,6}(?:[ \t]|$)|(?:=+|-+)[ \t]*$)", re.MULTILINE)
_BYTE_ORDER_MARK = "\ufeff"
_FENCE_OPEN = "---"
_FENCE_CLOSE = ("---", "...")
_KEY = re.compile(r"[\w\"'][\w \"'.-]*:(?:\s|$)")


@dataclass(frozen=True, slots=True)
class Section:
    """
    A stretch of lines under one heading, up to the next heading of any level. Lines count from 1 and include both ends.

    `heading` holds the titles from the outermost to its own, empty before the first heading. What it says begins at
    `body_line`, which lies beyond `last_line` where there is nothing but the heading. A front matter block is whole.
    """

    heading: tuple[str, ...]
    first_line: int
    last_line: int
    body_line: int
    is_front_matter: bool = False


@dataclass(frozen=True, slots=True)
class _Heading:
    level: int
    title: str
    first: int
    stop: int


def lines_of(text: str) -> list[str]:
    """
    The lines of a text as markdown counts them: divided by LF, CR LF or CR; the end of the last line begins no other.
    """
    lines = _LINE_BREAK.split(text)
    if not lines[-1]:
        lines.pop()
    return lines


def sections_of(lines: list[str]) -> list[Section]:
    """
    The sections of a document in order; together they cover every line once. Any text has sections.

    A heading counts where it stands at the outermost level: not in a code block, a list or a quotation.
    """
    start = _front_matter_lines(lines)
    found = [Section((), 1, start, 1, is_front_matter=True)] if start else []
    titles: list[tuple[int, str]] = []
    first, body = start, start
    for heading in _headings(lines, start):
        if heading.first > first:
            found.append(Section(_path(titles), first + 1, heading.first, body + 1))
        titles = [(level, title) for level, title in titles if level < heading.level]
        has_title = len(heading.title) <= TITLE_MAX
        titles.append((heading.level, heading.title if has_title else ""))
        first, body = heading.first, heading.stop if has_title else heading.first
    if len(lines) > first:
        found.append(Section(_path(titles), first + 1, len(lines), body + 1))
    return found


def _path(titles: list[tuple[int, str]]) -> tuple[str, ...]:
    return tuple(title for _, title in titles if title)


def _front_matter_lines(lines: list[str]) -> int:
    """How many lines a front matter block takes, its fences included; 0 where there is none."""
    if len(lines) < 2 or lines[0].removeprefix(_BYTE_ORDER_MARK).rstrip() != _FENCE_OPEN or not _KEY.match(lines[1]):
        return 0
    ends = (place for place, line in enumerate(lines[1:], 2) if line.rstrip() in _FENCE_CLOSE)
    return next(ends, 0)


def _headings(lines: list[str], start: int) -> Iterator[_Heading]:
    text = "\n".join(lines[start:]).removeprefix(_BYTE_ORDER_MARK)
    # Long texts without any heading are common (transcripts), and reading their blocks takes seconds.
    if not _MAYBE_HEADING.search(text):
        return
    tokens = _PARSER.parse(text)
    for place, token in enumerate(tokens):
        if token.type == "heading_open" and token.level == 0 and token.map is not None:
            title = " ".join(tokens[place + 1].content.split())
            yield _Heading(int(token.tag[1:]), title, start + token.map[0], start + token.map[1])
