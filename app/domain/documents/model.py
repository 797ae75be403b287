"""
A long-term markdown document, its past states, and the passages in which it is recalled.
"""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum


class Change(StrEnum):
    """
    What a revision did to its document.
    """

    CREATED = "created"
    REPLACED = "replaced"
    APPENDED = "appended"
    DELETED = "deleted"


@dataclass(frozen=True, slots=True)
class DocumentInfo:
    """
    What a list shows of a document. `size` is bytes of UTF-8.
    """

    path: str
    revision: int
    size: int
    created_at: datetime
    updated_at: datetime


@dataclass(frozen=True, slots=True)
class Document:
    """
    A document as it is now. `revision` counts its changes, its deletions included; it is 1 at first.

    A deleted one has no content; its history stays, and its revisions go on when it is written again.
    """

    path: str
    revision: int
    content: str
    created_at: datetime
    updated_at: datetime
    deleted_at: datetime | None = None

    @property
    def info(self) -> DocumentInfo:
        """
        The document without its content.
        """
        size = len(self.content.encode())
        return DocumentInfo(self.path, self.revision, size, self.created_at, self.updated_at)


@dataclass(frozen=True, slots=True)
class Step:
    """
    A change of a document that is decided: its next content, and what its history keeps of it (the whole content, or of
    an append only what comes after the content before).

    `request_key` names the request behind it, if that may be sent again and must not be done again.
    """

    change: Change
    content: str
    kept: str
    reason: str | None = None
    request_key: str | None = None


@dataclass(frozen=True, slots=True)
class DocumentRevision:
    """
    One state of a document: its whole content then (empty for a deletion), what made it so, and why.
    """

    revision: int
    changed_at: datetime
    change: Change
    reason: str | None
    content: str


@dataclass(frozen=True, slots=True)
class Passage:
    """
    A piece of a document that is recalled by itself. Lines count from 1 and include both ends.

    `text` begins with the titles above the piece, so that it says what it speaks of.
    """

    heading: tuple[str, ...]
    first_line: int
    last_line: int
    text: str
