"""
Lists, page by page.
"""

from collections.abc import Sequence
from typing import Annotated, Generic, TypeVar

from litestar.params import QueryParameter
from msgspec import Struct

T = TypeVar("T")

LIMIT_MAX = 500
OFFSET_MAX = 2**53

Limit = Annotated[int, QueryParameter(ge=1, le=LIMIT_MAX, description="Most items in the answer.")]
Offset = Annotated[int, QueryParameter(ge=0, le=OFFSET_MAX, description="Items to skip.")]


class Page(Struct, Generic[T], frozen=True):
    """
    One page of a list. `total` counts the whole list; `next_offset` is where the next page begins, null on the last.
    """

    items: list[T]
    total: int
    next_offset: int | None


def page_of(items: Sequence[T], total: int, offset: int) -> Page[T]:
    """
    The page that begins at `offset`.
    """
    after = offset + len(items)
    return Page(list(items), total, after if items and after < total else None)
