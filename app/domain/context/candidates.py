"""
The records that compete for room, each with its line, its price, and the copies of it in other sections.
"""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from app.domain.context.inert import inert_within
from app.domain.context.items import ContextItem, Reason
from app.domain.context.layout import Layout
from app.domain.context.profile import SectionSpec


@dataclass(slots=True, eq=False)
class Candidate:
    """
    One record of one section.

    `place` is its rank in its source, `cost` the measure of its line with the line break. `rivals` are its copies: the
    same id or the same words, in any section. Of rivals one at most is chosen, the one with the smallest `claim` first.
    `reason` tells why it is not chosen, and means nothing while it is.
    """

    item: ContextItem
    place: int
    line: str
    words: str
    truncated: bool
    cost: int
    claim: tuple[bool, bool, int, int, int]
    chosen: bool = False
    reason: Reason = Reason.BUDGET
    rivals: list["Candidate"] = field(default_factory=list)

    def yield_claim(self) -> None:
        """
        Let every copy go before this one.
        """
        self.claim = (True, *self.claim[1:])

    @property
    def taken(self) -> bool:
        """
        Whether a copy is chosen already.
        """
        return any(rival.chosen for rival in self.rivals)

    @property
    def contested(self) -> bool:
        """
        Whether a copy has the better claim.
        """
        return any(rival.claim < self.claim for rival in self.rivals)


@dataclass(slots=True)
class Reading:
    """
    All that one section read, in the order of its source: those that compete, and the others with their reason.
    """

    section: SectionSpec
    items: Sequence[ContextItem]
    open: list[Candidate]
    refused: dict[int, Reason]


def prepare(
    sections: Sequence[SectionSpec],
    sources: Mapping[str, Sequence[ContextItem]],
    layout: Layout,
    measure: Callable[[str], int],
    withheld: Mapping[str, Reason],
) -> list[Reading]:
    """
    Sort out what can be shown and write its line. `withheld` names ids that stay out, and why.
    """
    readings = [
        _read(number, section, sources.get(section.name, ()), layout, measure, withheld)
        for number, section in enumerate(sections)
    ]
    _find_rivals([candidate for reading in readings for candidate in reading.open])
    return readings


def _read(
    number: int,
    section: SectionSpec,
    items: Sequence[ContextItem],
    layout: Layout,
    measure: Callable[[str], int],
    withheld: Mapping[str, Reason],
) -> Reading:
    reading = Reading(section, items, [], {})
    for place, item in enumerate(items):
        reason = withheld.get(item.id)
        if reason is None and item.score is not None and item.score < section.min_score:
            reason = Reason.BELOW_MIN_SCORE
        if reason is None:
            text, cut = inert_within(item.text, section.item_max)
            if text:
                line = layout.line(item, text)
                # What is there whatever the query is keeps its place; a recalled copy of it gives way.
                claim = (False, item.score is not None, -section.drop, number, place)
                reading.open.append(
                    Candidate(item, place, line, text.casefold(), cut or item.truncated, measure(f"{line}\n"), claim)
                )
                continue
            reason = Reason.EMPTY
        reading.refused[place] = reason
    return reading


def _find_rivals(candidates: Sequence[Candidate]) -> None:
    by_id: defaultdict[str, list[Candidate]] = defaultdict(list)
    by_words: defaultdict[str, list[Candidate]] = defaultdict(list)
    for candidate in candidates:
        by_id[candidate.item.id].append(candidate)
        by_words[candidate.words].append(candidate)
    for group in (*by_id.values(), *by_words.values()):
        if len(group) > 1:
            for candidate in group:
                candidate.rivals += [
                    other for other in group if other is not candidate and other not in candidate.rivals
                ]
