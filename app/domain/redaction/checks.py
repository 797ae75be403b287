"""
What a pattern cannot tell of a piece of text: checksums, how mixed its characters are, what it decodes to.
"""

import base64
import binascii
import math
import re
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Final

RUN_MIN: Final = 16
"""Letters and digits in a row that no word has."""

_RUN = re.compile(rf"[A-Za-z0-9]{{{RUN_MIN}}}")
_CARD_LENGTHS = range(13, 20)


def luhn(text: str) -> bool:
    """
    Whether the digits of a text, 13 to 19 of them and not all the same, end in their check digit (ISO/IEC 7812-1).
    """
    digits = [int(sign) for sign in text if sign.isdecimal()]
    if len(digits) not in _CARD_LENGTHS or len(set(digits)) == 1:
        return False
    doubled = [2 * digit - 9 * (digit > 4) for digit in digits[-2::-2]]
    return (sum(digits[-1::-2]) + sum(doubled)) % 10 == 0


def mixed(text: str) -> bool:
    """
    Whether a text has both a letter and a digit.
    """
    return any(sign.isalpha() for sign in text) and any(sign.isdecimal() for sign in text)


def opaque(text: str) -> bool:
    """
    Whether a text is no run of words joined by hyphens: it has digits or both cases, or a long unbroken part.
    """
    cases = any(sign.isupper() for sign in text) and any(sign.islower() for sign in text)
    return mixed(text) or cases or _RUN.search(text) is not None


def numbered(text: str) -> bool:
    """
    Whether the part before the first dot is a decimal number in base64, as Discord's tokens begin.
    """
    head = text.partition(".")[0]
    try:
        decoded = base64.b64decode(head + "=" * (-len(head) % 4), altchars=b"-_", validate=True)
    except (binascii.Error, ValueError):
        return False
    return decoded.isdigit()


CHECKS: Final[Mapping[str, Callable[[str], bool]]] = {
    "luhn": luhn,
    "mixed": mixed,
    "opaque": opaque,
    "numbered": numbered,
}
"""The checks that a rule may name."""


def entropy(text: str) -> float:
    """
    Shannon's entropy of a text in bits a character; 0 for an empty one.
    """
    total = len(text)
    return -sum(number / total * math.log2(number / total) for number in Counter(text).values())
