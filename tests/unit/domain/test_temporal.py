"""
Questions name times.
"""

from datetime import UTC, date, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.domain.temporal import SPANS_MAX, age_spans
from tests.unit.domain.words import any_text

CLOCK = datetime(2023, 6, 15, 12, tzinfo=UTC)  # a Thursday


def days(text: str, clock: datetime = CLOCK) -> list[tuple[date, date]]:
    """
    First and last day of each span.
    """
    spans = age_spans(text, clock)
    return [
        ((clock - timedelta(days=span.oldest)).date(), (clock - timedelta(days=span.newest)).date() - timedelta(days=1))
        for span in spans
    ]


@pytest.mark.parametrize(
    ("text", "first", "last"),
    [
        ("on 2022-03-04", (2022, 3, 4), (2022, 3, 4)),
        ("on 16 August, 2022?", (2022, 8, 16), (2022, 8, 16)),
        ("the 16th of August", (2022, 8, 16), (2022, 8, 16)),
        ("on May 23rd", (2023, 5, 23), (2023, 5, 23)),
        ("on Dec. 1, 2021", (2021, 12, 1), (2021, 12, 1)),
        ("on 3/22", (2023, 3, 22), (2023, 3, 22)),
        ("around 11/2/2021", (2021, 11, 2), (2021, 11, 2)),
        ("in August 2022", (2022, 8, 1), (2022, 8, 31)),
        ("early May 2022", (2022, 5, 1), (2022, 5, 11)),
        ("mid-May 2022", (2022, 5, 9), (2022, 5, 22)),
        ("late May 2022", (2022, 5, 21), (2022, 5, 31)),
        ("in March", (2023, 3, 1), (2023, 3, 31)),
        ("during October", (2022, 10, 1), (2022, 10, 31)),
        ("the summer of 2022", (2022, 6, 1), (2022, 8, 31)),
        ("winter 2021", (2021, 12, 1), (2022, 2, 28)),
        ("last winter", (2022, 12, 1), (2023, 2, 28)),
        ("3 days ago", (2023, 6, 12), (2023, 6, 12)),
        ("two weeks ago", (2023, 5, 28), (2023, 6, 4)),
        ("a month ago", (2023, 4, 30), (2023, 5, 30)),
        ("yesterday", (2023, 6, 14), (2023, 6, 14)),
        ("this morning", (2023, 6, 15), (2023, 6, 15)),
        ("last week", (2023, 6, 5), (2023, 6, 11)),
        ("this week", (2023, 6, 12), (2023, 6, 15)),
        ("past week", (2023, 6, 8), (2023, 6, 15)),
        ("last weekend", (2023, 6, 10), (2023, 6, 11)),
        ("this weekend", (2023, 6, 17), (2023, 6, 18)),
        ("last month", (2023, 5, 1), (2023, 5, 31)),
        ("this month", (2023, 6, 1), (2023, 6, 15)),
        ("last year", (2022, 1, 1), (2022, 12, 31)),
        ("last Thursday", (2023, 6, 8), (2023, 6, 8)),
        ("last Monday", (2023, 6, 12), (2023, 6, 12)),
        ("this Thursday", (2023, 6, 15), (2023, 6, 15)),
        ("in 2021", (2021, 1, 1), (2021, 12, 31)),
    ],
)
def test_expressions_name_days(text: str, first: tuple[int, int, int], last: tuple[int, int, int]) -> None:
    assert days(f"What happened {text}") == [(date(*first), date(*last))]


@pytest.mark.parametrize(
    "text",
    [
        "What may I eat",
        "the march of time",
        "room 2021",
        "a 24/7 shop",
        "100,000 years ago",
        "9000 years ago",
        "year 0",
        "0000-00-00",
        "9999-12-31",
        "1.5 days ago",
        "29 February",
        "",
    ],
)
def test_t085_what_names_no_possible_day_is_passed_over(text: str) -> None:
    assert age_spans(text, CLOCK) == ()


def test_t085_an_impossible_day_leaves_its_month() -> None:
    assert days("on 29 February 2023") == [(date(2023, 2, 1), date(2023, 2, 28))]


def test_several_times_are_read_once_each() -> None:
    assert days("between 3 May 2022 and 5 May 2022") == [
        (date(2022, 5, 3), date(2022, 5, 3)),
        (date(2022, 5, 5), date(2022, 5, 5)),
    ]


def test_a_pasted_log_gives_few_spans() -> None:
    assert len(age_spans("2022-01-01 12:00 ok\n" * 1000, CLOCK)) == SPANS_MAX


def test_days_are_those_of_the_clocks_zone() -> None:
    late = datetime(2023, 6, 14, 23, 30, tzinfo=timezone(timedelta(hours=-5)))
    (span,) = age_spans("today", late)
    assert [span.oldest, span.newest] == pytest.approx([23.5 / 24, -0.5 / 24])


@given(any_text, st.datetimes(timezones=st.just(UTC)))
def test_any_text_and_clock_are_legal(text: str, clock: datetime) -> None:
    for phrase in (text, f"{text} 3 years ago last month this weekend in May last winter 2023-02-30"):
        assert all(span.oldest > span.newest for span in age_spans(phrase, clock))
