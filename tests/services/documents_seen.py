"""
Short ways to see what became of documents, for tests that write them.
"""

from collections.abc import Mapping
from typing import Any

from sqlalchemy import Connection, func, select

from app.bootstrap import Container
from app.storage.tables import bank, unit
from tests.services.asking import BANK, ask

ANA = "# Ana\n\n## Food\n\nLikes oat milk\n\n## Work\n\nNurse in Pune\n"


async def content(service: Container, path: str = "USER.md") -> str:
    """
    The text of a document.
    """
    return (await service.documents.get(BANK, path)).content


async def found(service: Container, query: str, **fields: Any) -> list[tuple[str, Mapping[str, Any]]]:
    """
    The id and the metadata of each record that a recall finds.
    """
    answer = await ask(service, query, **fields)
    return [(item.record.id, item.record.metadata) for item in answer.results]


def totals_agree(connection: Connection) -> bool:
    """
    Whether every bank counts the units and terms that it has; only live records have any in these tests.
    """
    return all(
        (row.live_units, row.live_terms)
        == tuple(
            connection.execute(
                select(func.count(), func.coalesce(func.sum(unit.c.terms), 0)).where(unit.c.bank_id == row.bank_id)
            ).one()
        )
        for row in connection.execute(select(bank))
    )
