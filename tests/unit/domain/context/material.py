"""
Profiles, counters and items that the assembler's tests are made of.
"""

import re
from datetime import datetime, timedelta, timezone

from app.domain.context.items import ContextItem
from app.domain.context.profile import Budget, Profile, SectionOrder, SectionSource, SectionSpec, Unit
from app.domain.records import Category, Tier

LIMA = timezone(timedelta(hours=-5))
SAID_AT = datetime(2026, 6, 1, 19, 0, tzinfo=LIMA)
RECALLED_AT = datetime(2026, 11, 30, 10, 0, tzinfo=LIMA)

_WORD_OR_SIGN = re.compile(r"\w+|[^\w\s]|\n")


class WordCounter:
    """
    Counts words, signs and line breaks; the sum over lines is the count of the whole.
    """

    name = "words"

    def count(self, text: str) -> int:
        return len(_WORD_OR_SIGN.findall(text))


class QuarterCounter:
    """
    A token for every four bytes begun: lines by themselves count more than together.
    """

    name = "quarter"

    def count(self, text: str) -> int:
        return -(-len(text.encode()) // 4)


class CrowdCounter:
    """
    Lines cost more the more of them there are, so that single lines promise too much room.
    """

    name = "crowd"

    def count(self, text: str) -> int:
        return len(_WORD_OR_SIGN.findall(text)) + text.count("\n") ** 2 // 3


CHAT = Profile(
    name="chat",
    layout="plain",
    sections=(
        SectionSpec("core", SectionSource.CORE, "Always true", floor=0.15, ceiling=0.4, limit=20, drop=4, stable=True),
        SectionSpec("memories", SectionSource.MEMORIES, "Relevant", floor=0.3, limit=12, drop=3, min_score=0.1),
        SectionSpec("episodes", SectionSource.EPISODES, "Earlier", ceiling=0.3, limit=5, drop=1),
        SectionSpec(
            "recent",
            SectionSource.RECENT,
            "Recent",
            floor=0.1,
            ceiling=0.5,
            limit=20,
            drop=2,
            order=SectionOrder.CHRONOLOGICAL,
        ),
    ),
    budget=Budget(1500, Unit.TOKENS),
)

ORCA = Profile(
    name="orca",
    layout="orca",
    sections=(
        SectionSpec("core", SectionSource.CORE, "Core knowledge (always apply):", limit=50, drop=2, stable=True),
        SectionSpec("memories", SectionSource.MEMORIES, "Relevant to this task:", limit=8, min_score=0.05, drop=1),
    ),
    budget=Budget(2000, Unit.CHARS),
)


def single(section: SectionSpec, layout: str = "plain") -> Profile:
    """
    A profile of one section.
    """
    return Profile("single", layout, (section,), Budget(1500, Unit.TOKENS))


def memory(
    record_id: str, text: str, category: Category = Category.FACT, score: float | None = None, *, pinned: bool = False
) -> ContextItem:
    """
    A memory of SAID_AT.
    """
    return ContextItem(record_id, Tier.MEMORY, text, SAID_AT, category, score=score, pinned=pinned)


def entry(
    record_id: str, text: str, minutes: int = 0, speaker: str | None = "Ana", score: float | None = None
) -> ContextItem:
    """
    An entry said `minutes` after SAID_AT.
    """
    moment = SAID_AT + timedelta(minutes=minutes)
    return ContextItem(record_id, Tier.ENTRY, text, moment, speaker=speaker, score=score)
