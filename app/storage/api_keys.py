"""
Access keys that were made with the command line; only digests are kept.
"""

from dataclasses import dataclass

from sqlalchemy import Connection, insert, select, update

from app.storage.tables import api_key


@dataclass(frozen=True, slots=True)
class StoredKey:
    """
    An access key as stored: never the secret itself, only its SHA-256 in hex.
    """

    name: str
    digest: str
    role: str
    banks: tuple[str, ...]
    created_at: int
    revoked_at: int | None = None


def add(connection: Connection, key: StoredKey) -> None:
    """
    Store a key.

    Raises:
        sqlalchemy.exc.IntegrityError: when the name is taken.
    """
    connection.execute(
        insert(api_key).values(
            name=key.name, digest=key.digest, role=key.role, banks=list(key.banks), created_at=key.created_at
        )
    )


def every(connection: Connection) -> list[StoredKey]:
    """
    All keys, revoked ones too, by name.
    """
    rows = connection.execute(select(api_key).order_by(api_key.c.name))
    return [StoredKey(row.name, row.digest, row.role, tuple(row.banks), row.created_at, row.revoked_at) for row in rows]


def revoke(connection: Connection, name: str, now: int) -> bool:
    """
    Withdraw a key; tells whether there was one to withdraw.
    """
    result = connection.execute(
        update(api_key).where(api_key.c.name == name, api_key.c.revoked_at.is_(None)).values(revoked_at=now)
    )
    return result.rowcount > 0
