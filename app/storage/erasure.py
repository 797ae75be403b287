"""
Erasing for good: every row of a bank, in all tables.
"""

from sqlalchemy import Connection, delete, func, select

from app.storage import idempotency
from app.storage.tables import bank, metadata, outbox, record


def erase_bank(connection: Connection, bank_id: int, name: str) -> int:
    """
    Remove every row of a bank; returns how many records it had.
    """
    number = connection.execute(select(func.count()).where(record.c.bank_id == bank_id)).scalar_one()
    for table in reversed(metadata.sorted_tables):
        if table is not bank and "bank_id" in table.c:
            connection.execute(delete(table).where(table.c.bank_id == bank_id))
    connection.execute(delete(outbox).where(outbox.c.bank == name))
    idempotency.forget_bank(connection, name)
    connection.execute(delete(bank).where(bank.c.bank_id == bank_id))
    return number
