"""
Times given on the command line.
"""

from datetime import datetime

import typer


def parsed(option: str, value: str | None) -> datetime | None:
    """
    The time that an option gives; one without an offset is meant in this machine's zone.

    Raises:
        typer.BadParameter: when it is not a time.
    """
    if value is None:
        return None
    try:
        moment = datetime.fromisoformat(value)
        return moment if moment.tzinfo is not None else moment.astimezone()
    except (ValueError, OverflowError) as error:
        message = f"{value!r} is not a time such as 2026-11-30T09:00:00+01:00"
        raise typer.BadParameter(message, param_hint=option) from error
