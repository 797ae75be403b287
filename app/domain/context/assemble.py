"""
Builds a context: chooses what fits a budget, writes it out, verifies the whole, and says what became of each record.
"""

import hashlib
import math
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime

from app.domain.context.candidates import Candidate, prepare
from app.domain.context.items import Assembled, ContextItem, Dropped, Placed, Reason, SectionBill
from app.domain.context.layout import Block, Layout, lead, render
from app.domain.context.orca_layout import OrcaLayout
from app.domain.context.plain_layout import PlainLayout
from app.domain.context.profile import Budget, Profile, SectionOrder, SectionSpec, TokenCounter, Unit
from app.domain.context.selection import Bin, share_out, trim, use_remainder

LAYOUTS: Mapping[str, Layout] = {"plain": PlainLayout(), "orca": OrcaLayout()}

PREFIX_HASH_DIGITS = 16
"""Hex digits of a prefix hash: 64 bits tell apart the versions that one prefix goes through."""


def assemble(
    profile: Profile,
    sources: Mapping[str, Sequence[ContextItem]],
    budget: Budget,
    counter: TokenCounter,
    *,
    recalled_at: datetime,
    withheld: Mapping[str, Reason] | None = None,
) -> Assembled:
    """
    Write the records of `sources` (by section name, each section's best first) out within the budget.

    The text never measures more than the budget, as `counter` (or the length in characters) measures the whole of it.
    Equal arguments give equal answers. `recalled_at` gives the day that the text names; `withheld` names ids that stay
    out, and why. Each record of each section is in its bill once: in the text, or dropped with a reason.
    """
    layout = LAYOUTS[profile.layout]
    measure: Callable[[str], int] = len if budget.unit is Unit.CHARS else counter.count
    readings = prepare(profile.sections, sources, layout, measure, withheld or {})
    bins = [
        Bin(
            reading=reading,
            heading=measure(lead(layout, reading.section, first=False)),
            floor=_share(reading.section.floor, budget),
            ceiling=_share(reading.section.ceiling, budget),
        )
        for reading in readings
    ]
    share_out(bins, budget.limit - measure(f"{layout.opening()}\n") - measure(layout.closing(recalled_at)))
    text, prefix = _verified(bins, budget.limit, measure, lambda: render(layout, _blocks(bins), recalled_at))
    tokens = counter.count(text)
    return Assembled(
        text=text,
        prefix=prefix,
        prefix_hash=hashlib.sha256(prefix.encode()).hexdigest()[:PREFIX_HASH_DIGITS],
        budget=budget,
        used=len(text) if budget.unit is Unit.CHARS else tokens,
        tokens=tokens,
        chars=len(text),
        sections=tuple(_bill(bin_, layout, budget, counter) for bin_ in bins),
    )


def _share(share: float, budget: Budget) -> int:
    # The small addend keeps a product such as 0.29 * 100 from falling short of its whole number.
    return math.floor(share * budget.limit + 1e-9)


def _verified(
    bins: Sequence[Bin], limit: int, measure: Callable[[str], int], write: Callable[[], tuple[str, str]]
) -> tuple[str, str]:
    """
    The text and its prefix, trimmed until the whole fits; what the lines' measures overstated is used once more.
    """
    text, prefix = write()
    while (used := measure(text)) > limit and text:
        trim(bins, used - limit)
        text, prefix = write()
    if used < limit and text and (added := use_remainder(bins, limit - used)):
        fuller = write()
        if measure(fuller[0]) <= limit:
            return fuller
        for bin_, candidate in added:
            bin_.give_up(candidate)
    return text, prefix


def _blocks(bins: Sequence[Bin]) -> list[Block]:
    return [
        Block(bin_.reading.section, [candidate.line for candidate in _written(bin_.reading.section, bin_.chosen)])
        for bin_ in bins
    ]


def _written(section: SectionSpec, chosen: Sequence[Candidate]) -> list[Candidate]:
    if section.order is SectionOrder.CHRONOLOGICAL:
        # Of one moment, the source names the later one first.
        return sorted(chosen, key=lambda candidate: (candidate.item.created_at, -candidate.place))
    return sorted(chosen, key=lambda candidate: candidate.place)


def _bill(bin_: Bin, layout: Layout, budget: Budget, counter: TokenCounter) -> SectionBill:
    section = bin_.reading.section
    written = _written(section, bin_.chosen)
    counted = budget.unit is Unit.TOKENS
    items = tuple(
        Placed(
            id=candidate.item.id,
            tier=candidate.item.tier,
            tokens=candidate.cost if counted else counter.count(f"{candidate.line}\n"),
            score=candidate.item.score,
            truncated=candidate.truncated,
        )
        for candidate in written
    )
    refused = dict(bin_.reading.refused)
    for candidate in bin_.reading.open:
        if not candidate.chosen:
            refused[candidate.place] = Reason.DUPLICATE if candidate.taken else candidate.reason
    heading = layout.heading(section)
    lines = [candidate.line for candidate in written]
    return SectionBill(
        name=section.name,
        tokens=sum(item.tokens for item in items) + (counter.count(f"{heading}\n") if heading and items else 0),
        chars=len("\n".join([heading, *lines] if heading else lines)) if items else 0,
        items=items,
        dropped=tuple(Dropped(bin_.reading.items[place].id, refused[place]) for place in sorted(refused)),
    )
