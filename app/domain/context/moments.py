"""
Writes times so that a model cannot misread them: with weekday, and with the offset of whoever spoke.
"""

from datetime import datetime, timedelta

_WEEKDAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")


def day(moment: datetime) -> str:
    """
    `Mon 2026-06-01`, in the moment's own zone.
    """
    return f"{_WEEKDAYS[moment.weekday()]} {moment.year:04d}-{moment.month:02d}-{moment.day:02d}"


def day_and_time(moment: datetime) -> str:
    """
    `Mon 2026-06-01 19:00 -05:00`; a moment without a zone counts as UTC.
    """
    return f"{day(moment)} {moment.hour:02d}:{moment.minute:02d} {zone(moment)}"


def zone(moment: datetime) -> str:
    """
    The offset as `UTC` or `+01:00`.
    """
    offset = moment.utcoffset() or timedelta(0)
    minutes = round(offset.total_seconds() / 60)
    if minutes == 0:
        return "UTC"
    hours, rest = divmod(abs(minutes), 60)
    return f"{'-' if minutes < 0 else '+'}{hours:02d}:{rest:02d}"
