"""
Which script a text is written in, as far as a model must know.
"""

import regex

_LATIN = regex.compile(r"\p{Latin}")
_OTHER = regex.compile(r"(?!\p{Latin})\p{L}")


def mostly_latin(text: str) -> bool:
    """
    Whether at least half of a text's letters are Latin; true for a text without letters.
    """
    return len(_LATIN.findall(text)) >= len(_OTHER.findall(text))
