"""
Embedding spaces: which model, file, pooling and prefixes a stored vector belongs to.
"""

from sqlalchemy import Connection, insert, select

from app.storage.tables import embedding_space


def find(connection: Connection, identity: str) -> int | None:
    """
    The number of the space of that identity, if any vector was ever stored in it.
    """
    return connection.execute(
        select(embedding_space.c.space_id).where(embedding_space.c.identity == identity)
    ).scalar_one_or_none()


def ensure(connection: Connection, identity: str, dimensions: int, now: int) -> int:
    """
    The number of the space of that identity, made if need be.
    """
    known = find(connection, identity)
    if known is not None:
        return known
    connection.execute(insert(embedding_space).values(identity=identity, dimensions=dimensions, created_at=now))
    return ensure(connection, identity, dimensions, now)
