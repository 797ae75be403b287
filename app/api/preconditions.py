"""
Conditional requests: a document's revision as its entity tag, and the revision that a request expects.
"""

import re

from app.errors import PreconditionFailed
from app.services.documents import ABSENT, ANY

_TAG = re.compile(r'(?:W/)?"?(\d{1,15})"?', re.ASCII)


def entity_tag(revision: int) -> str:
    """
    The `ETag` of a document at that revision.
    """
    return f'"{revision}"'


def expected_revision(if_match: str | None, if_none_match: str | None = None) -> int | None:
    """
    The revision that `If-Match` names, or that `If-None-Match: *` means; None where the request expects none.

    Raises:
        PreconditionFailed: when `If-Match` names what no revision can be.
    """
    if if_match is None:
        return ABSENT if if_none_match is not None and if_none_match.strip() == "*" else None
    if if_match.strip() == "*":
        return ANY
    found = _TAG.fullmatch(if_match.strip())
    if found is None:
        raise PreconditionFailed(f"If-Match: {if_match!r} is no revision; one is named as {entity_tag(3)}")
    return int(found[1])
