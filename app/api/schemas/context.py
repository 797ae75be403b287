"""
Contexts: what is asked of the prompt assembler and what it answers.
"""

from typing import Annotated

from msgspec import UNSET, Meta, Struct, UnsetType

from app.api.schemas.values import Identifier, as_text
from app.domain.context.items import SectionBill
from app.domain.context.profile import Budget, Unit
from app.services.context_model import ContextAnswer, ContextRequest

Amount = Annotated[int, Meta(ge=0, le=10_000_000)]


class BudgetIn(Struct, forbid_unknown_fields=True):
    """
    The most that the text may measure: tokens or characters, not both.
    """

    tokens: Amount | None = None
    chars: Amount | None = None


class ContextIn(Struct, forbid_unknown_fields=True):
    """
    One call for a context. A preview changes no access counts.
    """

    query: str
    profile: str | None = None
    budget: BudgetIn | None = None
    model: str | None = None
    session_id: Identifier | None = None
    source: str | None = None
    source_id: Identifier | None = None
    exclude_ids: list[str] | None = None
    sections: list[str] | None = None
    preview: bool = False


class BudgetOut(Struct, frozen=True, omit_defaults=True):
    """
    The budget that held, in the unit it was given in.
    """

    tokens: int | UnsetType = UNSET
    chars: int | UnsetType = UNSET


class PlacedOut(Struct, frozen=True):
    """
    A record in the text, and the tokens of its line; `truncated` says that its text was cut.
    """

    id: str
    tier: str
    tokens: int
    score: float | None
    truncated: bool


class DroppedOut(Struct, frozen=True):
    """
    A record that was read and is not in the text, and why.
    """

    id: str
    reason: str


class SectionOut(Struct, frozen=True):
    """
    One section: what it cost, what stands in it, and what was dropped.
    """

    name: str
    tokens: int
    chars: int
    items: list[PlacedOut]
    dropped: list[DroppedOut]


class ContextOut(Struct, frozen=True):
    """
    A finished context. `counter` names what counted the tokens, `scope` the session scope that held, if any did.
    """

    text: str
    tokens: int
    chars: int
    budget: BudgetOut
    counter: str
    profile: str
    retrieval: str
    degraded: tuple[str, ...]
    prefix_hash: str
    sections: list[SectionOut]
    scope: str | None


def context_request(given: ContextIn) -> ContextRequest:
    """
    The call as the service takes it.
    """
    budget = given.budget or BudgetIn()
    return ContextRequest(
        query=given.query,
        profile=given.profile,
        tokens=budget.tokens,
        chars=budget.chars,
        model=given.model,
        session_id=as_text(given.session_id),
        source=given.source,
        source_id=as_text(given.source_id),
        exclude_ids=tuple(given.exclude_ids or ()),
        sections=None if given.sections is None else tuple(given.sections),
        preview=given.preview,
    )


def context_out(answer: ContextAnswer) -> ContextOut:
    """
    A finished context as it is shown.
    """
    return ContextOut(
        text=answer.text,
        tokens=answer.tokens,
        chars=answer.chars,
        budget=_budget(answer.budget),
        counter=answer.counter,
        profile=answer.profile,
        retrieval=answer.retrieval,
        degraded=answer.degraded,
        prefix_hash=answer.prefix_hash,
        sections=[_section(section) for section in answer.sections],
        scope=answer.scope,
    )


def _budget(budget: Budget) -> BudgetOut:
    return BudgetOut(tokens=budget.limit) if budget.unit is Unit.TOKENS else BudgetOut(chars=budget.limit)


def _section(bill: SectionBill) -> SectionOut:
    return SectionOut(
        name=bill.name,
        tokens=bill.tokens,
        chars=bill.chars,
        items=[PlacedOut(item.id, item.tier, item.tokens, item.score, item.truncated) for item in bill.items],
        dropped=[DroppedOut(item.id, item.reason) for item in bill.dropped],
    )
