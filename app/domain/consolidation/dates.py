"""
Makes the days that a statement speaks of absolute, as the speaker's own calendar has them.
"""

import re
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta, tzinfo
from enum import StrEnum

_FORMS = (("%Y", 4), ("%Y-%m", 7), ("%Y-%m-%d", 10), ("%Y-%m-%dT%H:%M", 16))


class Precision(StrEnum):
    """
    How exactly it is known when something happened.
    """

    YEAR = "year"
    MONTH = "month"
    DAY = "day"
    MINUTE = "minute"


@dataclass(frozen=True, slots=True)
class Occurrence:
    """
    When something happened: the beginning of the year, month, day or minute, in the speaker's zone.
    """

    at: datetime
    precision: Precision


def occurrence(written: str | None, zone: tzinfo) -> Occurrence | None:
    """
    The moment that `2026`, `2026-06`, `2026-06-01` or `2026-06-01T19:00` names in a zone.

    None for what no calendar has (30 February, the year 0, a hundred thousand years ago) and for what lies outside the
    years 1 to 9999 in UTC: a statement is kept without its date rather than with a wrong one.
    """
    if written is None:
        return None
    for (form, length), precision in zip(_FORMS, Precision, strict=True):
        if len(written) == length:
            try:
                moment = datetime.strptime(written, form).replace(tzinfo=zone)
                moment.astimezone(UTC)
            except (ValueError, OverflowError):
                return None
            return Occurrence(moment, precision)
    return None


def with_absolute_days(text: str, said_at: datetime) -> tuple[str, date | None]:
    """
    An English text with its relative days written as dates, counted from the day on which it was said in the speaker's
    zone, and the first of those days: "adopted a cat today" becomes "adopted a cat on 2026-06-01".
    """
    found: list[date] = []

    def write(match: re.Match[str]) -> str:
        day = None if _is_a_name(match) else _day_of(match, said_at.date())
        if day is None:
            return match[0]
        found.append(day)
        if match["own"]:
            return f"{match[0]} ({day.isoformat()})"
        lead = match["lead"] or ("On " if match["what"][0].isupper() else "on ")
        return f"{lead}{day.isoformat()}{match['part'] or ''}"

    return _RELATIVE.sub(write, text), found[0] if found else None


def _is_a_name(match: re.Match[str]) -> bool:
    """Whether a capital inside a sentence makes the words a name, such as that of a newspaper."""
    before = match.string[: match.start()].rstrip()
    return match["what"][0].isupper() and before[-1:] not in ("", ".", "!", "?", ":", "\n")


def _day_of(match: re.Match[str], today: date) -> date | None:
    count = match["count"]
    days = _NAMED[match["what"].lower()] if count is None else -(_NUMBERS.get(count.lower()) or int(count))
    try:
        return today + timedelta(days=days)
    except OverflowError:
        return None


_NUMBERS = {"a": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7}
_NAMED = {
    "today": 0,
    "tonight": 0,
    "yesterday": -1,
    "last night": -1,
    "tomorrow": 1,
    "the day before yesterday": -2,
    "the day after tomorrow": 2,
}
_RELATIVE = re.compile(
    r"\b(?P<lead>(?:on|by|until|till|since|from|before|after|for|of) )?"
    rf"(?P<what>{'|'.join(sorted(_NAMED, key=len, reverse=True))}"
    rf"|(?<![\d.,])(?P<count>\d{{1,3}}|{'|'.join(_NUMBERS)}) days? ago)"
    r"(?P<part> (?:morning|afternoon|evening|night|noon))?(?P<own>['’]s)?(?![\w-])",
    re.IGNORECASE,
)
