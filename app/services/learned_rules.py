"""
Standing instructions: those of trusted people become rules at once, all others proposals; none is put twice.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from sqlalchemy import Connection

from app.clock import Clock
from app.config import RuleSettings
from app.domain.consolidation.learned import LEARNED, fingerprints, grown, rule_text, rules_in
from app.domain.consolidation.proposals import Proposal, ProposalState
from app.domain.consolidation.sameness import statement_fingerprint
from app.domain.documents.model import Change, Document, Step
from app.domain.documents.paths import RULES
from app.domain.identity import new_id
from app.domain.records import Bank
from app.errors import Conflict, NotFound
from app.services.documents import Documents
from app.storage import banks as bank_rows
from app.storage import documents as document_rows
from app.storage import proposals as proposal_rows
from app.storage.engine import Storage

FULL = f"{LEARNED} has no room for it (rules.learned_max_chars)"


@dataclass(frozen=True, slots=True)
class Heard:
    """
    An instruction, who gave it (name and address), the records it comes from, and why it is or is not a rule at once.
    """

    text: str
    trusted: bool
    reason: str
    speaker: str | None = None
    address: str | None = None
    provenance: tuple[str, ...] = ()


class LearnedRules:
    """
    The use cases of rules that are learned, and of proposals.
    """

    def __init__(self, storage: Storage, documents: Documents, clock: Clock, settings: RuleSettings) -> None:
        self._storage = storage
        self._documents = documents
        self._clock = clock
        self._settings = settings

    def hear_within(
        self, connection: Connection, bank: Bank, heard: Sequence[Heard], now: datetime
    ) -> Mapping[str, int]:
        """
        Take in instructions inside the caller's transaction: what is known, or was refused, changes nothing.

        Returns:
            How many were `learned`, `proposed`, `known` or `rejected`.
        """
        known = self._known(connection, bank.bank_id)
        counts: Counter[str] = Counter()
        due: dict[str, Proposal] = {}
        for item in heard:
            text = rule_text(item.text)
            mark = statement_fingerprint(text)
            present = due.get(mark) or proposal_rows.by_fingerprint(connection, bank.bank_id, mark)
            outcome = _outcome(present, item, in_rules=mark in known)
            counts[outcome] += 1
            if outcome in ("known", "rejected"):
                continue
            due[mark] = _proposal(present, item, text, now)
        learned = [item.text for item in due.values() if item.state is ProposalState.LEARNED]
        taken = self._write(connection, bank, learned, "learned from a conversation", self._settings.learned_max_chars)
        for mark, made in due.items():
            left_out = made.state is ProposalState.LEARNED and made.text not in taken
            if left_out:
                counts["learned"] -= 1
                counts["proposed"] += 1
                made = replace(made, state=ProposalState.PENDING, reason=FULL)
            proposal_rows.put(connection, bank.bank_id, mark, made)
        return dict(+counts)

    async def page(
        self, bank: str, states: Sequence[ProposalState], limit: int, offset: int
    ) -> tuple[list[Proposal], int]:
        """
        Proposals in the given states, newest first, and how many there are.

        Raises:
            NotFound: when there is no such bank.
        """

        def work(connection: Connection) -> tuple[list[Proposal], int]:
            bank_id = bank_rows.require(connection, bank).bank_id
            return proposal_rows.page(connection, bank_id, states, limit, offset)

        return await self._storage.read(work)

    async def accept(self, bank: str, proposal_id: str) -> Proposal:
        """
        Make a proposal a rule, whether or not there is room for it by the configuration.

        Raises:
            NotFound: when there is no such bank or proposal.
            Conflict: when it was decided before.
        """
        return await self._decide(bank, proposal_id, ProposalState.ACCEPTED)

    async def reject(self, bank: str, proposal_id: str) -> Proposal:
        """
        Refuse a proposal, for good.

        Raises:
            NotFound: when there is no such bank or proposal.
            Conflict: when it was decided before.
        """
        return await self._decide(bank, proposal_id, ProposalState.REJECTED)

    async def _decide(self, bank: str, proposal_id: str, state: ProposalState) -> Proposal:
        now = self._clock.now()

        def work(connection: Connection) -> Proposal:
            opened = bank_rows.require(connection, bank)
            found = proposal_rows.by_id(connection, opened.bank_id, proposal_id)
            if found is None:
                raise NotFound(f"there is no proposal {proposal_id!r} in bank {bank!r}")
            mark, item = found
            if item.state is not ProposalState.PENDING:
                raise Conflict(f"proposal {proposal_id!r} is {item.state} already")
            if state is ProposalState.ACCEPTED and mark not in self._known(connection, opened.bank_id):
                self._write(connection, opened, [item.text], f"proposal {item.id} accepted", None)
            decided = replace(item, state=state, reason=f"{state} by a person", updated_at=now)
            proposal_rows.put(connection, opened.bank_id, mark, decided)
            return decided

        return await self._storage.write(work)

    def _known(self, connection: Connection, bank_id: int) -> frozenset[str]:
        """The fingerprints of all rules that stand, written by hand or learned."""
        return fingerprints(
            rule for document in document_rows.under(connection, bank_id, RULES) for rule in rules_in(document.content)
        )

    def _write(
        self, connection: Connection, bank: Bank, rules: Sequence[str], reason: str, limit: int | None
    ) -> tuple[str, ...]:
        """
        Put rules at the end of the document of learned ones; returns those that fit into `limit` characters.
        """
        present = document_rows.find(connection, bank.bank_id, LEARNED)
        before = "" if present is None else present.content  # nothing is left of a deleted one
        text, taken = grown(before, rules, limit)
        if not taken:
            return ()

        def decide(present: Document | None) -> Step:
            if present is None:
                return Step(Change.CREATED, text, text, reason)
            if text.startswith(present.content):
                return Step(Change.APPENDED, text, text[len(present.content) :], reason)
            return Step(Change.REPLACED, text, text, reason)

        self._documents.change_within(connection, bank, LEARNED, decide)
        return taken


def _outcome(present: Proposal | None, item: Heard, *, in_rules: bool) -> str:
    if present is not None and present.state is ProposalState.REJECTED:
        return "rejected"
    if in_rules or (present is not None and present.state is not ProposalState.PENDING):
        return "known"
    if present is not None and set(present.provenance) & set(item.provenance):
        return "known"
    return "learned" if item.trusted else "proposed"


def _proposal(present: Proposal | None, item: Heard, text: str, now: datetime) -> Proposal:
    state = ProposalState.LEARNED if item.trusted else ProposalState.PENDING
    if present is None:
        return Proposal(
            new_id("prp"), text, state, item.reason, item.speaker, item.address, item.provenance, 1, now, now
        )
    return replace(
        present,
        state=state,
        reason=item.reason,
        provenance=tuple(dict.fromkeys((*present.provenance, *item.provenance))),
        observations=present.observations + 1,
        updated_at=now,
    )
