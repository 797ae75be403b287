"""
Shares a budget out among the sections: floors before ceilings, what is left by priority, a misfit passed over.

Everything is reckoned by the measure of single lines; whoever calls this verifies the whole text.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from app.domain.context.candidates import Candidate, Reading
from app.domain.context.items import Reason


@dataclass(slots=True)
class Bin:
    """
    One section as it fills. `floor`, `ceiling`, `heading` and `used` are in the budget's unit; `used` is 0 for an empty
    section and else includes the heading.
    """

    reading: Reading
    heading: int
    floor: int
    ceiling: int
    used: int = 0
    chosen: list[Candidate] = field(default_factory=list)

    @property
    def drop(self) -> int:
        """
        Its trim order: 1 is trimmed first.
        """
        return self.reading.section.drop

    def price(self, candidate: Candidate) -> int:
        """
        What it takes to show the candidate, with the heading if it is the first.
        """
        return candidate.cost if self.chosen else candidate.cost + self.heading

    def demand(self) -> int:
        """
        What it would take to show all that the section wants to show.
        """
        wanted = [candidate.cost for candidate in self.reading.open if not candidate.contested]
        wanted = wanted[: self.reading.section.limit]
        return self.heading + sum(wanted) if wanted else 0

    def choose(self, candidate: Candidate) -> int:
        """
        Show the candidate; returns its price.
        """
        price = self.price(candidate)
        candidate.chosen = True
        self.used += price
        self.chosen.append(candidate)
        return price

    def last(self) -> Candidate:
        """
        The shown record that comes last in the source.
        """
        return max(self.chosen, key=lambda chosen: chosen.place)

    def give_up(self, candidate: Candidate) -> int:
        """
        Show the candidate no longer; returns what that frees.
        """
        self.chosen.remove(candidate)
        candidate.chosen = False
        candidate.reason = Reason.BUDGET
        freed = self.price(candidate)
        self.used -= freed
        return freed


def by_priority(bins: Sequence[Bin]) -> list[Bin]:
    """
    The sections from the one trimmed last to the one trimmed first.
    """
    return sorted(bins, key=lambda bin_: -bin_.drop)


def share_out(bins: Sequence[Bin], room: int) -> None:
    """
    Choose what is shown within `room`.

    Where the copy with the best claim found no room, a second round gives the next copy its turn from the start.
    """
    _round(bins, room)
    beaten = [
        candidate
        for bin_ in bins
        for candidate in bin_.reading.open
        if candidate.rivals and not candidate.chosen and not candidate.taken and not candidate.contested
    ]
    if beaten:
        for bin_ in bins:
            for candidate in list(bin_.chosen):
                bin_.give_up(candidate)
        for candidate in beaten:
            candidate.yield_claim()
        _round(bins, room)


def use_remainder(bins: Sequence[Bin], room: int) -> list[tuple[Bin, Candidate]]:
    """
    Give what is left to records that were passed over, by priority, copies last; returns those that are shown now.

    Stable sections take no part, since what is left depends on the other sections.
    """
    added: list[tuple[Bin, Candidate]] = []
    changing = [bin_ for bin_ in by_priority(bins) if not bin_.reading.section.stable]
    for contested_too in (False, True):
        for bin_ in changing:
            before = len(bin_.chosen)
            room -= _fill(bin_, room, contested_too=contested_too)
            added += [(bin_, candidate) for candidate in bin_.chosen[before:]]
    return added


def trim(bins: Sequence[Bin], excess: int) -> None:
    """
    Take out records worth at least `excess`, and at least one, in trim order; floors are spared while they can be.
    """
    freed = 0
    for spare_floors in (True, False):
        for bin_ in reversed(by_priority(bins)):
            while bin_.chosen and freed < excess:
                last = bin_.last()
                if spare_floors and bin_.used - last.cost < bin_.floor:
                    break
                freed += max(bin_.give_up(last), 1)


def _round(bins: Sequence[Bin], room: int) -> None:
    waiting = by_priority(bins)
    while waiting:
        bin_ = waiting.pop(0)
        # A stable section reckons with whole floors, so that its share does not hang on what others hold at the moment.
        kept = sum(
            other.floor if bin_.reading.section.stable else min(other.floor, other.demand()) for other in waiting
        )
        room -= _fill(bin_, max(room - kept, min(room, bin_.floor)), contested_too=False)
    use_remainder(bins, room)


def _fill(bin_: Bin, room: int, *, contested_too: bool) -> int:
    spent = 0
    for candidate in bin_.reading.open:
        if candidate.chosen:
            continue
        if candidate.taken or (candidate.contested and not contested_too):
            continue
        price = bin_.price(candidate)
        if len(bin_.chosen) >= bin_.reading.section.limit:
            candidate.reason = Reason.LIMIT
        elif spent + price > room:
            candidate.reason = Reason.BUDGET
        elif bin_.used + price > bin_.ceiling:
            candidate.reason = Reason.CEILING
        else:
            spent += bin_.choose(candidate)
    return spent
