"""
Rules that are learned from what people say: whose word counts, and how the document of learned rules grows.
"""

import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Final

from app.domain.consolidation.sameness import statement_fingerprint
from app.domain.documents.paths import RULES, SUFFIX

LEARNED: Final = f"{RULES}learned{SUFFIX}"
HEADER: Final = "# Learned\n"

_LINE = re.compile(r"\s*(?:[-*+•]|\d{1,3}[.)])\s+(?P<text>\S.*)")
_MARKS = re.compile(r"^(?:[-*+•#>]+|\d{1,3}[.)])\s+")


@dataclass(frozen=True, slots=True)
class Speaker:
    """
    Who said something: role, name, the channel it came by, and that channel's id of the person or the chat.
    """

    role: str
    name: str | None = None
    source: str | None = None
    contact: str | None = None

    @property
    def address(self) -> str | None:
        """
        The contact as `platform:id`; None where the channel names none.
        """
        return None if self.source is None or self.contact is None else f"{self.source}:{self.contact}"


@dataclass(frozen=True, slots=True)
class Trust:
    """
    Whose instructions become rules at once. `roles` must hold the speaker's role; where `contacts` or `sources` are
    given, one of them must hold the speaker's address or channel. Without either, everybody in those roles is trusted
    as long as they are the only person in the conversation.
    """

    roles: frozenset[str] = frozenset({"user"})
    sources: frozenset[str] = frozenset()
    contacts: frozenset[str] = frozenset()

    def covers(self, speaker: Speaker, *, alone: bool) -> bool:
        """
        Whether the speaker may teach; `alone` says that nobody else speaks in the conversation but the bot.
        """
        if speaker.role.casefold() not in self.roles:
            return False
        if self.contacts or self.sources:
            return speaker.address in self.contacts or speaker.source in self.sources
        return alone


def rule_text(text: str) -> str:
    """
    A rule as one line that cannot pass for a heading, a list mark or a second rule.
    """
    line = " ".join(text.split())
    while (bare := _MARKS.sub("", line)) != line:
        line = bare
    return line


def rules_in(content: str) -> list[str]:
    """
    The rules that a document lists, one a line.
    """
    return [rule_text(match["text"]) for line in content.splitlines() if (match := _LINE.fullmatch(line))]


def fingerprints(rules: Iterable[str]) -> frozenset[str]:
    """
    The fingerprints by which rules count as known.
    """
    return frozenset(statement_fingerprint(rule) for rule in rules)


def grown(content: str, rules: Collection[str], limit: int | None) -> tuple[str, tuple[str, ...]]:
    """
    The document with as many of the rules at its end as fit into `limit` characters of text (all, without a limit), and
    those that fitted. What it holds already, in whatever form, stays.
    """
    text = content if content.strip() else HEADER
    if not text.endswith("\n"):
        text += "\n"
    if not rules_in(text):
        text += "\n"
    taken = []
    for rule in rules:
        line = f"- {rule}\n"
        if limit is None or len(text) + len(line) <= limit:
            text += line
            taken.append(rule)
    return (text, tuple(taken)) if taken else (content, ())
