"""
Long-term documents and rules, as they are written and shown.
"""

from datetime import datetime

from msgspec import Struct

from app.domain.documents.model import Document, DocumentInfo, DocumentRevision
from app.domain.documents.paths import rule_name
from app.services.document_writer import Written


class DocumentIn(Struct, forbid_unknown_fields=True):
    """
    The whole content of a document. `reason` goes into its history.
    """

    content: str
    reason: str | None = None


class AdditionIn(Struct, forbid_unknown_fields=True):
    """
    Text to put at the end of a document, under a heading if one is given.
    """

    content: str
    heading: str | None = None
    reason: str | None = None


class DocumentListed(Struct, frozen=True):
    """
    A document without its content. `size` is bytes of UTF-8.
    """

    path: str
    revision: int
    size: int
    created_at: datetime
    updated_at: datetime


class DocumentStored(Struct, frozen=True):
    """
    A document after it was written. `change` says what that did to it; null where it was so already.
    """

    path: str
    revision: int
    size: int
    change: str | None
    created_at: datetime
    updated_at: datetime


class DocumentOut(Struct, frozen=True):
    """
    A document.
    """

    path: str
    revision: int
    content: str
    created_at: datetime
    updated_at: datetime


class StateOut(Struct, frozen=True):
    """
    One state of a document, whole, and what made it so: `created`, `replaced`, `appended` or `deleted`.
    """

    revision: int
    changed_at: datetime
    change: str
    reason: str | None
    content: str


class RuleOut(Struct, frozen=True):
    """
    A rule, and the path of its document.
    """

    name: str
    path: str
    revision: int
    content: str
    updated_at: datetime


def listed_out(item: DocumentInfo) -> DocumentListed:
    """
    A document as a list shows it.
    """
    return DocumentListed(item.path, item.revision, item.size, item.created_at, item.updated_at)


def stored_out(written: Written) -> DocumentStored:
    """
    What became of a document, as it is answered.
    """
    item = written.document.info
    return DocumentStored(item.path, item.revision, item.size, written.change, item.created_at, item.updated_at)


def document_out(item: Document) -> DocumentOut:
    """
    A document as it is shown.
    """
    return DocumentOut(item.path, item.revision, item.content, item.created_at, item.updated_at)


def state_out(item: DocumentRevision) -> StateOut:
    """
    A past or present state as it is shown.
    """
    return StateOut(item.revision, item.changed_at, item.change, item.reason, item.content)


def rule_out(item: Document) -> RuleOut:
    """
    A rule as it is shown.
    """
    return RuleOut(rule_name(item.path), item.path, item.revision, item.content, item.updated_at)
