"""
Making any text storable without changing what it says.
"""

import re

_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")


def legal_text(text: str) -> str:
    """
    The text with NUL and lone surrogates, which no UTF-8 store can hold, replaced by U+FFFD.
    """
    return _UNSTORABLE.sub("\ufffd", text)
