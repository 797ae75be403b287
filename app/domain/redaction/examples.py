"""
Examples of redaction rules: what each must take out, and what it must leave.

In a positive, `⟦` and `⟧` stand around what goes. `{b62:36}` stands for 36 random-looking characters, the same every
time, so that no file holds what looks like a real key; the kinds are those of `ALPHABETS`.
"""

import hashlib
import re
import string
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from app.domain.redaction.engine import Engine
from app.domain.redaction.rules import Rule
from app.errors import ConfigError

ALPHABETS: Final = {
    "b62": string.digits + string.ascii_letters,
    "url": string.digits + string.ascii_letters + "-_",
    "b64": string.digits + string.ascii_letters + "+/",
    "up": string.digits + string.ascii_uppercase,
    "hex": string.digits + "abcdef",
    "num": string.digits,
}

_FILL = re.compile(r"\{(b62|url|b64|up|hex|num):(\d{1,5})\}")
_MARKED = re.compile(r"⟦([^⟧]*)⟧")


@dataclass(frozen=True, slots=True)
class Example:
    """
    A text, what is to become of it, and what of it must be gone.
    """

    text: str
    expected: str
    secrets: tuple[str, ...]


def positive(template: str, marker: str) -> Example:
    """
    The example of a template, in which all that is marked becomes `marker`.
    """
    filled = _filled(template)
    secrets = tuple(_MARKED.findall(filled))
    return Example(_MARKED.sub(r"\1", filled), _MARKED.sub(lambda _: marker, filled), secrets)


def negative(template: str) -> Example:
    """
    The example of a template of which nothing goes.
    """
    filled = _filled(template)
    return Example(filled, filled, ())


def prove(rules: Sequence[Rule], origin: str, timeout_s: float) -> None:
    """
    Run each rule over its own examples.

    Raises:
        ConfigError: naming the rule and the example, when one does not hold.
    """
    for rule in rules:
        engine = Engine([rule], timeout_s)
        examples = [(item, positive(item, rule.marker)) for item in rule.positives]
        examples += [(item, negative(item)) for item in rule.negatives]
        for template, example in examples:
            if engine.redact(example.text).text != example.expected:
                raise ConfigError(f"{origin}: rule {rule.name!r}: its example {template!r} does not hold")


def _filled(template: str) -> str:
    return _FILL.sub(lambda found: _drawn(found[1], int(found[2])), template)


def _drawn(kind: str, length: int) -> str:
    """Random-looking characters that begin with a letter, where there are letters, and hold a digit."""
    signs = ALPHABETS[kind]
    seed = hashlib.shake_256(f"{kind} {length}".encode()).digest(length)
    drawn = "".join(signs[byte % len(signs)] for byte in seed)
    letter = signs[10 + seed[0] % (len(signs) - 12)] if len(signs) > 16 else signs[1 + seed[0] % 9]
    return (letter + "7" + drawn)[:length]
