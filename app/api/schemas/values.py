"""
Values that several requests share.
"""

from datetime import datetime
from typing import Annotated, TypeAlias

from msgspec import Meta

Identifier: TypeAlias = str | int | float
"""An id that the caller's platform gave, as text or as a number; it is kept, and compared, as text."""

Moment: TypeAlias = Annotated[datetime, Meta(tz=True)]
"""A time with its offset from UTC."""

Share: TypeAlias = Annotated[float, Meta(ge=0.0, le=1.0)]
WholeNumber: TypeAlias = Annotated[int, Meta(ge=-(2**53), le=2**53)]
Scalar: TypeAlias = str | Annotated[int, Meta(ge=-(2**63), le=2**63 - 1)] | float | bool | None
"""A value that metadata can be filtered by."""


def as_text(value: Identifier | None) -> str | None:
    """
    An id as text: 17, 17.0 and "17" are the same.
    """
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value)
