"""
Settings of long-term documents: how large they may be, and the zone in which daily logs tell the time.
"""

from datetime import UTC, tzinfo
from typing import Annotated
from zoneinfo import ZoneInfo

from pydantic import AfterValidator, Field

from app.config.section import Section


def _zone(name: str) -> tzinfo:
    # Slim systems carry no zone data at all, and UTC needs none.
    return UTC if name == "UTC" else ZoneInfo(name)


def _known_zone(name: str) -> str:
    try:
        _zone(name)
    except (KeyError, ValueError, OSError) as error:
        raise ValueError("it is no time zone that this machine knows, such as Europe/Berlin or UTC") from error
    return name


class DocumentSettings(Section):
    """Long-term documents."""

    max_bytes: int = Field(4 * 1024 * 1024, ge=1024, le=64 * 1024 * 1024)
    """Largest document, in bytes of UTF-8; beyond it the answer is 413."""
    passages_max: int = Field(10_000, ge=1, le=100_000)
    """Most passages of one document, about one a heading; beyond it the answer is 413."""
    stale_passages_max: int = Field(1000, ge=0, le=1_000_000)
    """Emptied records of replaced passages that a bank keeps before they are swept out, which loads it anew."""
    time_zone: Annotated[str, AfterValidator(_known_zone)] = "UTC"
    """Zone of the times in daily logs, by its IANA name."""

    @property
    def zone(self) -> tzinfo:
        """
        The zone that `time_zone` names.
        """
        return _zone(self.time_zone)
