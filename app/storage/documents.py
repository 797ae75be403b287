"""
Long-term documents: their present text, their history, and the passages that link records to them.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Row, and_, bindparam, delete, func, insert, select, update

from app.domain.documents.model import Change, Document, DocumentInfo, DocumentRevision, Passage, Step
from app.domain.records import Record, Tier
from app.storage.moments import from_micros, to_micros
from app.storage.records import to_record
from app.storage.tables import document, document_revision, passage, record

AT_ONCE = 16
"""Revisions read at once, each of which may be as large as a document."""


@dataclass(frozen=True, slots=True)
class StoredPassage:
    """
    A passage of a document as it is recalled: its record, and its place in the document.
    """

    record: Record
    heading: tuple[str, ...]
    first_line: int
    last_line: int


def find(connection: Connection, bank_id: int, path: str) -> Document | None:
    """
    The document at that path, also what is left of a deleted one.
    """
    row = connection.execute(select(document).where(document.c.bank_id == bank_id, document.c.path == path)).first()
    return None if row is None else _document(row)


def page(connection: Connection, bank_id: int, limit: int, offset: int) -> tuple[list[DocumentInfo], int]:
    """
    The documents of a bank by path, and how many there are.
    """
    present = (document.c.bank_id == bank_id) & document.c.deleted_at.is_(None)
    total = connection.execute(select(func.count()).select_from(document).where(present)).scalar_one()
    rows = connection.execute(
        select(
            document.c.path,
            document.c.revision,
            func.octet_length(document.c.content).label("size"),
            document.c.created_at,
            document.c.updated_at,
        )
        .where(present)
        .order_by(document.c.path)
        .limit(limit)
        .offset(offset)
    )
    return [
        DocumentInfo(row.path, row.revision, row.size, from_micros(row.created_at), from_micros(row.updated_at))
        for row in rows
    ], total


def under(connection: Connection, bank_id: int, folder: str) -> list[Document]:
    """
    The documents whose path begins with `folder` (which ends in a slash), by path, with their text.
    """
    # The bounds of a range, since LIKE takes `Rules/` for `rules/` in SQLite.
    after = folder[:-1] + chr(ord("/") + 1)
    rows = connection.execute(
        select(document)
        .where(
            document.c.bank_id == bank_id,
            document.c.path >= folder,
            document.c.path < after,
            document.c.deleted_at.is_(None),
        )
        .order_by(document.c.path)
    )
    return [_document(row) for row in rows]


def put(connection: Connection, bank_id: int, item: Document, step: Step) -> None:
    """
    Write a document's next state, and the step that led to it into its history.
    """
    values = {
        "revision": item.revision,
        "content": item.content,
        "created_at": to_micros(item.created_at),
        "updated_at": to_micros(item.updated_at),
        "deleted_at": None if item.deleted_at is None else to_micros(item.deleted_at),
    }
    same = (document.c.bank_id == bank_id) & (document.c.path == item.path)
    if connection.execute(update(document).where(same).values(**values)).rowcount == 0:
        connection.execute(insert(document).values(bank_id=bank_id, path=item.path, **values))
    connection.execute(
        insert(document_revision).values(
            bank_id=bank_id,
            path=item.path,
            revision=item.revision,
            changed_at=to_micros(item.updated_at),
            change=step.change,
            reason=step.reason,
            request_key=step.request_key,
            content=step.kept,
        )
    )


def change_by(connection: Connection, bank_id: int, path: str, request_key: str) -> Change | None:
    """
    What the request of that key did to the document, if it was done.
    """
    found = connection.execute(
        select(document_revision.c.change).where(
            document_revision.c.bank_id == bank_id,
            document_revision.c.path == path,
            document_revision.c.request_key == request_key,
        )
    ).scalar()
    return None if found is None else Change(found)


def revisions(connection: Connection, bank_id: int, path: str, offset: int) -> Iterator[DocumentRevision]:
    """
    A document's states from the `offset`-th on, oldest first, each with its whole text; made as they are asked for.
    """
    own = (document_revision.c.bank_id == bank_id) & (document_revision.c.path == path)
    # An append keeps only what it added: its text is that of the last whole state before it, and all additions since.
    whole = connection.execute(
        select(func.max(document_revision.c.revision)).where(
            own, document_revision.c.revision <= offset + 1, document_revision.c.change != Change.APPENDED
        )
    ).scalar_one()
    if whole is None:
        return
    statement = (
        select(document_revision)
        .where(own, document_revision.c.revision >= whole)
        .order_by(document_revision.c.revision)
        .execution_options(yield_per=AT_ONCE)
    )
    content = ""
    with connection.execute(statement) as rows:
        for row in rows:
            change = Change(row.change)
            content = content + row.content if change is Change.APPENDED else row.content
            if row.revision > offset:
                yield DocumentRevision(row.revision, from_micros(row.changed_at), change, row.reason, content)


def passages(connection: Connection, bank_id: int, path: str) -> list[StoredPassage]:
    """
    The passages of a document with their records, in the order of their lines.
    """
    rows = connection.execute(
        select(record, passage.c.heading, passage.c.first_line, passage.c.last_line)
        .join(passage, and_(passage.c.bank_id == record.c.bank_id, passage.c.seq == record.c.seq))
        .where(passage.c.bank_id == bank_id, passage.c.path == path)
        .order_by(passage.c.first_line, passage.c.seq)
    )
    return [StoredPassage(to_record(row), tuple(row.heading), row.first_line, row.last_line) for row in rows]


def add_passages(connection: Connection, bank_id: int, path: str, items: Sequence[tuple[int, Passage]]) -> None:
    """
    Link records, by number, to the passages of a document that they stand for.
    """
    if items:
        connection.execute(
            insert(passage),
            [
                {
                    "bank_id": bank_id,
                    "seq": seq,
                    "path": path,
                    "heading": list(item.heading),
                    "first_line": item.first_line,
                    "last_line": item.last_line,
                }
                for seq, item in items
            ],
        )


def move_passages(connection: Connection, bank_id: int, moved: Sequence[tuple[int, Passage, dict[str, Any]]]) -> None:
    """
    Note that passages lie on other lines than before; each with its record's new metadata.

    The records do not count as changed, for caches keep nothing of their metadata.
    """
    if not moved:
        return
    connection.execute(
        update(passage)
        .where(passage.c.bank_id == bank_id, passage.c.seq == bindparam("b_seq"))
        .values(first_line=bindparam("b_first"), last_line=bindparam("b_last")),
        [{"b_seq": seq, "b_first": item.first_line, "b_last": item.last_line} for seq, item, _ in moved],
    )
    connection.execute(
        update(record)
        .where(record.c.bank_id == bank_id, record.c.seq == bindparam("b_seq"))
        .values({record.c.metadata: bindparam("b_metadata", type_=record.c.metadata.type)}),
        [{"b_seq": seq, "b_metadata": metadata} for seq, _, metadata in moved],
    )


def unlink(connection: Connection, bank_id: int, seqs: Sequence[int]) -> None:
    """
    Drop the links of records to their documents.
    """
    connection.execute(delete(passage).where(passage.c.bank_id == bank_id, passage.c.seq.in_(seqs)))


def stale(connection: Connection, bank_id: int) -> list[int]:
    """
    The numbers of the emptied records of passages that are no more.
    """
    return list(
        connection.execute(
            select(record.c.seq).where(
                record.c.bank_id == bank_id, record.c.tier == Tier.DOCUMENT, record.c.invalid_at.is_not(None)
            )
        ).scalars()
    )


def _document(row: Row[*tuple[Any, ...]]) -> Document:
    return Document(
        path=row.path,
        revision=row.revision,
        content=row.content,
        created_at=from_micros(row.created_at),
        updated_at=from_micros(row.updated_at),
        deleted_at=None if row.deleted_at is None else from_micros(row.deleted_at),
    )
