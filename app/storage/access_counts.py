"""
Access counts of records, written in batches.
"""

from collections.abc import Mapping

from sqlalchemy import Connection, bindparam, update

from app.storage.tables import bank, record


def add(connection: Connection, bank_id: int, counts: Mapping[str, int], at: int, changed: int) -> int:
    """
    Add to the access counts of records by id, and to the bank's total; records that are gone are passed over.

    Returns:
        How many accesses were counted.
    """
    counted = 0
    statement = (
        update(record)
        .where(record.c.bank_id == bank_id, record.c.id == bindparam("b_id"))
        .values(access_count=record.c.access_count + bindparam("b_count"), last_accessed_at=at, changed=changed)
    )
    for record_id, number in counts.items():
        result = connection.execute(statement, {"b_id": record_id, "b_count": number})
        counted += number * result.rowcount
    connection.execute(
        update(bank).where(bank.c.bank_id == bank_id).values(total_accesses=bank.c.total_accesses + counted)
    )
    return counted
