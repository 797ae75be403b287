"""
Puts other people's text into a prompt as data: one JSON value a line, between two lines that it cannot forge.
"""

import hashlib
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from app.domain.context.inert import inert

_HEADING = re.compile(r"(\s*(?:#{1,6}\s+|[-*]\s+))?(.*)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class FencedData:
    """
    The text between its fences, and the token in both of them, which occurs nowhere in what they enclose.
    """

    text: str
    token: str


def fenced(records: Iterable[Mapping[str, Any]]) -> FencedData:
    """
    The records as lines of JSON between `<<<DATA token` and `DATA token>>>`.

    The same records always give the same text, so that a repeated request is the same one to a cache.
    """
    lines = "\n".join(json.dumps(record, ensure_ascii=False, separators=(", ", ": ")) for record in records)
    token = _token_not_in(lines)
    return FencedData(f"<<<DATA {token}\n{lines}\nDATA {token}>>>", token)


def as_data(text: str) -> str:
    """
    The text without hidden characters, and without signs that a tokenizer takes for a turn's end; its lines stay.
    """
    return "\n".join(_line(line) for line in text.splitlines())


def _line(line: str) -> str:
    found = _HEADING.match(line)
    if found is None:
        return inert(line)
    return f"{found[1] or ''}{inert(found[2])}"


def _token_not_in(text: str) -> str:
    # Somebody who wants to forge the token would have to write a text that holds its own digest.
    for attempt in range(len(text) + 1):
        token = hashlib.blake2b(f"{attempt} {text}".encode("utf-8", "surrogatepass"), digest_size=6).hexdigest()
        if token not in text:
            return token
    raise AssertionError("a text of n characters holds fewer than n tokens")
