"""
Moments as the tables hold them: whole microseconds since 1970 in UTC, and the zone's offset in minutes.
"""

from datetime import UTC, datetime, timedelta, timezone

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


def to_micros(moment: datetime) -> int:
    """
    Microseconds since 1970 of an aware moment; exact, negative before 1970.
    """
    return (moment - _EPOCH) // _MICROSECOND


def offset_of(moment: datetime) -> int:
    """
    The moment's offset from UTC, in whole minutes.
    """
    offset = moment.utcoffset()
    return 0 if offset is None else round(offset.total_seconds() / 60)


def from_micros(micros: int, offset: int | None = 0) -> datetime:
    """
    The aware moment, shown at the given offset in minutes.

    At the ends of the calendar, where the offset would leave it, the moment is shown in UTC.
    """
    moment = _EPOCH + timedelta(microseconds=micros)
    if not offset:
        return moment
    try:
        return moment.astimezone(timezone(timedelta(minutes=offset)))
    except OverflowError:
        return moment
