"""
What is asked of the prompt assembler and what it answers.
"""

from dataclasses import dataclass

from app.domain.context.items import SectionBill
from app.domain.context.profile import Budget
from app.domain.scopes import EVERYTHING, Scope


@dataclass(frozen=True, slots=True)
class ContextRequest:
    """
    One call for a context.

    `profile` None takes the default one; `tokens` or `chars`, not both, replace its budget. `model` names the model
    whose tokenizer counts. `session_id`, `source` and `source_id` name the conversation; `scope` is what it sees, once
    that is known. `sections` names the profile's sections to keep, None keeps all. A `preview` counts no access.
    """

    query: str
    profile: str | None = None
    tokens: int | None = None
    chars: int | None = None
    model: str | None = None
    session_id: str | None = None
    source: str | None = None
    source_id: str | None = None
    exclude_ids: tuple[str, ...] = ()
    sections: tuple[str, ...] | None = None
    preview: bool = False
    scope: Scope = EVERYTHING


@dataclass(frozen=True, slots=True)
class ContextAnswer:
    """
    A finished context with its bill.

    `counter` names what counted the tokens. `retrieval` is the mode that really ran, `none` where nothing was recalled.
    `degraded` says what had to be done without. `scope` is the id of the session scope that held, None for none.
    """

    text: str
    tokens: int
    chars: int
    budget: Budget
    counter: str
    profile: str
    retrieval: str
    degraded: tuple[str, ...]
    prefix_hash: str
    sections: tuple[SectionBill, ...]
    scope: str | None = None
