"""
Reads the time expressions of an English question: "in March 2023", "last week", "3 days ago", "on 16 August".

A span that is read wrongly costs little, because time lifts records and never filters them.
"""

import calendar
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from itertools import islice

from app.domain.text.tokenize import fold


@dataclass(frozen=True, slots=True)
class AgeSpan:
    """
    A stretch of time as ages in days before the clock, `oldest` >= `newest`; a negative age lies in the future.
    """

    oldest: float
    newest: float


SPANS_MAX = 8
"""Most time expressions of one text that are read; a pasted log holds thousands and asks after none."""

_Days = tuple[date, date]  # first day, and the day after the last
_Reader = Callable[[re.Match[str], date], _Days]

_DAY = timedelta(days=1)
# Spelt out, since the names that the calendar module gives are those of the process's locale.
_MONTH_LIST = "january february march april may june july august september october november december"
_WEEKDAY_LIST = "monday tuesday wednesday thursday friday saturday sunday"
_MONTH_NAMES = _MONTH_LIST.split()
_MONTHS = {name: number for number, name in enumerate(_MONTH_NAMES, 1)}
_MONTHS |= {name[:3]: number for name, number in list(_MONTHS.items())} | {"sept": 9}
_WEEKDAYS = {name: number for number, name in enumerate(_WEEKDAY_LIST.split())}
_SEASONS = {"spring": (3, 5), "summer": (6, 8), "fall": (9, 11), "autumn": (9, 11), "winter": (12, 2)}
_NUMERALS = "one two three four five six seven eight nine ten eleven twelve"
_NUMBERS = {word: number for number, word in enumerate(_NUMERALS.split(), 1)}
_NUMBERS |= {"a": 1, "an": 1, "a couple of": 2, "couple of": 2, "a few": 3, "few": 3}
_UNIT_DAYS = {"day": 1.0, "week": 7.0, "month": 30.44, "year": 365.25}


def age_spans(text: str, clock: datetime) -> tuple[AgeSpan, ...]:
    """
    The stretches of time that `text` speaks of, counted back from the aware moment `clock`, in that clock's zone.

    A date without a year is the latest such date that is not after the clock. An impossible date is passed over.
    """
    folded = fold(text)
    days = islice(_days(folded, clock.date()), SPANS_MAX)
    return tuple(AgeSpan(_age(first, clock), _age(end, clock)) for first, end in days)


def _age(day: date, clock: datetime) -> float:
    return (clock - datetime.combine(day, time(), clock.tzinfo)) / _DAY


def _days(text: str, today: date) -> Iterator[_Days]:
    taken: list[tuple[int, int]] = []
    for pattern, read in _RULES:
        for match in pattern.finditer(text):
            if any(match.start() < end and start < match.end() for start, end in taken):
                continue
            try:
                days = read(match, today)
            except (ValueError, OverflowError):
                continue
            taken.append(match.span())
            yield days


def _one_day(day: date) -> _Days:
    return day, day + _DAY


def _month(year: int, month: int) -> _Days:
    first = date(year, month, 1)
    return first, first + timedelta(days=calendar.monthrange(year, month)[1])


def _season(year: int, name: str) -> _Days:
    begin, end = _SEASONS[name]
    return _month(year, begin)[0], _month(year + (end < begin), end)[1]


def _past_year(today: date, month: int, day: int = 1) -> int:
    return today.year if (month, day) <= (today.month, today.day) else today.year - 1


def _read_iso(match: re.Match[str], _: date) -> _Days:
    return _one_day(date(int(match["y"]), int(match["m"]), int(match["d"])))


def _read_date(match: re.Match[str], today: date) -> _Days:
    month, day = _MONTHS[match["m"]], int(match["d"])
    year = int(match["y"]) if match["y"] else _past_year(today, month, day)
    return _one_day(date(year, month, day))


def _read_slashes(match: re.Match[str], today: date) -> _Days:
    month, day = int(match["m"]), int(match["d"])
    year = int(match["y"]) if match["y"] else _past_year(today, month, day)
    return _one_day(date(year, month, day))


def _read_month_of_year(match: re.Match[str], _: date) -> _Days:
    first, end = _month(int(match["y"]), _MONTHS[match["m"]])
    third = timedelta(days=11)
    match match["part"]:
        case "early":
            return first, first + third
        case "mid":
            return first + timedelta(days=8), first + 2 * third
        case "late":
            return end - third, end
        case _:
            return first, end


