"""
Instructions that were heard and what became of them, one row for each fingerprint.
"""

from collections.abc import Collection
from typing import Any

from sqlalchemy import Connection, Row, func, insert, select, update

from app.domain.consolidation.proposals import Proposal, ProposalState
from app.storage.consolidation_tables import proposal
from app.storage.moments import from_micros, to_micros


def put(connection: Connection, bank_id: int, fingerprint: str, item: Proposal) -> None:
    """
    Write a proposal, new or over what is known under its fingerprint.
    """
    values = {
        "id": item.id,
        "text": item.text,
        "state": item.state,
        "reason": item.reason,
        "speaker": item.speaker,
        "address": item.address,
        "provenance": list(item.provenance),
        "observations": item.observations,
        "created_at": to_micros(item.created_at),
        "updated_at": to_micros(item.updated_at),
    }
    same = (proposal.c.bank_id == bank_id) & (proposal.c.fingerprint == fingerprint)
    if connection.execute(update(proposal).where(same).values(**values)).rowcount == 0:
        connection.execute(insert(proposal).values(bank_id=bank_id, fingerprint=fingerprint, **values))


def by_fingerprint(connection: Connection, bank_id: int, fingerprint: str) -> Proposal | None:
    """
    What is known under a fingerprint.
    """
    row = connection.execute(
        select(proposal).where(proposal.c.bank_id == bank_id, proposal.c.fingerprint == fingerprint)
    ).first()
    return None if row is None else _proposal(row)


def by_id(connection: Connection, bank_id: int, proposal_id: str) -> tuple[str, Proposal] | None:
    """
    The proposal of that id, with its fingerprint.
    """
    row = connection.execute(
        select(proposal).where(proposal.c.bank_id == bank_id, proposal.c.id == proposal_id)
    ).first()
    return None if row is None else (row.fingerprint, _proposal(row))


def page(
    connection: Connection, bank_id: int, states: Collection[ProposalState], limit: int, offset: int
) -> tuple[list[Proposal], int]:
    """
    Proposals in one of the states, newest first, and how many there are.
    """
    where = [proposal.c.bank_id == bank_id, proposal.c.state.in_(sorted(states))]
    total = connection.execute(select(func.count()).select_from(proposal).where(*where)).scalar_one()
    rows = connection.execute(
        select(proposal).where(*where).order_by(proposal.c.created_at.desc(), proposal.c.id).limit(limit).offset(offset)
    )
    return [_proposal(row) for row in rows], total


def _proposal(row: Row[*tuple[Any, ...]]) -> Proposal:
    return Proposal(
        id=row.id,
        text=row.text,
        state=ProposalState(row.state),
        reason=row.reason,
        speaker=row.speaker,
        address=row.address,
        provenance=tuple(row.provenance),
        observations=row.observations,
        created_at=from_micros(row.created_at),
        updated_at=from_micros(row.updated_at),
    )
