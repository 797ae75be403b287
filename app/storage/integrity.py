"""
Looking for damage in the database file.
"""

from sqlalchemy import Connection
from sqlalchemy.exc import DatabaseError

from app.storage.engine import Storage

WHOLE = "ok"


def damage(storage: Storage) -> list[str]:
    """
    What SQLite finds wrong with the file and with its references, a line each; reads every page.
    """
    found: list[str] = []

    def look(connection: Connection) -> None:
        lines = [str(row[0]) for row in connection.exec_driver_sql("PRAGMA integrity_check")]
        found.extend(line for line in lines if line != WHOLE)
        found.extend(
            f"table {table}: row {row} refers to a row of {parent} that is not there"
            for table, row, parent, _ in connection.exec_driver_sql("PRAGMA foreign_key_check")
        )

    try:
        storage.read_now(look)
    except DatabaseError as error:
        # A page can be so broken that SQLite gives up, here or when the read ends.
        found.append(str(error.orig))
    return found
