"""
What an append makes of a document: new sections at its end, everything before them untouched.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, time
from enum import StrEnum
from typing import Final

from app.domain.documents.sections import TITLE_MAX, lines_of, sections_of
from app.errors import InvalidInput

SECTION_LEVEL: Final = 2

_MARKED = re.compile(r"(#{1,6})\s+(.*)")
_TIMED = re.compile(r"([01]\d|2[0-3]):([0-5]\d) - \S.*", re.ASCII)


class DailyCategory(StrEnum):
    """
    What a section of a daily log is about.
    """

    SYSTEM = "System"
    RESEARCH = "Research"
    COMMUNICATION = "Communication"
    CONSOLIDATION = "Consolidation"


def addition_to(content: str, text: str, heading: str | None) -> str:
    """
    What is to be put after `content` so that `text` follows as a paragraph of its own, under `heading` if there is one.

    Raises:
        InvalidInput: when there is no text, or the heading is empty or too long.
    """
    body = text.strip("\r\n")
    if not body.strip():
        raise InvalidInput.of("content", "must not be empty")
    piece = body if heading is None else f"{_heading_line(heading)}\n\n{body}"
    return f"{_gap(content)}{piece}\n"


def daily_addition_to(content: str, text: str, heading: str | None, day: date, at: time) -> str:
    """
    As `addition_to`, in a daily log: the day as its title at first, and a section for each addition, headed by the time
    and a category. A heading that names its own time keeps it; without any, the category is `System`.
    """
    category = DailyCategory.SYSTEM if heading is None else _category(heading)
    titled = category if _TIMED.fullmatch(category) else f"{at:%H:%M} - {category}"
    title = "" if content.strip() else f"# {day.isoformat()}\n"
    return title + addition_to(content + title, text, titled)


def time_of(heading: Sequence[str]) -> time | None:
    """
    The time of day that the titles above a piece of a daily log name, if they do.
    """
    found = [match for title in heading if (match := _TIMED.fullmatch(title))]
    return time(int(found[-1][1]), int(found[-1][2])) if found else None


def unknown_part(content: str, text: str) -> str:
    """
    `text` without what `content` has already: a section under the same titles that begins with the same words loses
    them, and goes whole where nothing is left of it.

    So a rewrite that repeats what is there and goes on adds only what is new. Text before the first heading is kept.
    """
    known: dict[tuple[str, ...], list[str]] = {}
    for part in _parts(content):
        for start in range(len(part.heading)):
            known.setdefault(part.heading[start:], []).append(part.body)
    kept = []
    for part in _parts(text):
        same = [said for said in known.get(part.heading, ()) if _begins(part.body, said)]
        if not same:
            kept.append(part.whole)
        elif rest := part.body[len(max(same, key=len)) :].strip("\n"):
            kept.append(f"{part.title}\n{rest}")
    return "\n".join(kept)


@dataclass(frozen=True, slots=True)
class _Part:
    """A section: its titles, its lines, its heading line, and what stands under it without blank lines around."""

    heading: tuple[str, ...]
    whole: str
    title: str
    body: str


def _parts(text: str) -> list[_Part]:
    lines = lines_of(text)
    return [
        _Part(
            section.heading,
            "\n".join(lines[section.first_line - 1 : section.last_line]),
            "".join(f"{line}\n" for line in lines[section.first_line - 1 : section.body_line - 1]),
            "\n".join(lines[section.body_line - 1 : section.last_line]).strip("\n"),
        )
        for section in sections_of(lines)
    ]


def _begins(body: str, said: str) -> bool:
    return body == said or body.startswith(f"{said}\n") or not said


def _gap(content: str) -> str:
    if not content or content.endswith("\n\n"):
        return ""
    return "\n" if content.endswith("\n") else "\n\n"


def _heading_line(heading: str) -> str:
    marks, title = _marks_and_title(heading)
    return f"{marks or '#' * SECTION_LEVEL} {title}"


def _marks_and_title(heading: str) -> tuple[str, str]:
    """The marks and the title of a heading that may have been given as a markdown line."""
    line = " ".join(heading.split())
    found = _MARKED.fullmatch(line)
    marks, title = (found[1], found[2]) if found else ("", line)
    if not title.strip("#"):
        raise InvalidInput.of("heading", "must not be empty")
    if len(title) > TITLE_MAX:
        raise InvalidInput.of("heading", f"at most {TITLE_MAX} characters, got {len(title)}")
    return marks, title


def _category(heading: str) -> str:
    title = _marks_and_title(heading)[1]
    known = {str(category).casefold(): category for category in DailyCategory}
    return known.get(title.casefold(), title)
