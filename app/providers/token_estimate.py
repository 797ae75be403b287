"""
An upper bound on the tokens of a text, for when there is no vocabulary to count with.

Holds for byte-level BPE, where a token is at least one byte of UTF-8. Byte pairs that are a token never end up as two
tokens of one byte each. In both of OpenAI's vocabularies every pair of the common letters below is a token, and so is
a space with any letter; no two neighbouring tokens inside a run of them have one letter each, and a run of n costs at
most ceil(2n / 3). Whatever else there is costs its bytes.
"""

import re

_COMMON_RUN = re.compile(r" ?[abcdefghilmnoprstuw]+")


def estimate_tokens(text: str) -> int:
    """
    At least as many tokens as any text has (some three times as many for plain English), 0 for the empty text.
    """
    total = len(text.encode("utf-8", "surrogatepass"))
    for run in _COMMON_RUN.finditer(text):
        total -= (run.end() - run.start()) // 3
    return total
