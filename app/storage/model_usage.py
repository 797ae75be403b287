"""
The daily account of what a language model costs each bank.
"""

from sqlalchemy import Connection, delete, insert, select, update

from app.domain.model_usage import DailyBudget, ModelUsage
from app.storage.engine import Storage
from app.storage.tables import model_usage


class ModelUsageAccount:
    """
    The account in the store. Several processes may use it at once.
    """

    def __init__(self, storage: Storage) -> None:
        self._storage = storage

    async def reserve(self, bank_id: int, day: str, budget: DailyBudget) -> str | None:
        """
        Count one more call, unless the budget has no room for it; then say which bound is reached.

        Looking and counting are one transaction, so that no two callers share the last call.
        """
        return await self._storage.write(lambda connection: _reserve(connection, bank_id, day, budget))

    async def add_tokens(self, bank_id: int, day: str, input_tokens: int, output_tokens: int) -> None:
        """
        Add what a counted call read and wrote. A bank that is erased meanwhile has no account any more.
        """
        await self._storage.write(lambda connection: _add_tokens(connection, bank_id, day, input_tokens, output_tokens))

    async def used(self, bank_id: int, day: str) -> ModelUsage:
        """
        What the bank has used on that day.
        """
        return await self._storage.read(lambda connection: usage_of(connection, bank_id, day))

    async def forget(self, before: str) -> int:
        """
        Drop the accounts of days before that one; returns how many.
        """
        return await self._storage.write(
            lambda connection: connection.execute(delete(model_usage).where(model_usage.c.day < before)).rowcount
        )


def usage_of(connection: Connection, bank_id: int, day: str) -> ModelUsage:
    """
    What the bank has used on that day.
    """
    columns = model_usage.c
    row = connection.execute(
        select(columns.calls, columns.input_tokens, columns.output_tokens).where(
            columns.bank_id == bank_id, columns.day == day
        )
    ).first()
    return ModelUsage() if row is None else ModelUsage(*row)


def _reserve(connection: Connection, bank_id: int, day: str, budget: DailyBudget) -> str | None:
    spent = budget.spent(usage_of(connection, bank_id, day))
    if spent is not None:
        return spent
    columns = model_usage.c
    counted = connection.execute(
        update(model_usage).where(columns.bank_id == bank_id, columns.day == day).values(calls=columns.calls + 1)
    )
    if counted.rowcount == 0:
        connection.execute(
            insert(model_usage).values(bank_id=bank_id, day=day, calls=1, input_tokens=0, output_tokens=0)
        )
    return None


def _add_tokens(connection: Connection, bank_id: int, day: str, input_tokens: int, output_tokens: int) -> None:
    columns = model_usage.c
    connection.execute(
        update(model_usage)
        .where(columns.bank_id == bank_id, columns.day == day)
        .values(input_tokens=columns.input_tokens + input_tokens, output_tokens=columns.output_tokens + output_tokens)
    )
