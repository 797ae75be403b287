"""
Takes out of a text what any of a table of rules finds: one pass, each place once, nothing of a secret left over.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from app.domain.redaction.rules import Rule
from app.errors import Unavailable

CONCURRENT_CHARS = 32_768
"""Length from which other threads may run while a text is searched; for a short one, changing over costs more."""


@dataclass(frozen=True, slots=True)
class Span:
    """
    Characters `start` to `stop` of the text that was given, in whose place `marker` stands.
    """

    start: int
    stop: int
    label: str
    marker: str


@dataclass(frozen=True, slots=True)
class Redacted:
    """
    What is left of a text, and what was taken out of it, in its order.
    """

    text: str
    spans: tuple[Span, ...] = ()

    @property
    def labels(self) -> tuple[str, ...]:
        """
        What kinds of things were taken out, each once, in order of appearance.
        """
        return tuple(dict.fromkeys(span.label for span in self.spans))


class Engine:
    """
    Applies rules; where what two of them find overlaps, all of it goes, under the label of the rule that stands first.

    Applied to its own result, it changes nothing. A search that takes longer than `timeout_s` is given up, and the
    text with it.
    """

    def __init__(self, rules: Sequence[Rule], timeout_s: float) -> None:
        self._rules = tuple(rules)
        self._timeout_s = timeout_s

    def redact(self, text: str) -> Redacted:
        """
        The text without what the rules find.

        Raises:
            Unavailable: when a rule does not come to an end.
        """
        spans = self.spans(text)
        if not spans:
            return Redacted(text)
        pieces, done = [], 0
        for span in spans:
            pieces += [text[done : span.start], span.marker]
            done = span.stop
        return Redacted("".join((*pieces, text[done:])), spans)

    def spans(self, text: str) -> tuple[Span, ...]:
        """
        What the rules find, in order, without overlaps.

        Raises:
            Unavailable: when a rule does not come to an end.
        """
        lowered = _lowered(text)
        starts: dict[tuple[str, ...], list[int]] = {}
        found: list[tuple[int, int, int]] = []
        for rank, rule in enumerate(self._rules):
            if rule.keywords and not any(keyword in lowered for keyword in rule.keywords):
                continue
            if rule.starts and rule.starts not in starts:
                starts[rule.starts] = sorted({place for word in rule.starts for place in _places(lowered, word)})
            hits = self._tried(rule, text, starts[rule.starts]) if rule.starts else self._searched(rule, text)
            found += [(start, stop, rank) for start, stop in hits]
        joined = _joined(found)
        return tuple(
            Span(start, stop, self._rules[rank].label, self._rules[rank].marker) for start, stop, rank in joined
        )

    def _tried(self, rule: Rule, text: str, places: Sequence[int]) -> Iterator[tuple[int, int]]:
        done = 0
        for place in places:
            if place < done:
                continue
            match = self._run(rule, rule.pattern.match, text, place)
            span = None if match is None else _accepted(rule, text, match)
            if span is not None:
                yield span
                done = span[1]

    def _searched(self, rule: Rule, text: str) -> Iterator[tuple[int, int]]:
        place = 0
        while (match := self._run(rule, rule.pattern.search, text, place)) is not None:
            span = _accepted(rule, text, match)
            if span is not None:
                yield span
            place = max(match.end() if span is None else span[1], match.start() + 1)

    def _run(self, rule: Rule, method: Callable[..., Any], text: str, place: int) -> Any:
        try:
            return method(text, place, timeout=self._timeout_s, concurrent=len(text) >= CONCURRENT_CHARS)
        except TimeoutError as error:
            raise Unavailable(
                f"redaction rule {rule.name!r} did not come to an end within {self._timeout_s:g} s; nothing is stored"
            ) from error


def _accepted(rule: Rule, text: str, match: Any) -> tuple[int, int] | None:
    """The place of what goes, if the rule means it."""
    start, stop = match.span(rule.group)
    if not rule.accepts(text[start:stop]):
        return None
    rest = None if rule.tail is None else rule.tail.match(text, stop)
    return start, stop if rest is None else rest.end()


def _lowered(text: str) -> str:
    """The text in lower case, character by character, so that places in it are places in the text."""
    lowered = text.lower()
    if len(lowered) == len(text):
        return lowered
    return "".join(sign if len(small := sign.lower()) > 1 else small for sign in text)


def _places(text: str, word: str) -> Iterator[int]:
    place = text.find(word)
    while place >= 0:
        yield place
        place = text.find(word, place + 1)


def _joined(found: list[tuple[int, int, int]]) -> list[tuple[int, int, int]]:
    """The places in order, those that overlap made one."""
    joined: list[tuple[int, int, int]] = []
    for start, stop, rank in sorted(found):
        if joined and start < joined[-1][1]:
            before = joined[-1]
            joined[-1] = (before[0], max(before[1], stop), min(before[2], rank))
        else:
            joined.append((start, stop, rank))
    return joined