def _read_season_of_year(match: re.Match[str], _: date) -> _Days:
    return _season(int(match["y"]), match["season"])


def _read_last_season(match: re.Match[str], today: date) -> _Days:
    year = today.year
    while _season(year, match["season"])[1] > today:
        year -= 1
    return _season(year, match["season"])


def _read_month(match: re.Match[str], today: date) -> _Days:
    month = _MONTHS[match["m"]]
    return _month(_past_year(today, month), month)


def _read_ago(match: re.Match[str], today: date) -> _Days:
    count = int(match["n"]) if match["n"].isdigit() else _NUMBERS[match["n"]]
    unit = _UNIT_DAYS[match["unit"]]
    middle = today.toordinal() - count * unit
    half = unit / 2 if unit > 1 else 0.0
    return date.fromordinal(int(middle - half)), date.fromordinal(int(middle + half) + 1)


def _read_day(match: re.Match[str], today: date) -> _Days:
    return _one_day(today - _DAY if match["day"] in {"yesterday", "last night"} else today)


def _read_relative(match: re.Match[str], today: date) -> _Days:
    which, what = match["which"], match["what"]
    is_this, monday = which == "this", today - timedelta(days=today.weekday())
    if what in _WEEKDAYS:
        back = (today.weekday() - _WEEKDAYS[what]) % 7
        return _one_day(today - timedelta(days=back if is_this else back or 7))
    if what == "weekend":
        saturday = monday + timedelta(days=5) if is_this else monday - 2 * _DAY
        return saturday, saturday + 2 * _DAY
    if which == "past":
        return today - timedelta(days=round(_UNIT_DAYS[what])), today + _DAY
    if what == "week":
        return (monday, today + _DAY) if is_this else (monday - 7 * _DAY, monday)
    if what == "month":
        return (today.replace(day=1), today + _DAY) if is_this else _month_before(today)
    year = today.year - (not is_this)
    return date(year, 1, 1), date(year + 1, 1, 1)


def _month_before(today: date) -> _Days:
    last_day = today.replace(day=1) - _DAY
    return _month(last_day.year, last_day.month)


def _read_year(match: re.Match[str], _: date) -> _Days:
    year = int(match["y"])
    return date(year, 1, 1), date(year + 1, 1, 1)


def _any_of(words: dict[str, int] | list[str]) -> str:
    return "|".join(sorted(words, key=len, reverse=True))


_M = rf"(?P<m>{_any_of(_MONTHS)})\.?"
_D = r"(?P<d>\d{1,2})(?:st|nd|rd|th)?"
_Y = r"(?P<y>\d{4})"
_S = rf"(?P<season>{'|'.join(_SEASONS)})"
_RULES: tuple[tuple[re.Pattern[str], _Reader], ...] = tuple(
    (re.compile(pattern), reader)
    for pattern, reader in (
        (rf"\b{_Y}-(?P<m>\d\d)-(?P<d>\d\d)\b", _read_iso),
        (rf"\b{_D}(?: of)? {_M},?(?: {_Y})?\b", _read_date),
        (rf"\b{_M} {_D}\b(?:,? {_Y})?", _read_date),
        (rf"\b(?P<m>\d{{1,2}})/(?P<d>\d{{1,2}})(?:/{_Y})?\b", _read_slashes),
        (rf"\b(?:(?P<part>early|mid|late)[ \-])?{_M},?(?: of)? {_Y}\b", _read_month_of_year),
        (rf"\b{_S}(?: of)? {_Y}\b", _read_season_of_year),
        (rf"\blast {_S}\b", _read_last_season),
        (rf"\b(?:in|during|since) (?P<m>{_any_of(_MONTH_NAMES)})\b", _read_month),
        (rf"(?<![\d,.\w])(?P<n>\d{{1,4}}|{_any_of(_NUMBERS)}) (?P<unit>day|week|month|year)s? ago\b", _read_ago),
        (r"\b(?P<day>yesterday|today|last night|this morning)\b", _read_day),
        (rf"\b(?P<which>last|past|this) (?P<what>week|weekend|month|year|{_any_of(_WEEKDAYS)})\b", _read_relative),
        (r"\b(?:in|during|since|of|for|by) (?P<y>(?:19|20)\d\d)\b", _read_year),
    )
)
