"""
First answers to requests that carry an Idempotency-Key.
"""

from dataclasses import dataclass

from sqlalchemy import Connection, delete, insert, select, update

from app.storage.tables import idempotency


@dataclass(frozen=True, slots=True)
class Answer:
    """
    What was answered first: digest of the request, and status, body and type once it was answered.

    A status without a body is that of an attempt that failed. `created_at` is when the key was claimed (microseconds).
    """

    digest: str
    status: int | None
    body: bytes | None
    content_type: str | None
    created_at: int


def find(connection: Connection, owner: str, key: str) -> Answer | None:
    """
    The first answer under that key of that owner.
    """
    columns = idempotency.c
    row = connection.execute(
        select(columns.digest, columns.status, columns.body, columns.content_type, columns.created_at).where(
            columns.owner == owner, columns.key == key
        )
    ).first()
    return None if row is None else Answer(*row)


def begin(connection: Connection, owner: str, bank: str | None, key: str, digest: str, now: int) -> None:
    """
    Claim a key that nobody holds, for a request that begins.

    Raises:
        sqlalchemy.exc.IntegrityError: when the key is claimed.
    """
    connection.execute(insert(idempotency).values(owner=owner, bank=bank, key=key, digest=digest, created_at=now))


def reopen(connection: Connection, owner: str, key: str) -> None:
    """
    Begin a claimed request anew, keeping the time of its claim.
    """
    connection.execute(
        update(idempotency).where(idempotency.c.owner == owner, idempotency.c.key == key).values(status=None)
    )


def finish(
    connection: Connection, owner: str, key: str, status: int, body: bytes | None, content_type: str | None
) -> None:
    """
    Keep the answer of a claimed key; without a body, note that the attempt failed.
    """
    connection.execute(
        update(idempotency)
        .where(idempotency.c.owner == owner, idempotency.c.key == key)
        .values(status=status, body=body, content_type=content_type)
    )


def release(connection: Connection, owner: str, key: str) -> None:
    """
    Forget a claimed key.
    """
    connection.execute(delete(idempotency).where(idempotency.c.owner == owner, idempotency.c.key == key))


def forget_bank(connection: Connection, bank: str) -> None:
    """
    Drop every answer that may hold a text of the bank.
    """
    connection.execute(delete(idempotency).where(idempotency.c.bank == bank))


def forget(connection: Connection, before: int) -> int:
    """
    Drop answers older than `before`, and claims that were never answered; returns how many.
    """
    return connection.execute(delete(idempotency).where(idempotency.c.created_at < before)).rowcount
