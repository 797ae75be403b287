"""
The daily account in the store: exact under concurrency, by bank and by day.
"""

import asyncio
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from sqlalchemy import Connection, delete

from app.config import StorageSettings
from app.domain.model_usage import DailyBudget, ModelUsage
from app.storage import banks, migrate
from app.storage.engine import Storage
from app.storage.model_usage import ModelUsageAccount
from app.storage.moments import to_micros
from app.storage.tables import bank

DAY = "2026-11-30"


@pytest.fixture
def storage(tmp_path: Path) -> Iterator[Storage]:
    made = Storage(StorageSettings(data_dir=tmp_path))
    migrate.upgrade(made.writer_engine)
    yield made
    made.close()


def new_bank(storage: Storage, name: str) -> int:
    now = to_micros(datetime(2026, 11, 30, tzinfo=UTC))

    def work(connection: Connection) -> int:
        return banks.create(connection, name, now).bank_id

    return storage.write_now(work)


async def test_callers_at_once_never_share_the_last_call(storage: Storage) -> None:
    account, bank_id = ModelUsageAccount(storage), new_bank(storage, "main")
    budget = DailyBudget(calls=10)
    told = await asyncio.gather(*(account.reserve(bank_id, DAY, budget) for _ in range(25)))
    assert told.count(None) == 10
    assert set(told) == {None, "10 of 10 calls"}
    assert await account.used(bank_id, DAY) == ModelUsage(10, 0, 0)


async def test_tokens_add_up_and_bound_the_next_call(storage: Storage) -> None:
    account, bank_id = ModelUsageAccount(storage), new_bank(storage, "main")
    budget = DailyBudget(tokens=100)
    assert await account.reserve(bank_id, DAY, budget) is None
    await account.add_tokens(bank_id, DAY, 70, 20)
    assert await account.reserve(bank_id, DAY, budget) is None
    await account.add_tokens(bank_id, DAY, 5, 5)
    assert await account.reserve(bank_id, DAY, budget) == "100 of 100 tokens"
    assert await account.used(bank_id, DAY) == ModelUsage(2, 75, 25)


async def test_banks_and_days_have_accounts_of_their_own(storage: Storage) -> None:
    account = ModelUsageAccount(storage)
    first, second = new_bank(storage, "first"), new_bank(storage, "second")
    budget = DailyBudget(calls=1)
    for bank_id, day in ((first, DAY), (second, DAY), (first, "2026-12-01")):
        assert await account.reserve(bank_id, day, budget) is None
        assert await account.reserve(bank_id, day, budget) == "1 of 1 calls"
    assert await account.forget("2026-12-01") == 2
    assert await account.used(first, DAY) == ModelUsage()
    assert await account.used(first, "2026-12-01") == ModelUsage(1)


async def test_the_account_goes_with_its_bank(storage: Storage) -> None:
    account, bank_id = ModelUsageAccount(storage), new_bank(storage, "main")
    await account.reserve(bank_id, DAY, DailyBudget())
    await storage.write(lambda connection: connection.execute(delete(bank).where(bank.c.bank_id == bank_id)))
    await account.add_tokens(bank_id, DAY, 5, 5)
    assert await account.used(bank_id, DAY) == ModelUsage()


async def test_nothing_allowed_leaves_no_trace(storage: Storage) -> None:
    account, bank_id = ModelUsageAccount(storage), new_bank(storage, "main")
    assert await account.reserve(bank_id, DAY, DailyBudget(calls=0)) == "0 of 0 calls"
    assert await account.used(bank_id, DAY) == ModelUsage()
